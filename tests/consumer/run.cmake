# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)

set(project ${CMAKE_CURRENT_LIST_DIR}/project)
set(moved ${BINARY_DIR}/moved)
file(REMOVE_RECURSE ${BINARY_DIR}/prefix ${moved} ${BINARY_DIR}/build)

# configure(NAME ARGUMENTS...): sets `result` and `output`.
function(configure name)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${project} -B ${BINARY_DIR}/build/${name} -G ${GENERATOR}
                          -DCMAKE_CXX_COMPILER=${COMPILER} ${ARGN}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(result ${result} PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(must_work name)
  configure(${name} ${ARGN})
  if(NOT result EQUAL 0)
    message("${output}")
    message(FATAL_ERROR "${name}: cannot be configured")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY_DIR}/build/${name} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${BINARY_DIR}/build/${name}/consumer COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(must_be_refused name reason)
  configure(${name} ${ARGN})
  if(result EQUAL 0 OR NOT output MATCHES "${reason}")
    message("${output}")
    message(FATAL_ERROR "${name}: must be refused with '${reason}'")
  endif()
endfunction()

execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${BINARY_DIR}/prefix OUTPUT_QUIET
                        COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${BINARY_DIR}/prefix ${moved})

string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" major_minor ${VERSION})
math(EXPR next_minor "${CMAKE_MATCH_2} + 1")
set(next ${CMAKE_MATCH_1}.${next_minor})
must_work(installed -DCMAKE_PREFIX_PATH=${moved} -DWANTED_VERSION=${major_minor})
must_be_refused(next_minor "requested version \"${next}\"" -DCMAKE_PREFIX_PATH=${moved} -DWANTED_VERSION=${next})
must_be_refused(far_version "requested version \"9.0\"" -DCMAKE_PREFIX_PATH=${moved} -DWANTED_VERSION=9.0)

must_work(subdirectory -DSCRATCHPAD_SOURCE=${SOURCE_DIR})
# The control: what leaks is seen.
must_be_refused(leaking "scratchpad leaks into its parent" -DSCRATCHPAD_SOURCE=${SOURCE_DIR} -DSCRATCHPAD_BUILD_TESTS=ON)
