#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the library's test programs in one of the ways in which users build, and runs them.

    run.py BUILD --include DIR [--work DIR]
    run.py --list

Each build below is a table entry; nothing of the surrounding CMake build is used, neither its compiler nor its flags.
Exit status: 0 all as it must be; 1 not; 77 not run, with the reason.
"""
import argparse
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast",
            "-Werror"]
LEVELS = {"O0": ["-O0", "-g"], "O2": ["-O2", "-DNDEBUG"]}

# Filled by main().
include = None
work = None


def not_run(reason):
    print(f"not run: {reason}")
    sys.exit(77)


def wrong(what, run=None):
    print(f"wrong: {what}")
    if run is not None:
        print(f"exit status {run.returncode}\n{run.stdout[-3000:]}{run.stderr[-6000:]}")
    sys.exit(1)


def call(command, **options):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, **options)


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            not_run(f"{tool} is not installed")


def probe(compiler, flags, front=(), runs=True):
    """Whether the compiler has what the flags ask for, apart from this library; and whether its programs run here."""
    need(compiler, *front[:1])
    source = work / "probe.cpp"
    source.write_text("#include <thread>\n#include <vector>\nint main() { return std::vector<int>(1)[0]; }\n")
    built = call([compiler, "-std=c++20", *flags, source, "-o", work / "probe"])
    if built.returncode != 0:
        not_run(f"{compiler} {' '.join(flags)} does not build any program here: {built.stderr.strip().splitlines()[0]}")
    if not runs:
        return
    try:
        ran = call([*front, work / "probe"]).returncode == 0
    except OSError:
        ran = False
    if not ran:
        not_run(f"what {compiler} {' '.join(flags)} builds does not run here")


def build(compiler, flags, sources, program):
    """Compiles and links; the sources are files here, or objects in the work folder."""
    command = [compiler, "-std=c++20", *WARNINGS, *flags, "-I", include, *sources, "-o", work / program]
    built = call(command)
    if built.returncode != 0:
        wrong(" ".join(str(word) for word in command), built)
    return work / program


def must_pass(command, **options):
    ran = call(command, **options)
    if ran.returncode != 0:
        wrong(" ".join(str(word) for word in command), ran)
    return ran


# ---- the program smoke.cpp, built in many ways ---------------------------------------------------------------------


def smoke(compiler, flags=(), front=(), runs=True, levels=("O0", "O2")):
    probe(compiler, flags, front, runs)
    for level in levels:
        program = build(compiler, [*LEVELS[level], *flags], [HERE / "smoke.cpp"], f"smoke-{level}")
        if runs:
            must_pass([*front, program])
    print(f"{compiler} {' '.join(flags)}: built at {', '.join(levels)}, {'ran' if runs else 'not run: linked only'}")


def smoke_memcheck():
    probe("g++", [])
    need("valgrind")
    header = call(["g++", "-x", "c++", "-fsyntax-only", "-"], input="#include <valgrind/memcheck.h>\n")
    if header.returncode != 0:
        not_run("valgrind/memcheck.h is not installed")
    smoke("g++", ["-g", "-DSCRATCHPAD_VALGRIND=1"], ["valgrind", "-q", "--error-exitcode=99"])


def smoke_without_exceptions(compiler):
    """What works must still work; what fails calls the handler once, with kind and message, and then the program stops."""
    probe(compiler, ["-fno-exceptions"])
    runs = 0
    for level, flags in LEVELS.items():
        program = build(compiler, [*flags, "-fno-exceptions"], [HERE / "smoke.cpp"], f"smoke-{level}")
        must_pass([program])
        names = must_pass([program, "--failures"]).stdout.split()
        if len(names) < 5:
            wrong(f"{program} names {len(names)} failures")
        for name in names:
            for how, output, status in [("returns", "handler: as expected\n", -signal.SIGABRT),
                                        ("exits", "handler: as expected\n", 42), ("none", "", -signal.SIGABRT)]:
                ran = call([program, name, how])
                runs += 1
                if (ran.returncode, ran.stdout) != (status, output):
                    wrong(f"{name} with a handler that {how}: expected exit status {status} and {output!r}", ran)
    print(f"{compiler} -fno-exceptions: {runs} failures, each told to the handler once; then the program stopped")


# ---- two translation units -----------------------------------------------------------------------------------------

# Not optimised, so that both units define the functions which they share, and the linker chooses between them.
CHECKED = ["-O0", "-DSCRATCHPAD_CHECKS=1"]
SHIPPED = ["-O0", "-DSCRATCHPAD_CHECKS=0", "-DNDEBUG"]
ASAN = ["-fsanitize=address", "-fno-omit-frame-pointer"]


def unit(compiler, name, flags, key):
    return build(compiler, [*flags, f"-DUNIT=unit_{name}", "-c"], [HERE / "linked_unit.cpp"], f"{name}-{key}.o")


def two_units(compiler):
    """Every pair of switches in one program, in both roles; with AddressSanitizer the whole is linked with it."""
    probe(compiler, ASAN)
    switches = {"checked": CHECKED, "shipped": SHIPPED, "asan": CHECKED + ASAN}
    a = {key: unit(compiler, "a", flags, key) for key, flags in switches.items()}
    b = {key: unit(compiler, "b", flags, key) for key, flags in switches.items()}
    main_unit = build(compiler, ["-O1", "-c"], [HERE / "linked_main.cpp"], "main.o")
    for one in switches:
        for other in switches:
            whole = ASAN if "asan" in one + other else []
            program = build(compiler, whole, [a[one], b[other], main_unit], f"linked-{one}-{other}")
            ran = must_pass([program], env=dict(os.environ, ASAN_OPTIONS="detect_leaks=1:abort_on_error=0"))
            print(ran.stdout.strip())


def two_units_without_exceptions(compiler):
    """Linking a unit without exceptions with one that expects a throw fails, and says what is missing."""
    probe(compiler, ["-fno-exceptions"])
    main_unit = build(compiler, ["-O1", "-c"], [HERE / "linked_main.cpp"], "main.o")
    a = unit(compiler, "a", ["-O1"], "throws")
    b = unit(compiler, "b", ["-O1"], "throws")
    must_pass([build(compiler, [], [a, b, main_unit], "all_throw")])

    silent = unit(compiler, "b", ["-O1", "-fno-exceptions"], "silent")
    linked = call([compiler, a, silent, main_unit, "-o", work / "mixed"])
    if linked.returncode == 0 or "undefined reference to `linked::unit_b::" not in linked.stderr:
        wrong("a unit without exceptions must not link with one that expects a throw", linked)
    print("mixed: " + next(line for line in linked.stderr.splitlines() if "undefined reference" in line).strip())

    # The control of the control: all without exceptions link, and what does not throw works.
    flags = ["-O1", "-fno-exceptions"]
    alone = build(compiler, [*flags, "-c"], [HERE / "linked_main.cpp"], "main-silent.o")
    must_pass([build(compiler, flags, [unit(compiler, "a", flags, "silent"), silent, alone], "all_silent")])


# ---- every header alone, instantiated ------------------------------------------------------------------------------

# What each header offers, used with an element type T; None: nothing in it depends on one. A header that is not named here
# is an error.
POOL = "template <class T> void use(scratchpad::BumpAllocator<scratchpad::HostSpace>& pool) { %s }\n" \
       "using Pool = scratchpad::BumpAllocator<scratchpad::HostSpace>;\n"
RUN_ON_POOL = "template void use<std::byte>(Pool&); template void use<float>(Pool&); template void use<Wide>(Pool&);\n"
PLAIN = "template <class T> void use() { %s }\n"
RUN_PLAIN = "template void use<std::byte>(); template void use<float>(); template void use<Wide>();\n"


def on_pool(text):
    return POOL % text + RUN_ON_POOL


def on_cursor(text):
    return on_pool(text).replace("BumpAllocator<", "detail::BumpCursor<").replace("pool", "cursor")


def plain(text):
    return PLAIN % text + RUN_PLAIN


STREAM = "struct Stream { bool is_in_order() const { return true; } void wait() {} bool is_complete() { return true; } };\n"
TENSOR = "auto t = scratchpad::tensor<T>(pool, \"t\", 3, 4); auto u = scratchpad::tensor<T>(pool, 3, 4); "
HEADERS = {
    "bump.hpp": plain("(void)scratchpad::bump::place<unsigned long>(0, 0, 64, 1, sizeof(T), alignof(T), 16);"),
    "bump_allocator.hpp": on_pool(
        "(void)pool.allocate<T>(3); (void)pool.allocate<T>(3, \"three\"); "
        "(void)pool.allocate<T>(3, scratchpad::align(128), \"three\"); (void)pool.try_allocate<T>(3); "
        "const auto at = pool.save(); pool.rewind(at); pool.reset(); (void)pool.is_live(at); (void)pool.remaining();")
    + "template class scratchpad::BumpAllocator<scratchpad::HostSpace>;\n"
      "struct Dynamic : scratchpad::HostSpace { static constexpr std::size_t quantum = scratchpad::dynamic_quantum; };\n"
      "struct Free : scratchpad::HostSpace { static constexpr bool bounds_checked = false; };\n"
      "template std::span<Wide> scratchpad::BumpAllocator<Dynamic>::allocate<Wide>(std::size_t, scratchpad::Label);\n"
      "template std::span<Wide> scratchpad::BumpAllocator<Free>::allocate<Wide>(std::size_t, scratchpad::Label);\n",
    "bump_cursor.hpp": on_cursor(
        "if (cursor.template hits<T>(3)) (void)cursor.template take<T>(3); "
        "cursor.take(cursor.find(3, sizeof(T), 64), 64); cursor.template fall_to<true>(0);"),
    "config.hpp": None,
    "copy_to.hpp": on_pool(TENSOR + "scratchpad::copy_to(pool, t, u);"),
    "core.hpp": on_pool(TENSOR + "scratchpad::ScratchScope scope(pool); scratchpad::copy_to(pool, t, u);"),
    "device_failure.hpp": None,
    "error.hpp": None,
    "fwd.hpp": "scratchpad::BumpAllocator<scratchpad::HostSpace>* pool;\n"
               "scratchpad::Tensor<Wide, 2, scratchpad::HostSpace>* tensor_;\n",
    "global_names.hpp": "template <class T> void use(BumpAllocator<scratchpad::HostSpace>& pool) { ScratchScope scope(pool); "
                        "(void)tensor<T>(pool, 2); }\nusing Pool = BumpAllocator<scratchpad::HostSpace>;\n" + RUN_ON_POOL,
    "largest_fit.hpp": "using Pool = scratchpad::BumpAllocator<scratchpad::HostSpace>;\n" + plain(
        "(void)scratchpad::largest_fit<Pool>(4096, 1, 9, 1, [](int n) { return [n](Pool& pool) { "
        "(void)scratchpad::tensor<T>(pool, n); }; });"),
    "memory_space.hpp": None,
    "pmr.hpp": on_pool("scratchpad::PoolResource resource(pool); (void)std::pmr::polymorphic_allocator<T>(&resource)"
                       ".allocate(3);"),
    "pool_errors.hpp": None,
    "pool_observer.hpp": None,
    "requirement.hpp": None,
    "save_points.hpp": "template class scratchpad::SavePoints<3>;\n",
    "scratch_buffer.hpp": None,
    "scratch_scope.hpp": on_pool("scratchpad::ScratchScope scope(pool); scratchpad::ScratchScope fenced(pool, [] {}); "
                                 "(void)pool.template allocate<T>(3); fenced.rewind();")
    + "template class scratchpad::ScratchScope<scratchpad::HostSpace>;\n",
    "scratchpad.hpp": on_pool("scratchpad::Recorder recorder; pool.watch(&recorder); (void)scratchpad::tensor<T>(pool, 2, 3);"),
    "shared_space.hpp": None,
    "tensor.hpp": on_pool(TENSOR + "(void)t(1, 2); (void)t.row(1); (void)t.size_bytes(); std::span<const T> all = u; (void)all;")
    + "template class scratchpad::Tensor<std::byte, 1, scratchpad::HostSpace>;\n"
      "template class scratchpad::Tensor<float, 2, scratchpad::HostSpace>;\n"
      "template class scratchpad::Tensor<Wide, 3, scratchpad::HostSpace>;\n",
    "thread_group.hpp": "struct Group { std::size_t thread_rank() const { return 0; } std::size_t size() const { return 1; } "
                        "void sync() const {} };\ntemplate class scratchpad::GroupFence<Group, true>;\n"
                        "template class scratchpad::GroupFence<Group, false>;\n",
    "workspace_bytes.hpp": "using Pool = scratchpad::BumpAllocator<scratchpad::HostSpace>;\n" + plain(
        "const auto layout = [](Pool& pool) { (void)pool.allocate<T>(3); }; (void)scratchpad::workspace_bytes(layout); "
        "(void)scratchpad::workspace_requirement<Pool>(layout); scratchpad::no_work(T{});"),
    "observe/default_observer.hpp": None,
    "observe/plan.hpp": None,
    "observe/plan_check.hpp": None,
    "observe/poison.hpp": None,
    "observe/recorder.hpp": None,
    "observe/sanitizer.hpp": None,
    "workspace/block_list.hpp": None,
    "workspace/lease_report.hpp": None,
    "workspace/loan_ledger.hpp": None,
    "workspace/pending_event.hpp": STREAM + "template class scratchpad::detail::PendingEventOf<Stream>;\n",
    "workspace/queue.hpp": STREAM + "template class scratchpad::Drain<Stream>;\n"
                                    "std::size_t bytes() { return scratchpad::device_alignment(Stream{}); }\n",
    "workspace/queue_failure.hpp": None,
    "workspace/workspace_arena.hpp": STREAM + "template class scratchpad::WorkspaceArena<Stream>;\n",
    "workspace/workspace_lease.hpp": STREAM + "template void scratchpad::WorkspaceLease::release_after<Stream>(Stream);\n",
    "workspace/workspace_statistics.hpp": None,
}
# They need what need not be installed, and have tests of their own.
ADAPTERS = ("workspace/cuda.hpp", "workspace/opencl.hpp", "report/")


def headers_alone(compiler):
    probe(compiler, [])
    on_disk = {str(path.relative_to(include / "scratchpad")) for path in (include / "scratchpad").rglob("*.hpp")}
    unknown = {name for name in on_disk ^ HEADERS.keys() if not name.startswith(ADAPTERS)}
    if unknown:
        wrong(f"the table of headers and include/scratchpad differ in {', '.join(sorted(unknown))}")
    for name, text in HEADERS.items():
        source = work / "alone.cpp"
        wide = "struct alignas(64) Wide { char bytes[64]; };\n" if text else ""
        source.write_text(f"#include <scratchpad/{name}>\n#include <cstddef>\n{wide}{text or ''}")
        checked = call([compiler, "-std=c++20", *WARNINGS, "-fsyntax-only", "-I", include, source])
        if checked.returncode != 0:
            wrong(f"<scratchpad/{name}> alone with {compiler}", checked)
    print(f"{compiler}: {len(HEADERS)} headers, {sum(text is not None for text in HEADERS.values())} of them instantiated")


# ---- threads, devices ----------------------------------------------------------------------------------------------


def threads(compiler):
    flags = ["-fsanitize=thread"]
    probe(compiler, flags)
    for level in LEVELS:
        program = build(compiler, ["-g", f"-{level}", "-DSCRATCHPAD_CHECKS=1", *flags], [HERE / "threads.cpp"],
                        f"threads-{level}")
        must_pass([program])
        control = call([program, "shared"])
        if control.returncode == 0 or "data race" not in control.stderr:
            wrong("ThreadSanitizer does not see two threads on one pool, so its silence proves nothing", control)
    print(f"{compiler}: a pool for each thread is silent, one pool for two is reported")


def cuda():
    need("nvcc")
    command = ["nvcc", "-std=c++20", "--expt-relaxed-constexpr", "-Werror", "all-warnings", "-I", include,
               HERE / "device.cu", "-o", work / "device.o", "-c"]
    architectures = []
    for number in ("80", "90", "100"):
        architectures += ["-gencode", f"arch=compute_{number},code=sm_{number}"]
    built = call(command + architectures)
    if built.returncode != 0:
        wrong("nvcc, sm_80, sm_90, sm_100", built)
    control = call(command + architectures[:2] + ["-DCONTROL"])
    if control.returncode == 0 or "host_only" not in control.stderr:
        wrong("nvcc does not complain of a host function that is called on the device", control)
    print("nvcc: the umbrella on host and device, sm_80, sm_90, sm_100, without a warning")


BUILDS = {
    "g++": lambda: smoke("g++"),
    "clang++-14": lambda: smoke("clang++-14"),
    "clang++-19": lambda: smoke("clang++-19"),
    "libc++": lambda: smoke("clang++-19", ["-stdlib=libc++"]),
    "no_rtti.g++": lambda: smoke("g++", ["-fno-rtti"]),
    "no_rtti.clang++-19": lambda: smoke("clang++-19", ["-fno-rtti"]),
    "no_exceptions.g++": lambda: smoke_without_exceptions("g++"),
    "no_exceptions.clang++-19": lambda: smoke_without_exceptions("clang++-19"),
    "i686": lambda: smoke("i686-linux-gnu-g++", ["-static"]),
    "aarch64": lambda: smoke("aarch64-linux-gnu-g++", [], ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
    "riscv64": lambda: smoke("riscv64-linux-gnu-g++", [], ["qemu-riscv64", "-L", "/usr/riscv64-linux-gnu"]),
    "mingw": lambda: smoke("x86_64-w64-mingw32-g++-posix", ["-static"], runs=False),
    "msan.clang++-14": lambda: smoke("clang++-14", ["-g", "-fsanitize=memory"]),
    "msan.clang++-19": lambda: smoke("clang++-19", ["-g", "-fsanitize=memory"]),
    "memcheck": smoke_memcheck,
    "tsan.g++": lambda: threads("g++"),
    "tsan.clang++-14": lambda: threads("clang++-14"),
    "tsan.clang++-19": lambda: threads("clang++-19"),
    "two_units.g++": lambda: two_units("g++"),
    "two_units.clang++-19": lambda: two_units("clang++-19"),
    "two_units_without_exceptions.g++": lambda: two_units_without_exceptions("g++"),
    "two_units_without_exceptions.clang++-19": lambda: two_units_without_exceptions("clang++-19"),
    "headers.g++": lambda: headers_alone("g++"),
    "headers.clang++-14": lambda: headers_alone("clang++-14"),
    "headers.clang++-19": lambda: headers_alone("clang++-19"),
    "cuda": cuda,
}


def main():
    global include, work
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", choices=BUILDS)
    parser.add_argument("--list", action="store_true", help="the names, and nothing else")
    parser.add_argument("--include", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    args = parser.parse_args()
    if args.list:
        print("\n".join(BUILDS))
        return
    if args.build is None or args.include is None:
        parser.error("BUILD and --include are needed")
    include = args.include.resolve()
    work = (args.work or pathlib.Path(tempfile.mkdtemp())).resolve()
    work.mkdir(parents=True, exist_ok=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    BUILDS[args.build]()


if __name__ == "__main__":
    main()
