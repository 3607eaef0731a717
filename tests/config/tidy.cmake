# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
# Names and habits as .clang-tidy says, in every header of the library.
function(tidy file result_variable)
  execute_process(
    COMMAND ${CLANG_TIDY} --quiet --config-file=${SOURCE_DIR}/.clang-tidy ${file} -- -x c++ -std=c++20
            -I${SOURCE_DIR}/include
    OUTPUT_VARIABLE messages ERROR_QUIET
    RESULT_VARIABLE result)
  set(${result_variable} ${result} PARENT_SCOPE)
  set(messages "${messages}" PARENT_SCOPE)
endfunction()

# The control: a name of the wrong kind is seen.
file(WRITE ${BINARY_DIR}/control.cpp "struct lower_case { int Upper; };\n")
tidy(${BINARY_DIR}/control.cpp result)
if(result EQUAL 0 OR NOT messages MATCHES "lower_case")
  message(FATAL_ERROR "this test does not see a wrong name:\n${messages}")
endif()

separate_arguments(headers UNIX_COMMAND "${HEADERS}")
list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>")
list(JOIN headers "\n" text)
file(WRITE ${BINARY_DIR}/all_headers.cpp "${text}\n")
tidy(${BINARY_DIR}/all_headers.cpp result)
if(NOT result EQUAL 0)
  message("${messages}") # unlike FATAL_ERROR this does not wrap the lines
  message(FATAL_ERROR "clang-tidy complains")
endif()
