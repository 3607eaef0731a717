# SPDX-License-Identifier: MIT
"""What Markdown pages point to is there: links inside the project with their headings, and every path in backticks."""
import argparse
import pathlib
import re
import sys

FOLDERS = ("bench", "cmake", "docs", "examples", "include", "tests")


def without_code(text):
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)


def anchors(page):
    """The names that headings get on common hosts: lower case, punctuation dropped, a hyphen for each space."""
    headings = re.findall(r"^#+ +(.*)$", without_code(page.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def complaints(root, page):
    text = without_code(page.read_text())
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"{page}: links to {path}, which is not there"
        elif anchor and anchor not in anchors(file):
            yield f"{page}: links to {target}, which has no such heading"
    for path in re.findall(r"`((?:%s)/[\w./-]+)[^`]*`" % "|".join(FOLDERS), text):
        if not (root / path).exists():
            yield f"{page}: names `{path}`, which is not there"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--must-fail", type=int, metavar="N", help="there must be exactly N complaints")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    found = [line for page in arguments.pages for line in complaints(arguments.root, page)]
    if arguments.must_fail is not None:
        if len(found) != arguments.must_fail:
            sys.exit("\n".join([f"{arguments.must_fail} complaints were wanted:", *found]))
    elif found:
        sys.exit("\n".join(found))


main()
