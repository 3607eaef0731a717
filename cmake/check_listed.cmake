# SPDX-License-Identifier: MIT
# Lists of files are written out, because a glob picks up what nobody meant; this finds the file that nobody listed.

# scratchpad_check_listed(MODE LIST_NAME GLOB FILES...): complains of every file that matches GLOB (searched recursively)
# and is not among FILES, and of every one of FILES that does not exist. Paths are relative to the current source
# directory. MODE is one of message()'s, or TEST: a warning now and a failing test later, so that the rest still builds.
function(scratchpad_check_listed mode list_name glob)
  file(GLOB_RECURSE on_disk CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${glob})
  set(complaints "")
  foreach(file IN LISTS on_disk)
    if(NOT file IN_LIST ARGN)
      string(APPEND complaints "\n  ${file} exists but is not in ${list_name}")
    endif()
  endforeach()
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      string(APPEND complaints "\n  ${file} is in ${list_name} but does not exist")
    endif()
  endforeach()
  if(NOT complaints)
    return()
  endif()
  if(NOT mode STREQUAL "TEST")
    message(${mode} "${complaints}")
  endif()
  message(WARNING "${complaints}")
  add_test(NAME "listed: ${list_name}" COMMAND ${CMAKE_COMMAND} -E echo "a file is not listed, or not there:${complaints}")
  set_tests_properties("listed: ${list_name}" PROPERTIES FAIL_REGULAR_EXPRESSION "a file is not listed")
endfunction()
