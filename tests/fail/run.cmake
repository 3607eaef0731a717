# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
# Compiles FILE twice: as it stands, which must work (the control), and with -DMUST_FAIL, which must give an error that
# matches the expected text. Without the control a typing error would pass for the refusal it was meant to show.
#
# The file begins like this; the last two lines are optional:
#   // SPDX-License-Identifier: MIT
#   // expect: REGEX       (CMake's; matched against the compiler's messages)
#   // flags: FLAGS...     (for both runs, e.g. -Werror=dangling)
#   // compiler: clang     (only clang has this message; any clang on the machine will do)
file(STRINGS ${FILE} lines REGEX "^// (expect|flags|compiler): ")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^// ([a-z]+): (.*)$" _ "${line}")
  set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()
if(NOT expect)
  message(FATAL_ERROR "${FILE} has no line '// expect: REGEX'")
endif()
separate_arguments(flags UNIX_COMMAND "${flags}")

if(compiler STREQUAL "clang" AND NOT COMPILER_ID STREQUAL "Clang")
  if(NOT CLANG)
    message("not run: needs clang, which was not found")
    return()
  endif()
  set(COMPILER ${CLANG})
endif()

set(command ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDES} ${flags})
execute_process(COMMAND ${command} ${FILE} RESULT_VARIABLE result ERROR_VARIABLE messages)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the control must compile, but:\n${messages}")
endif()
execute_process(COMMAND ${command} -DMUST_FAIL ${FILE} RESULT_VARIABLE result ERROR_VARIABLE messages)
if(result EQUAL 0)
  message(FATAL_ERROR "compiles with -DMUST_FAIL, and must not")
endif()
if(NOT messages MATCHES "${expect}")
  message(FATAL_ERROR "fails, but not with '${expect}':\n${messages}")
endif()
message("refused as expected: ${CMAKE_MATCH_0}")
