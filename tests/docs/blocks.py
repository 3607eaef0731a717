# SPDX-License-Identifier: MIT
"""Compiles and runs the code blocks of Markdown pages.

A ```cpp block with a main() is a program: it must compile and exit with 0. Any other one says in a comment on the line
before it what it is:

  <!-- compiled -->                statements; they get a `Pool& pool` of 65,536 bytes, `memory` behind it, and run
  <!-- declarations -->            for the blocks after it, at namespace scope
  <!-- throws: TYPE -->            statements that must end by throwing scratchpad::TYPE
  <!-- does not compile: TEXT -->  statements that must be refused, with TEXT in the compiler's message
  <!-- also: A => B ;; C => D -->  for a program: with A replaced by B, and C by D, it must compile and exit with 0 too

and a ```text block may be

  <!-- its message -->             what the `throws` block before it throws
  <!-- said by: A => B -->         what the page's first program says when it fails with A replaced by B

A ```cuda block is a file that nvcc must compile; these are looked at only with --cuda.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

PRELUDE = """#include <scratchpad/scratchpad.hpp>
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
namespace sp = scratchpad;
struct Tcm : sp::HostSpace { static constexpr std::string_view name = "tcm"; };
using Pool = sp::BumpAllocator<Tcm>;
"""
# Fragments show one thing each and leave the rest unused.
FLAGS = ["-std=c++20", "-UNDEBUG", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-Wno-unused-parameter"]


class Block:
    def __init__(self, page, line, language, marker, wrong, text):
        self.page, self.line, self.language = page, line, language
        self.marker, self.wrong, self.text = marker, wrong, text

    def where(self):
        return f"{self.page}:{self.line}"

    def argument(self, name):
        """What follows `name:` in the marker, or None."""
        found = re.fullmatch(name + r":\s*(.*)", self.marker, re.S)
        return found.group(1) if found else None


def blocks_of(page, text):
    blocks, marker, wrong, opened = [], "", False, None
    for number, line in enumerate(text.splitlines(), 1):
        if opened:
            if line.strip() == "```":
                blocks.append(Block(page, opened[0], opened[1], marker, wrong, "".join(opened[2])))
                marker, wrong, opened = "", False, None
            else:
                opened[2].append(line + "\n")
        elif line.lstrip().startswith("```"):
            opened = (number + 1, line.strip()[3:].strip(), [])
        else:
            comment = re.fullmatch(r"<!--\s*(.*?)\s*-->", line.strip())
            marker = comment.group(1) if comment else ""
            wrong = wrong or marker == "wrong"
    return blocks


def replaced(block, rules):
    text = block.text
    for rule in rules.split(" ;; "):
        before, after = (side.strip() for side in (rule + " ").split(" => "))
        if before not in text:
            raise ValueError(f"'{before}' is not in the program")
        text = text.replace(before, after)
    return text


def words(text):
    return " ".join(text.split())


class Checker:
    def __init__(self, include, compiler, folder):
        self.include, self.compiler, self.folder = include, compiler, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def compile(self, name, text, program=False):
        """(messages, executable); executable is None where it does not compile."""
        source = self.folder / f"{name}.cpp"
        source.write_text(text if program else PRELUDE + text)
        command = [self.compiler, *FLAGS, "-I", self.include, str(source), "-o", str(self.folder / name)]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stderr, None if done.returncode else self.folder / name

    def run(self, block, executable, *arguments):
        """(exit status, output)"""
        done = subprocess.run([str(executable), *arguments], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def build_and_run(self, block, name, text, program=False):
        """(exit status, output); the status is None where it does not compile."""
        messages, executable = self.compile(name, f'#line {block.line} "{block.page}"\n' + text, program)
        return (None, f"does not compile\n{messages}") if executable is None else self.run(block, executable)

    def program(self, block, name, text):
        status, output = self.build_and_run(block, name, text, True)
        return [] if status == 0 else [f"{block.where()}: exits with {status}\n{output}"]

    def page(self, page, text):
        """What is wrong with a page: a list of complaints."""
        complaints, declarations, together, fragments, program = [], "", "", [], None
        stem = re.sub(r"\W", "_", str(page))
        blocks = blocks_of(page, text)
        for block in blocks:
            name = f"{stem}_{block.line}"
            body = (f"void block_{block.line}() {{\nalignas(64) static std::byte memory[65'536];\nPool pool(memory);\n{{\n"
                    f'#line {block.line} "{block.page}"\n{block.text}}}\n}}\n')
            if block.language != "cpp":
                continue
            if "int main(" in block.text:
                program = program or block
                complaints += self.program(block, name, block.text)
                if block.argument("also"):
                    try:
                        complaints += self.program(block, name + "_also", replaced(block, block.argument("also")))
                    except ValueError as error:
                        complaints.append(f"{block.where()}: {error}")
            elif block.marker == "declarations":
                declaration = f'#line {block.line} "{block.page}"\n{block.text}'
                declarations += declaration
                together += declaration
                fragments.append((block, "", declarations))
            elif block.marker == "compiled" or block.argument("throws"):
                call = f"block_{block.line}();"
                if block.argument("throws"):
                    call = (f"try {{ {call} }} catch (const sp::{block.argument('throws')}& e) {{ "
                            "std::puts(e.what()); return 0; } return 1;")
                together += body
                fragments.append((block, call, declarations + body))
            elif block.argument("does not compile"):
                messages, executable = self.compile(name, declarations + body + "int main() {}\n")
                if executable is not None:
                    complaints.append(f"{block.where()}: compiles, but must not")
                elif block.argument("does not compile") not in messages:
                    complaints.append(f"{block.where()}: refused for another reason\n{messages}")
            else:
                complaints.append(f"{block.where()}: a ```cpp block that is neither a program nor marked")

        # All fragments of a page are one program that runs the one it is told to; where that does not compile, each is a
        # program of its own, so that the right one is blamed.
        calls = "".join(f"if (block == {block.line}) {{ {call} }}\n" for block, call, _ in fragments)
        main = "int main(int, char** arguments) { const int block = std::atoi(arguments[1]);\n%s}\n"
        executable = self.compile(stem, together + main % calls)[1] if fragments else None
        said = {}
        for block, call, alone in fragments:
            if executable is not None:
                status, output = self.run(block, executable, str(block.line))
            else:
                status, output = self.build_and_run(block, f"{stem}_{block.line}", alone + f"int main() {{ {call} }}\n")
            said[block] = output
            if status != 0:
                complaints.append(f"{block.where()}: {block.marker}? exits with {status}\n{output}")
        for i, block in enumerate(blocks):
            if block.language == "text":
                try:
                    complaints += self.message(block, f"{stem}_{block.line}", program, said.get(blocks[i - 1], ""))
                except ValueError as error:
                    complaints.append(f"{block.where()}: {error}")
        return complaints

    def message(self, block, name, program, before):
        rules = block.argument("said by")
        if rules:
            status, output = self.build_and_run(program, name, replaced(program, rules), True)
            if status in (None, 0):
                return [f"{block.where()}: the program was to fail\n{output}"]
        elif block.marker == "its message":
            output = before
        else:
            return []
        if words(block.text) in words(output):
            return []
        return [f"{block.where()}: this is not what it says:\n{output}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--must-fail", action="store_true", help="complain of the blocks after <!-- wrong --> and no other")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()

    texts = {page: page.read_text() for page in arguments.pages}
    if arguments.cuda:
        pathlib.Path(arguments.folder).mkdir(parents=True, exist_ok=True)
        found = [block for page, text in texts.items() for block in blocks_of(page, text) if block.language == "cuda"]
        complaints = []
        for block in found:
            source = pathlib.Path(arguments.folder) / f"block_{block.line}.cu"
            source.write_text(f'#line {block.line} "{block.page}"\n{block.text}')
            command = [arguments.compiler, "-std=c++20", "--expt-relaxed-constexpr", "-ptx", "-I", arguments.include,
                       str(source), "-o", str(source.with_suffix(".ptx"))]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode or done.stderr:
                complaints.append(f"{block.where()}: nvcc complains\n{done.stderr}")
    else:
        found = [block for page, text in texts.items() for block in blocks_of(page, text) if block.language == "cpp"]
        checker = Checker(arguments.include, arguments.compiler, arguments.folder)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            complaints = [line for lines in pool.map(lambda item: checker.page(*item), texts.items()) for line in lines]

    if not found:
        sys.exit("no code block was found")
    if arguments.must_fail:
        wrong = {block.where() for page, text in texts.items() for block in blocks_of(page, text) if block.wrong}
        blamed = {":".join(complaint.split(":")[:2]) for complaint in complaints}
        if blamed != wrong:
            print("\n".join(complaints))
            sys.exit(f"to be blamed: {sorted(wrong)}\nblamed: {sorted(blamed)}")
        print(f"{len(wrong)} wrong blocks, all of them found")
        return
    print(f"{len(found)} blocks, {len(complaints)} complaints")
    if complaints:
        sys.exit("\n".join(complaints))


main()
