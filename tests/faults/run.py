#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Injects faults into copies of the headers and shows which test notices each.

    run.py [--sample | --only NAME...] [--jobs N] [--work DIR]

table.py lists the faults. The tests must pass on the headers as they are before a failure with a fault means anything,
so they are run without one first. A fault that the tests named for it miss is tried on every unit and property test.
Exit status 1 if a fault survives without a reason, if one that is said to survive is caught after all, if its text no longer
stands in the header, or if the changed header does not compile for another reason than a static check. 77: not run.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from table import FAULTS, SAMPLE  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
ROOT = TESTS.parent
FLAGS = {"unit": ["-O0"], "property": ["-O1"], "asan": ["-O0", "-fsanitize=address"]}
TIMEOUT_S = 600


class Broken(Exception):
    """The injection itself is wrong, whatever the tests say."""


def call(command, **options):
    # What a fault makes a program print need not be text.
    return subprocess.run([str(word) for word in command], text=True, errors="replace", capture_output=True,
                          timeout=TIMEOUT_S, **options)


def not_run(reason):
    print(f"not run: {reason}")
    sys.exit(77)


class Runner:
    def __init__(self, args):
        self.args = args
        self.work = args.work
        self.clang = next((name for name in ("clang++-19", "clang++", "clang++-14") if shutil.which(name)), None)
        # Catch2's headers are the bulk of a test's compilation and know nothing of the library.
        self.pch = self.work / "pch"
        for kind in FLAGS:
            header = self.pch / kind / "catch_pch.hpp"
            header.parent.mkdir(parents=True, exist_ok=True)
            header.write_text('#include "support/catch.hpp"\n')
            made = call([args.cxx, *self.flags(kind), "-x", "c++-header", header])
            if made.returncode != 0:
                not_run(f"Catch2 does not compile with {args.cxx}: {made.stderr.strip().splitlines()[0]}")

    def flags(self, kind):
        return ["-std=c++20", "-DSCRATCHPAD_CHECKS=1", *FLAGS[kind], "-I", TESTS, "-I", ROOT / "examples", "-pthread"]

    def run_test(self, test, include, work):
        """None if it passes, else what it says; "not run: ..." if it cannot be run here."""
        kind, _, name = test.partition("/")
        if kind in FLAGS:
            return self.run_catch(kind, name, include, work)
        if kind == "builds":
            command = [sys.executable, TESTS / "builds/run.py", name, "--include", include, "--work", work / "builds"]
        elif kind == "detect":
            detector, _, compiler = name.partition("/")
            command = [sys.executable, TESTS / "detect/run.py", "--detector", detector, "--cxx", compiler, "--include",
                       include, "--work", work / "detect"]
        elif kind == "fail":
            command = ["cmake", "-DCOMPILER=g++", "-DCOMPILER_ID=GNU", f"-DCLANG={self.clang or ''}",
                       f"-DINCLUDES={include}", f"-DFILE={TESTS}/fail/{name}.fail.cpp", "-P", TESTS / "fail/run.cmake"]
        else:
            raise Broken(f"no such kind of test: {test}")
        ran = call(command)
        said = (ran.stdout + ran.stderr).strip()
        if ran.returncode == 77 or said.startswith("not run: "):
            return said.splitlines()[-1]
        return None if ran.returncode == 0 else said.splitlines()[0][:100]

    def run_catch(self, kind, name, include, work):
        folder = "unit" if kind == "asan" else kind
        source = TESTS / folder / f"{name}.cpp"
        program = work / f"{kind}-{name}"
        built = call([self.args.cxx, *self.flags(kind), "-include", self.pch / kind / "catch_pch.hpp", "-I", include,
                      source, "-o", program, *self.args.catch_libs])
        if built.returncode != 0:
            if re.search(r"static assertion failed|static_assert failed|constant expression|non-constant condition",
                         built.stderr):
                return "a static check"
            raise Broken(f"{source.name} does not compile:\n{built.stderr[:2000]}")
        ran = call([program], cwd=work)
        program.unlink()
        if ran.returncode == 0:
            return None
        # The name of a test case stands between two rules, above what failed in it.
        named = re.search(r"^-{79}\n(.+)\n", ran.stdout, re.MULTILINE)
        return f'"{named.group(1).strip()}"' if named else f"exit status {ran.returncode}"

    def inject(self, fault, include):
        header, old, new, _, _ = FAULTS[fault]
        shutil.copytree(self.args.include, include)
        path = include / "scratchpad" / header
        text = path.read_text() if path.exists() else ""
        if text.count(old) != 1:
            raise Broken(f"its text stands {text.count(old)} times in {header}; the table must follow the header")
        path.write_text(text.replace(old, new))

    def every_test(self):
        for folder in ("unit", "property"):
            for path in sorted((TESTS / folder).glob("*_test.cpp")):
                yield f"{folder}/{path.stem}"

    def try_fault(self, fault):
        """(outcome, by whom or why)"""
        _, _, _, tests, reason = FAULTS[fault]
        work = pathlib.Path(tempfile.mkdtemp(prefix=f"{fault}-", dir=self.work))
        try:
            include = work / "include"
            self.inject(fault, include)
            skipped = None
            for test in tests + [test for test in self.every_test() if test not in tests]:
                # Only the tests named for it say something about a fault that this machine cannot show.
                if skipped and test not in tests:
                    return "NOT RUN", skipped
                said = self.run_test(test, include, work)
                if said and test not in tests and self.baseline(test):
                    raise Broken(f"{test} fails without any fault")
                if said and said.startswith("not run: "):
                    skipped = said
                elif said:
                    return ("ERROR", f"said to survive, but caught by {test}: {said}") if reason else \
                           ("caught", f"{test}: {said}" if test in tests else f"{test}: {said} (not the test named for it)")
            return ("survives", reason) if reason else ("SURVIVED", "every test passes with it")
        except Broken as broken:
            return "ERROR", str(broken)
        except subprocess.TimeoutExpired as late:
            return "ERROR", f"no end after {TIMEOUT_S} s: {late.cmd[0]}"
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def baseline(self, test):
        work = pathlib.Path(tempfile.mkdtemp(prefix="baseline-", dir=self.work))
        try:
            return self.run_test(test, self.args.include, work)
        except (Broken, subprocess.TimeoutExpired) as broken:
            return str(broken)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--sample", action="store_true", help="a few quick ones")
    which.add_argument("--only", nargs="+", choices=FAULTS, metavar="NAME")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--catch-libs", nargs="+", default=["-lCatch2WithMain"])
    parser.add_argument("--include", type=pathlib.Path, default=ROOT / "include")
    parser.add_argument("--work", type=pathlib.Path)
    args = parser.parse_args()
    args.include = args.include.resolve()
    args.work = (args.work or pathlib.Path(tempfile.mkdtemp())).resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    if not shutil.which(args.cxx):
        not_run(f"{args.cxx} is not installed")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    began = time.monotonic()
    names = SAMPLE if args.sample else args.only or list(FAULTS)
    runner = Runner(args)
    tests = sorted({test for name in names for test in FAULTS[name][3]})
    outcomes = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        wrong = {test: said for test, said in zip(tests, pool.map(runner.baseline, tests))
                 if said and not said.startswith("not run: ")}
        if wrong:
            for test, said in wrong.items():
                print(f"{test} fails without any fault: {said}")
            sys.exit(1)
        print(f"{len(tests)} tests pass without a fault ({time.monotonic() - began:.0f} s)", flush=True)
        width = max(map(len, names))
        for name, (outcome, by) in zip(names, pool.map(runner.try_fault, names)):
            outcomes.setdefault(outcome, []).append(name)
            print(f"{outcome:8}  {name:{width}}  {by}", flush=True)

    print(f"{len(names)} faults: " + ", ".join(f"{len(faults)} {outcome}" for outcome, faults in outcomes.items())
          + f" ({time.monotonic() - began:.0f} s)")
    sys.exit(1 if "SURVIVED" in outcomes or "ERROR" in outcomes else 0)


if __name__ == "__main__":
    main()
