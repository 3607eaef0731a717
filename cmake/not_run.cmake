# SPDX-License-Identifier: MIT
# What cannot run here is named, with its reason, and never counts as passed.

# scratchpad_can_skip(TESTS...): each of them counts as skipped, not as passed, if it exits with 77; it prints a line
# "not run: REASON" first, which .ci/run repeats in its summary.
function(scratchpad_can_skip)
  set_tests_properties(${ARGN} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# scratchpad_not_run(TEST REASON): stands in for a test that lacks something, e.g.
#   scratchpad_not_run(device.ptx "nvcc was not found")
function(scratchpad_not_run test reason)
  add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -E echo "not run: ${reason}")
  set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "not run: ")
endfunction()
