# SPDX-License-Identifier: MIT
"""Prints a file as doxygen 1.9 should see it, line by line.

Markdown: headings get the names that links use (doxygen gives them others). Headers: macros go, because those that are
for users stand in the table at the top of config.hpp.
"""
import pathlib
import re
import sys


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def name(page, heading):
    return f"{pathlib.Path(page).stem.lower()}-{heading}"


def markdown(path, lines):
    in_code = False
    for line in lines:
        if line.lstrip().startswith("```"):
            in_code = not in_code
            line = line.replace("```cuda", "```cpp")
        elif not in_code:
            heading = re.fullmatch(r"##+ +(.*)", line)
            if heading:
                line += " {#%s}" % name(path, slug(heading.group(1)))
            line = re.sub(r"\]\(([\w./-]*)#([\w-]+)\)", lambda m: f"](#{name(m.group(1) or path, m.group(2))})", line)
        yield line


def header(lines):
    continued = False
    for line in lines:
        is_macro = continued or line.startswith("#define SCRATCHPAD_")
        continued = is_macro and line.endswith("\\")
        yield "" if is_macro else line


def main():
    path = sys.argv[1]
    lines = pathlib.Path(path).read_text().splitlines()
    print("\n".join(markdown(path, lines) if path.endswith(".md") else header(lines)))


main()
