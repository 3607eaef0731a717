#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts instructions and conditional branches on the hit path of the functions in host.cpp. See ../README.md.

  contract.py                    count with every compiler that is known here
  contract.py --compiler g++-12  count with one
  contract.py --executed         also run each function and compare: the path that was read is the path that runs
  contract.py --update           rewrite counts.txt for the compilers that ran

Exit status: 0 kept, 1 broken, 77 nothing could be run.
"""

import argparse
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left in the source tree
from counts import CountsFile  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77

# The build's own flags take no part. What distributions switch on by default (position independence, stack protection,
# landing-pad markers, fortification) is switched off, so that the same compiler gives the same counts everywhere.
FLAGS = """-std=c++20 -O2 -DNDEBUG -march=x86-64 -mtune=generic -fno-pie -fcf-protection=none
  -fno-stack-protector -U_FORTIFY_SOURCE""".split()
FLAGS_OF = {"g++": ["-fno-stack-clash-protection"], "clang++": ["-fno-stack-clash-protection"]}

COMPILERS = ["g++-12", "clang++-19", "clang++-14"]

# The contract: (instructions up to and with `ret`, conditional branches) at most, by compiler and major version.
# Other versions are counted and reported, and held to nothing.
LIMITS = {
    "allocate_constant": {("g++", 12): (9, 1), ("clang++", 19): (9, 1), ("clang++", 14): (12, 1)},
    "allocate_n": {("g++", 12): (12, 1), ("clang++", 19): (12, 1), ("clang++", 14): (15, 1)},
    "scope": {("g++", 12): (40, None)},
}
# An unwatched pool calls nobody: the only calls on a hit path are the ones that host.cpp makes itself, to this function.
WORK = "_ZN7counted4workEPv"
OWN_CALLS = {"scope": 1, "scope_with_block": 1, "scope_in_scope": 2, "scope_with_fence": 2, "save_rewind": 1, "hand_scope": 1}

# Calls that end a path as a cold function does. What this program itself marks as cold is known from its section.
ENDS = re.compile(r"^(abort|_ZSt9terminatev|_ZSt\d+__throw_\w+|__cxa_\w+|_Unwind_Resume|__stack_chk_fail)(@plt)?$")


class Failure(Exception):
    """The machine code could not be read; the text says where."""


# ---- compilers -------------------------------------------------------------------------------------------------------


def run(command):
    return subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def find_compiler(name):
    """(path, family, full version) of `g++-12` and the like, also where it is installed as plain `g++`; or None."""
    family, _, major = name.partition("-")
    for candidate in dict.fromkeys([name, family]):
        path = shutil.which(candidate)
        if path is None:
            continue
        banner = run([path, "--version"]).stdout
        is_clang = "clang" in banner
        version = re.search(r"clang version (\d+\.\d+\.\d+)" if is_clang else r"\) (\d+\.\d+\.\d+)", banner)
        if version is None or is_clang != (family == "clang++"):
            continue
        if not major or version[1].split(".")[0] == major:
            return path, family, version[1]
    return None


def build(path, family, include, folder):
    """Compiles host.cpp and trace.cpp; returns (program, object of host.cpp)."""
    flags = FLAGS + FLAGS_OF[family] + [f"-I{include}"]
    objects = []
    for source in ("host", "trace"):
        objects.append(str(folder / f"{source}.o"))
        done = run([path, *flags, "-c", str(HERE / f"{source}.cpp"), "-o", objects[-1]])
        if done.returncode != 0:
            raise Failure(f"{source}.cpp does not compile:\n{done.stderr}")
    program = str(folder / "trace")
    done = run([path, "-no-pie", *objects, "-o", program])
    if done.returncode != 0:
        raise Failure(f"does not link:\n{done.stderr}")
    return program, objects[0]


# ---- reading the machine code ----------------------------------------------------------------------------------------


class Instruction:
    def __init__(self, address, mnemonic, operands, function):
        self.address = address
        self.mnemonic = mnemonic
        self.operands = operands
        self.function = function  # the symbol it belongs to
        self.next = None  # address of the instruction after it
        target = re.match(r"([0-9a-f]+) <([^>+]+)", operands)
        self.target = int(target[1], 16) if target else None
        self.target_symbol = target[2] if target else None

    def is_return(self):
        return self.mnemonic in ("ret", "repz ret", "retq")

    def is_call(self):
        return self.mnemonic.startswith("call")

    def is_jump(self):
        return self.mnemonic.startswith("jmp")

    def is_branch(self):
        return self.mnemonic.startswith("j") and not self.is_jump()

    def is_dead_end(self):
        return self.mnemonic in ("ud2", "hlt")


def disassemble(program):
    """{address: Instruction} and {symbol: first address}."""
    done = run(["objdump", "-d", "--no-show-raw-insn", program])
    if done.returncode != 0 or "elf64-x86-64" not in done.stdout:
        raise Failure(f"objdump cannot read {program}:\n{done.stderr}")
    code, starts, function, last = {}, {}, None, None
    for line in done.stdout.splitlines():
        head = re.match(r"([0-9a-f]+) <(.+)>:$", line)
        if head:
            function, last = head[2], None
            starts[function] = int(head[1], 16)
            continue
        body = re.match(r"\s*([0-9a-f]+):\t(\S.*)$", line)
        if not body:
            continue
        # Prefixes belong to the mnemonic; a comment (# 4020 <x>) is no operand.
        text = re.sub(r"\s+#.*$", "", body[2].strip())
        parts = re.match(r"((?:(?:repz?|repnz|lock|notrack|bnd|cs|ds|data16) )*\S+)\s*(.*)$", text)
        instruction = Instruction(int(body[1], 16), parts[1], parts[2], function)
        code[instruction.address] = instruction
        if last is not None:
            last.next = instruction.address
        last = instruction
    return code, starts


def cold_symbols(host_object):
    """Functions that a compiler put away because they, or the part of them, are marked cold."""
    done = run(["objdump", "-t", host_object])
    symbols = set()
    for line in done.stdout.splitlines():
        fields = line.split()
        if len(fields) >= 4 and any(field.startswith(".text.unlikely") for field in fields[1:-1]):
            symbols.add(fields[-1])
    return symbols


class Reader:
    def __init__(self, program, host_object):
        self.code, self.starts = disassemble(program)
        self.cold = cold_symbols(host_object)
        if not self.cold:
            raise Failure("no function is marked cold: nothing tells a hit from a miss")
        self.warm = {}

    def functions(self):
        """{plain name: symbol} of what host.cpp defines in namespace counted."""
        names = {}
        for symbol in self.starts:
            mangled = re.match(r"_ZN7counted(\d+)([a-z]\w*)$", symbol)
            if mangled:
                names[mangled[2][: int(mangled[1])]] = symbol
        names.pop("work", None)
        return names

    def is_cold(self, symbol):
        return symbol is not None and (symbol in self.cold or ENDS.match(symbol) is not None)

    def steps(self, at):
        """The addresses control can go to from `at`; None in it is the way out by `ret` or by a jump to a function."""
        here = self.code[at]
        if here.is_return():
            return [None]
        if here.is_dead_end() or (here.is_call() and self.is_cold(here.target_symbol)):
            return []
        if here.is_jump() or here.is_branch():
            if here.target is None:
                if here.is_branch():
                    raise Failure(f"{here.function}: a branch without a target at {at:x}")
                return [None]  # jmp *%rax: a tail call through a pointer
            if self.is_cold(here.target_symbol):
                taken = []
            elif here.target_symbol != here.function:
                taken = [None]
            else:
                taken = [here.target]
            return taken if here.is_jump() else [here.next, *taken]
        return [here.next]

    @staticmethod
    def leaves(instruction):
        """Whether it goes to another function: a call, or a jump that saves the callee's return."""
        if instruction.is_call():
            return True
        return instruction.is_jump() and instruction.target_symbol != instruction.function

    def reaches_return(self, start):
        """Whether a way from `start` leaves the function without passing through anything cold."""
        seen, waiting = set(), [start]
        while waiting:
            at = waiting.pop()
            if at is None:
                return True
            if at not in seen:
                seen.add(at)
                waiting.extend(self.steps(at))
        return False

    def hit_path(self, symbol):
        """The instructions from the entry to the return, those of library functions that were not inlined included.

        At a branch the side that cannot return without passing through cold code is the miss; where both can, the hit is
        the fall-through, because that is where compilers lay out what is likely (--executed checks it)."""
        path, seen, at = [], set(), self.starts[symbol]
        while at is not None:
            if at in seen:
                raise Failure(f"{symbol}: its hit path has a loop at {at:x}")
            seen.add(at)
            here = self.code[at]
            path.append(here)
            warm = [way for way in self.steps(at) if way is None or self.reaches_return(way)]
            if not warm:
                raise Failure(f"{symbol}: no way to its return avoids cold code after {at:x}")
            if self.leaves(here) and here.target_symbol in self.starts and here.target_symbol != WORK:
                path.extend(self.hit_path(here.target_symbol))
            at = warm[0]
        return path


