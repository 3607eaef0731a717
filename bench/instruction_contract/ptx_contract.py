#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the kernels of kernels.cu, NAME_pool with NAME_hand and NAME_bare: PTX opcodes with multiplicity, registers,
stack and local memory, for several architectures. See ../README.md.

  ptx_contract.py            compare
  ptx_contract.py --update   rewrite ptx_counts.txt as well

Exit status: 0 kept, 1 broken, 77 nvcc was not found.
"""

import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left in the source tree
from counts import CountsFile  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]
# What a pair is not held to: (pair, "opcodes" or "registers").
REPORTED = {("launched_size_hand", "opcodes"), ("looped_bare", "opcodes"), ("looped_bare", "registers")}
FLAGS = "-std=c++20 -O3 -DNDEBUG --expt-relaxed-constexpr -Werror all-warnings".split()


class Failure(Exception):
    """A tool failed; the text is what it said."""


def run(command):
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def find_nvcc(name):
    found = shutil.which(name)
    usual = pathlib.Path("/usr/local/cuda/bin/nvcc")
    return found or (str(usual) if name == "nvcc" and usual.exists() else None)


def opcodes_of(ptx):
    """{kernel: Counter of opcodes}: the first word of every statement, behind its predicate; directives are none."""
    kernels, kernel = {}, None
    for line in ptx.splitlines():
        head = re.search(r"\.entry\s+(\w+)", line)
        if head:
            kernel = kernels.setdefault(head[1], collections.Counter())
        statement = re.match(r"\s+(?:@!?%p\d+\s+)?([a-z][\w.:]*)\b[^:]*;", line)
        if statement and kernel is not None:
            kernel[statement[1]] += 1
    return kernels


def usage_of(report):
    """{kernel: (registers, bytes of stack, spills and local memory)} from what ptxas -v says."""
    kernels, kernel = {}, None
    for line in report.splitlines():
        head = re.search(r"Compiling entry function '(\w+)'", line)
        if head:
            kernel = kernels.setdefault(head[1], collections.defaultdict(int))
        elif kernel is not None:
            for figure, what in re.findall(r"(\d+) (registers|bytes [a-z ]+)", line):
                kernel[what.strip()] += int(figure)
    local = ("bytes spill stores", "bytes spill loads", "bytes lmem")
    return {name: (figures["registers"],
                   max(figures["bytes stack frame"], figures["bytes cumulative stack size"]) + sum(figures[what] for what in local))
            for name, figures in kernels.items()}


def machine_code(cubin, kernel, folder):
    out = folder / f"{kernel}.bin"
    run(["objcopy", "-I", "elf64-little", "-O", "binary", f"--only-section=.text.{kernel}", cubin, out])
    return out.read_bytes()


def difference(pool, hand):
    """What one has more of than the other, as text."""
    names = sorted(set(pool) | set(hand))
    return ", ".join(f"{name} {pool[name]} (not {hand[name]})" for name in names if pool[name] != hand[name])


def check_architecture(nvcc, release, architecture, options, folder):
    """(lines for ptx_counts.txt, errors)."""
    source = HERE / "kernels.cu"
    common = [nvcc, *FLAGS, f"-arch={architecture}", f"-I{options.include}", source]
    ptx, cubin = folder / "kernels.ptx", folder / "kernels.cubin"
    run([*common, "-ptx", "-o", ptx])
    usage = usage_of(run([*common, "-cubin", "-Xptxas", "-v", "-o", cubin]))
    opcodes = opcodes_of(ptx.read_text(encoding="ascii"))
    if options.show:
        print(ptx.read_text(encoding="ascii"))
    lines, errors = [], []
    others = sorted(name for name in opcodes if not name.endswith("_pool"))
    pool_of = {name: re.sub("_(hand|bare)$", "_pool", name) for name in others}
    if not others or set(opcodes) != {*pool_of, *pool_of.values()} or set(opcodes) != set(usage):
        raise Failure(f"kernels without their other, or that cannot be read: {sorted(opcodes)}, {sorted(usage)}")
    if not all(registers > 0 for registers, _ in usage.values()):
        raise Failure(f"ptxas names no registers: {usage}")
    for other, pool in pool_of.items():
        (registers, local), (other_registers, other_local) = usage[pool], usage[other]
        if opcodes[pool] != opcodes[other] and (other, "opcodes") not in REPORTED:
            errors.append(f"{architecture}: {pool} has other PTX than {other}: {difference(opcodes[pool], opcodes[other])}")
        if registers != other_registers and (other, "registers") not in REPORTED:
            errors.append(f"{architecture}: {pool} has {registers} registers, {other} {other_registers}")
        if local != 0:
            errors.append(f"{architecture}: {pool} has {local} bytes of stack, spills or local memory, {other} {other_local}")
        code, other_code = machine_code(cubin, pool, folder), machine_code(cubin, other, folder)
        same = "same" if code == other_code else "other"
        lines.append(f"{other:<24} nvcc-{release}-{architecture:<8} {sum(opcodes[pool].values()):>4} "
                     f"{sum(opcodes[other].values()):>4} {registers:>4} {other_registers:>4} {local:>4}  {same}")
    return lines, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", action="append", help="default: " + ", ".join(ARCHITECTURES))
    parser.add_argument("--include", default=HERE.parents[1] / "include", type=pathlib.Path, help="folder of the headers")
    parser.add_argument("--counts", default=HERE / "ptx_counts.txt", type=pathlib.Path, help="the file of kept counts")
    parser.add_argument("--update", action="store_true", help="rewrite the kept counts")
    parser.add_argument("--show", action="store_true", help="print the PTX")
    options = parser.parse_args()
    nvcc = find_nvcc(options.nvcc)
    if nvcc is None:
        print(f"not run: {options.nvcc} was not found")
        return SKIPPED
    if shutil.which("objcopy") is None:
        print("not run: objcopy was not found")
        return SKIPPED
    errors = []
    try:
        release = re.search(r"V(\d+\.\d+\.\d+)", run([nvcc, "--version"]))[1]
        for architecture in options.arch or ARCHITECTURES:
            with tempfile.TemporaryDirectory() as folder:
                lines, found = check_architecture(nvcc, release, architecture, options, pathlib.Path(folder))
            errors += found
            print("\n".join(lines))
            compiler = f"nvcc-{release}-{architecture}"
            kept = CountsFile(options.counts)
            if options.update:
                kept.update(compiler, lines)
            elif not kept.of(compiler):
                print(f"not compared: {options.counts.name} has no line of {compiler}")
            else:
                changed = kept.difference(compiler, lines)
                if changed:
                    errors.append("the counts have changed; if that is meant, run ptx_contract.py --update\n" + "\n".join(changed))
    except Failure as failure:
        errors.append(str(failure))
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
