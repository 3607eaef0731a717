# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
# Every header after a program has defined the macros that other people's headers define. The standard headers come
# first, because not even they would survive. All in one file, because a macro spoils the same line whichever header came
# before; that each stands alone is the matter of headers.alone. Not a system include, so the warnings count.
set(macros "#define min(a, b) MACRO_MIN!\n#define max(a, b) MACRO_MAX!\n")
foreach(name IN ITEMS small near far ERROR)
  string(APPEND macros "#define ${name} MACRO_${name}!\n")
endforeach()

separate_arguments(headers UNIX_COMMAND "${HEADERS}")
set(standard "")
foreach(header IN LISTS headers)
  file(STRINGS ${SOURCE_DIR}/include/${header} lines REGEX "^ *#include <[^/]*>")
  list(APPEND standard ${lines})
endforeach()
list(REMOVE_DUPLICATES standard)
list(JOIN standard "\n" standard)

function(try_compile_text text result_variable)
  file(WRITE ${BINARY_DIR}/probe.cpp "${standard}\n${macros}${text}\n")
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${SOURCE_DIR}/include -Wall -Wextra -Wpedantic -Wshadow
            -Wconversion -Wsign-conversion -Wold-style-cast -Werror ${BINARY_DIR}/probe.cpp
    RESULT_VARIABLE result
    ERROR_VARIABLE messages)
  set(${result_variable} ${result} PARENT_SCOPE)
  set(messages "${messages}" PARENT_SCOPE)
endfunction()

# The control: code that does not guard itself must be caught, and plain code must not.
try_compile_text("inline int f() { return 0; }" result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "plain code does not compile after the macros:\n${messages}")
endif()
try_compile_text("inline int f() { return std::min(1, 2); }" result)
if(result EQUAL 0 OR NOT messages MATCHES "MACRO_MIN")
  message(FATAL_ERROR "this test does not see an unguarded std::min:\n${messages}")
endif()

list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>")
list(JOIN headers "\n" text)
try_compile_text("${text}" result)
if(NOT result EQUAL 0)
  message("${messages}") # unlike FATAL_ERROR this does not wrap the compiler's lines
  message(FATAL_ERROR "headers do not survive the macros")
endif()