# ---- the contract ----------------------------------------------------------------------------------------------------


def figures(reader, path):
    branches = sum(i.is_branch() for i in path)
    # A call that was followed costs its instructions; what counts as one is a call to who knows whom.
    calls = sum(reader.leaves(i) and (i.target_symbol == WORK or i.target_symbol not in reader.starts) for i in path)
    return len(path), branches, calls


def check_limits(counted, family, version):
    errors = []
    major = int(version.split(".")[0])
    for name, limits in LIMITS.items():
        if name not in counted:
            errors.append(f"{name}: not found in the machine code")
        elif (family, major) in limits:
            for what, is_now, at_most in zip(("instructions", "branches"), counted[name], limits[family, major]):
                if at_most is not None and is_now > at_most:
                    errors.append(f"{name}: {is_now} {what}, the contract allows {at_most}")
    for name, (_, _, calls) in counted.items():
        if calls != OWN_CALLS.get(name, 0):
            errors.append(f"{name}: {calls} calls on the hit path, {OWN_CALLS.get(name, 0)} are its own")
    return errors


def check_executed(reader, paths, program):
    """Errors, or None where nothing may be traced here."""
    done = run([program])
    if done.returncode == SKIPPED:
        print(f"not run: tracing, {done.stderr.strip()}")
        return None
    if done.returncode != 0:
        return [f"tracing ended with {done.returncode}: {done.stderr.strip()}"]
    executed = {}
    for line in done.stdout.splitlines():
        name, *addresses = line.split()
        executed[name] = [int(address, 16) for address in addresses]
    errors = [f"{name}: trace.cpp does not run it" for name in paths if name not in executed]
    for name, addresses in executed.items():
        if name not in paths:
            errors.append(f"{name}: executed, but not found in the machine code")
            continue
        own = [a for a in addresses if a not in reader.code or reader.code[a].function != WORK]
        if own != [i.address for i in paths[name]]:
            errors.append(f"{name}: {len(own)} instructions were executed, the hit path that was read has {len(paths[name])}")
    return errors


