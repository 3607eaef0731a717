#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the CUDA programs (examples/1*.cu and tests/device/*.cu), and runs them where there is a device.
#
#   run_device_tests.sh [FOLDER]            all of it; FOLDER (default build/device) takes the programs
#   run_device_tests.sh compile [FOLDER]    only builds, for sm_80, sm_90 and sm_100, with the library's checks and without
#   run_device_tests.sh run [FOLDER [NAME]] only runs what was built; NAME: one program
#   run_device_tests.sh clang               compiles them with a clang that knows the installed toolkit, links nothing
#
# INCLUDE=DIR takes the headers from elsewhere. Exit status: 0; 1 something failed; 77 not run, with the reason.
set -u
cd "$(dirname "$0")/.." || exit 1

include=${INCLUDE:-include}
programs="examples/1*.cu tests/device/*.cu"
architectures="80 90 100"

not_run() {
  echo "not run: $*"
  exit 77
}

find_nvcc() {
  nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || not_run "nvcc was not found"
}

compile() {
  find_nvcc
  codes=""
  for a in $architectures; do
    if "$nvcc" --list-gpu-arch | grep -qx "compute_$a"; then
      codes="$codes -gencode arch=compute_$a,code=sm_$a"
      newest=$a
    else
      echo "sm_$a not run: $nvcc does not know it"
    fi
  done
  codes="$codes -gencode arch=compute_$newest,code=compute_$newest" # for devices that are newer still
  mkdir -p "$1/checked" "$1/shipped"
  # Two at a time, because that is what any machine has.
  for source in $programs; do
    for kind in checked shipped; do
      echo "$source $kind"
    done
  done | xargs -P 2 -L 1 sh -c '
    name=$(basename "$4" .cu)
    flags=-DSCRATCHPAD_CHECKS=1
    [ "$5" = checked ] || flags=-DNDEBUG
    "$0" -std=c++20 -O3 --expt-relaxed-constexpr -Werror all-warnings $1 $flags -I "$2" -I examples "$4" \
      -o "$3/$5/$name" || { echo "FAILED to compile: $4 ($5)"; exit 1; }
    echo "compiled: $4 ($5)"' "$nvcc" "$codes" "$include" "$1" || exit 1
}

# run FOLDER [NAME]
run() {
  name=${2:-*}
  ran=0
  failed=0
  for program in "$1"/*/$name; do
    [ -x "$program" ] || not_run "$program was not built"
    echo "---- $program"
    "$program"
    status=$?
    case $status in
      0) ran=$((ran + 1)) ;;
      77) ;;
      *)
        echo "FAILED: $program exits with $status"
        failed=1
        ;;
    esac
  done
  [ $failed = 0 ] || exit 1
  [ $ran != 0 ] || exit 77
  echo "$ran programs ran"
  racecheck "$1"
}

# Every access to shared memory under a race detector; the record's program traps on purpose and is left out.
racecheck() {
  checker=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null) || {
    echo "race check not run: compute-sanitizer was not found"
    return
  }
  for program in "$1"/*/$name; do
    case $program in */failure_record) continue ;; esac
    echo "---- race check: $program"
    timeout 60 "$checker" --tool racecheck --error-exitcode 9 "$program" || {
      echo "FAILED: $program under compute-sanitizer"
      exit 1
    }
  done
}

clang() {
  find_nvcc
  toolkit=$(dirname "$(dirname "$nvcc")")
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  echo '__global__ void probe(int* p) { *p = 1; }' >"$scratch/probe.cu"
  tried=""
  for compiler in clang++ clang++-23 clang++-22 clang++-21 clang++-20 clang++-19; do
    command -v "$compiler" >/dev/null || continue
    tried="$tried $compiler"
    set -- -x cuda "--cuda-path=$toolkit" -Wno-unknown-cuda-version -std=c++20 -O2 -Wall -Wextra -Werror
    for a in $architectures; do set -- "$@" "--cuda-gpu-arch=sm_$a"; done
    "$compiler" "$@" -c "$scratch/probe.cu" -o "$scratch/probe.o" 2>/dev/null || continue
    for source in $programs; do
      TMPDIR=$scratch "$compiler" "$@" -isystem "$toolkit/include/cccl" -I "$include" -I examples -c "$source" \
        -o "$scratch/program.o" || {
        echo "FAILED to compile: $source ($compiler)"
        exit 1
      }
      echo "compiled: $source ($compiler)"
    done
    exit 0
  done
  not_run "no clang here compiles any program with the toolkit in $toolkit (tried:${tried:- none})"
}

case ${1:-} in
  compile) compile "${2:-build/device}" ;;
  run) run "${2:-build/device}" ${3:+"$3"} ;;
  clang) clang ;;
  *)
    compile "${1:-build/device}"
    run "${1:-build/device}"
    ;;
esac
