# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
# What a kernel includes must stay cheap: core.hpp brings in none of the headers below, directly or through others.
set(heavy iostream vector functional memory_resource fmt)

# The heavy headers in the line markers of preprocessed TEXT; "fmt" is any file in a folder of that name.
function(heavy_headers_in text result_variable)
  file(WRITE ${BINARY_DIR}/probe.cpp "${text}\n")
  execute_process(COMMAND ${COMPILER} -E -std=c++20 -I${SOURCE_DIR}/include -I${BINARY_DIR} ${BINARY_DIR}/probe.cpp
                  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(found "")
  foreach(name IN LISTS heavy)
    if(text MATCHES "\n# [0-9]+ \"[^\"\n]*/${name}[/\"]")
      list(APPEND found ${name})
    endif()
  endforeach()
  set(${result_variable} "${found}" PARENT_SCOPE)
endfunction()

# The control: each of them is seen when it is there. fmt is optional, so an empty file of that name stands in.
file(WRITE ${BINARY_DIR}/fmt/core.h "")
foreach(name IN LISTS heavy)
  string(REPLACE "fmt" "fmt/core.h" header ${name})
  heavy_headers_in("#include <scratchpad/core.hpp>\n#include <${header}>" found)
  if(NOT name IN_LIST found)
    message(FATAL_ERROR "this test does not see <${header}>")
  endif()
endforeach()

heavy_headers_in("#include <scratchpad/core.hpp>" found)
if(found)
  message(FATAL_ERROR "core.hpp includes: ${found}")
endif()