def show(paths):
    for name, path in paths.items():
        print(f"\n{name}")
        for i in path:
            print(f"  {i.address:x}  {i.mnemonic} {i.operands}")


def check_compiler(name, options, folder):
    """Returns 0, 1 or SKIPPED."""
    found = find_compiler(name)
    if found is None:
        print(f"not run: {name} was not found")
        return SKIPPED
    path, family, version = found
    compiler = f"{family}-{version}"
    try:
        program, host_object = build(path, family, options.include, folder)
        reader = Reader(program, host_object)
        paths = {name: reader.hit_path(symbol) for name, symbol in sorted(reader.functions().items())}
    except Failure as failure:
        print(f"{compiler}: {failure}")
        return 1
    if options.show:
        show(paths)
    if options.executed:
        errors = check_executed(reader, paths, program)
        if errors is None:
            return SKIPPED
        if not errors:
            print(f"{compiler}: all {len(paths)} hit paths were executed as they were read")
    else:
        counted = {name: figures(reader, path) for name, path in paths.items()}
        fresh = [f"{name:<28} {compiler:<15} {n:>3} {b:>2} {c:>2}" for name, (n, b, c) in counted.items()]
        print("\n".join(fresh))
        errors = check_limits(counted, family, version)
        kept = CountsFile(options.counts)
        if options.update:
            kept.update(compiler, fresh)
        elif not kept.of(compiler):
            print(f"not compared: {options.counts.name} has no line of {compiler}")
        else:
            difference = kept.difference(compiler, fresh)
            if difference:
                errors.append("the counts have changed; if that is meant, run contract.py --update\n" + "\n".join(difference))
    for error in errors:
        print(f"{compiler}: {error}")
    return 1 if errors else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", help="g++, g++-12, clang++-19, ...; may be given more than once")
    parser.add_argument("--include", default=HERE.parents[1] / "include", type=pathlib.Path, help="folder of the headers")
    parser.add_argument("--counts", default=HERE / "counts.txt", type=pathlib.Path, help="the file of kept counts")
    parser.add_argument("--executed", action="store_true", help="compare the hit paths with an execution instead")
    parser.add_argument("--update", action="store_true", help="rewrite the kept counts")
    parser.add_argument("--show", action="store_true", help="print every instruction of every hit path")
    options = parser.parse_args()
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        print(f"not run: the counts are of x86-64 on Linux, this is {platform.machine()} on {platform.system()}")
        return SKIPPED
    if shutil.which("objdump") is None:
        print("not run: objdump was not found")
        return SKIPPED
    results = []
    for name in options.compiler or COMPILERS:
        with tempfile.TemporaryDirectory() as folder:
            results.append(check_compiler(name, options, pathlib.Path(folder)))
    if 1 in results:
        return 1
    return SKIPPED if all(result == SKIPPED for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
