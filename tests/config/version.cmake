# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
# What the pages say of the version is what config.hpp says (CMakeLists.txt reads it from there).
string(REGEX MATCH "^[0-9]+\\.[0-9]+" major_minor ${VERSION})

file(READ ${SOURCE_DIR}/README.md readme)
string(REGEX MATCHALL "find_package\\(scratchpad [0-9.]+" calls "${readme}")
list(REMOVE_DUPLICATES calls)
if(NOT calls STREQUAL "find_package(scratchpad ${major_minor}")
  message(FATAL_ERROR "README.md must say 'find_package(scratchpad ${major_minor} ...)' and says '${calls}'")
endif()

file(STRINGS ${SOURCE_DIR}/docs/changelog.md headings REGEX "^## ")
string(REPLACE "." "\\." pattern ${VERSION})
if(NOT headings MATCHES "^## ${pattern}( |;|$)")
  message(FATAL_ERROR "docs/changelog.md must begin with a section '## ${VERSION}'; its sections are '${headings}'")
endif()
