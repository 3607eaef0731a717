# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
# Every file says its licence in its first line, or in its second where the first says how to run it. LICENSE is the
# licence, and JSON has no comments.
file(GLOB files LIST_DIRECTORIES FALSE ${SOURCE_DIR}/* ${SOURCE_DIR}/.c* ${SOURCE_DIR}/.g*)
file(GLOB_RECURSE deeper ${SOURCE_DIR}/include/* ${SOURCE_DIR}/cmake/* ${SOURCE_DIR}/tests/* ${SOURCE_DIR}/examples/*
     ${SOURCE_DIR}/bench/* ${SOURCE_DIR}/docs/* ${SOURCE_DIR}/.ci/*)
list(APPEND files ${deeper})
list(FILTER files EXCLUDE REGEX "/LICENSE$|\\.(json|png|svg)$")

set(failures "")
foreach(file IN LISTS files)
  file(STRINGS ${file} head LIMIT_COUNT 2 LIMIT_INPUT 200)
  list(POP_FRONT head line)
  if(line MATCHES "^#!")
    list(POP_FRONT head line)
  endif()
  if(NOT line MATCHES "SPDX-License-Identifier: MIT")
    string(APPEND failures "\n${file}")
  endif()
endforeach()
if(failures)
  message(FATAL_ERROR "no licence line:${failures}")
endif()
