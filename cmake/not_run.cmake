# SPDX-License-Identifier: MIT
# What cannot run here is named, with its reason, and never counts as passed.

# scratchpad_can_skip(TESTS...): each of them counts as skipped, not as passed, if it prints a line "not run: REASON" or
# exits with 77.
function(scratchpad_can_skip)
  set_tests_properties(${ARGN} PROPERTIES SKIP_REGULAR_EXPRESSION "(^|\n)(-- )?not run: " SKIP_RETURN_CODE 77)
endfunction()

# scratchpad_not_run(TEST REASON): stands in for a test that lacks something, e.g.
#   scratchpad_not_run(device.ptx "nvcc was not found")
function(scratchpad_not_run test reason)
  add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -E echo "not run: ${reason}")
  scratchpad_can_skip(${test})
endfunction()
