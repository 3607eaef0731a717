#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows that each detector fires, and that it is the library that makes it fire.

    run.py --detector asan|msan|memcheck|poison --cxx COMPILER --include DIR [--work DIR]

Builds detect.cpp at -O0 and -O2 and runs every fault on heap, static and stack memory: watched by the default observer and
by one of the program's own, where a fault that this detector is for must be reported in the detector's own words and the
control must pass; and watched by nobody, where the same fault must pass unnoticed: a detection that does not depend on the
observer proves nothing about it.
Exit status: 0 all as it must be; 1 not; 77 not run, with the reason.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

STALE = ["read_after_scope", "read_after_scope_rewind", "read_after_reset"]
# Of each detector: compiler flags, the command in front, what it says, and the faults that it is for.
DETECTORS = {
    "asan": (["-fsanitize=address", "-fno-omit-frame-pointer"], [], "use-after-poison",
             STALE + ["read_free", "write_past_block", "read_padding"]),
    "msan": (["-fsanitize=memory"], [], "use-of-uninitialized-value", STALE + ["read_uninitialised", "read_free"]),
    "memcheck": (["-DSCRATCHPAD_VALGRIND=1"], ["valgrind", "-q", "--error-exitcode=99"], "==",
                 STALE + ["read_free", "write_past_block", "read_padding", "read_uninitialised"]),
    "poison": (["-DSCRATCHPAD_CHECKS=1"], [], None, STALE + ["read_uninitialised", "read_free"]),
}
def not_run(reason):
    print(f"not run: {reason}")
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--detector", choices=DETECTORS, required=True)
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--include", required=True)
    parser.add_argument("--work")
    args = parser.parse_args()
    flags, front, words, faults = DETECTORS[args.detector]
    if not shutil.which(args.cxx):
        not_run(f"{args.detector} detection: {args.cxx} is not installed")
    if front and not shutil.which(front[0]):
        not_run(f"{args.detector} detection: {front[0]} is not installed")
    work = pathlib.Path(args.work or tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    source = pathlib.Path(__file__).with_name("detect.cpp")
    environment = dict(os.environ, ASAN_OPTIONS="abort_on_error=0:detect_leaks=0", MSAN_OPTIONS="abort_on_error=0")

    probe = subprocess.run([args.cxx, *flags, "-x", "c++", "-", "-o", str(work / "probe")], input="int main() {}",
                           text=True, capture_output=True)
    if probe.returncode != 0:
        not_run(f"{args.detector} detection: {args.cxx} has no runtime for it")
    if args.detector == "memcheck":
        header = subprocess.run([args.cxx, "-x", "c++", "-fsyntax-only", "-"], input="#include <valgrind/memcheck.h>\n",
                                text=True, capture_output=True)
        if header.returncode != 0:
            not_run("memcheck detection: valgrind/memcheck.h is not installed")

    wrong = 0
    runs = 0
    for level in ["-O0", "-O2"]:
        program = work / f"detect{level}"
        subprocess.run([args.cxx, "-std=c++20", "-g", level, *flags, "-I", args.include, str(source), "-o", str(program)],
                       check=True)
        for storage in ["heap", "static", "stack"]:
            for fault in ["none"] + faults:
                for watched_by in ["default", "own", "nobody"]:
                    run = subprocess.run([*front, str(program), fault, storage, watched_by], text=True,
                                         capture_output=True, env=environment)
                    runs += 1
                    if args.detector == "poison":
                        noticed = run.returncode == 3
                    else:
                        noticed = run.returncode != 0 and words in run.stderr
                    expected = fault != "none" and watched_by != "nobody"
                    clean = run.returncode == 0
                    if noticed != expected or clean == expected:
                        wrong += 1
                        print(f"{level} {storage} {fault} watched by {watched_by}: exit status {run.returncode}, expected "
                              f"{'a report' if expected else 'none'}\n{run.stderr[:1500]}")
    if args.detector == "asan":
        runs += 1
        source = source.with_name("origin.cpp")
        missed = {}
        for name, define in [("without", []), ("with", ["-DFORGET"])]:
            program = work / f"origin_{name}"
            subprocess.run([args.cxx, "-std=c++20", "-O2", *flags, *define, "-I", args.include, str(source), "-o",
                            str(program)], check=True)
            run = subprocess.run([str(program)], text=True, capture_output=True, env=environment)
            missed[name] = words not in run.stderr
        print(f"constant offset into a static buffer: {'missed' if missed['without'] else 'seen'} without forget_origin, "
              f"{'missed' if missed['with'] else 'seen'} with it")
        wrong += missed["with"]
    print(f"{args.detector} with {args.cxx}: {runs} runs, {len(faults)} faults and the control, {wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
