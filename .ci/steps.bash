# SPDX-License-Identifier: MIT
# What .ci/full is made of, to be sourced: steps that are noted in a summary, and what did not run with its reason.
summary=()
failed=0

# step NAME COMMAND...: runs it and notes the outcome; a failure does not keep the later steps from running.
step() {
  local name=$1 begin=$SECONDS
  shift
  printf '\n==== %s: %s\n' "$name" "$*"
  if "$@" </dev/null; then
    summary+=("passed   $name ($((SECONDS - begin)) s)")
  else
    summary+=("FAILED   $name ($((SECONDS - begin)) s)")
    failed=1
  fi
}

not_run() { summary+=("not run  $1: $2"); }

# What a workflow's tests named as not run, with their reasons.
note_skipped_tests() {
  local log=build/$1/Testing/Temporary/LastTest.log
  [ -e "$log" ] || return 0
  while IFS= read -r line; do
    summary+=("not run  $1: $line")
  done < <(awk '/^[0-9]+\/[0-9]+ Testing: / { sub(/^[^:]*: /, ""); name = $0 }
                sub(/^not run: /, "") { print name ": " $0 }' "$log")
}

# workflow PRESET [TOOL]: what needs a tool that is not there is not run.
workflow() {
  if [ $# = 2 ] && ! command -v "$2" >/dev/null; then
    not_run "workflow $1" "$2 was not found"
    return
  fi
  step "workflow $1" cmake --workflow --preset "$1"
  note_skipped_tests "$1"
}

finish() {
  printf '\n==== summary\n'
  printf '%s\n' "${summary[@]}"
  exit $failed
}
