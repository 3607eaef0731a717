# SPDX-License-Identifier: MIT
# As a subdirectory the library gives its parent a target and its own options, and nothing else.
function(expect what actual expected)
  if(NOT actual STREQUAL expected)
    message(FATAL_ERROR "scratchpad leaks into its parent: ${what} is '${actual}', expected '${expected}'")
  endif()
endfunction()

# No executable, no custom target, no second library, no subdirectory that could hold one; no test.
foreach(property_and_expected IN ITEMS "BUILDSYSTEM_TARGETS=scratchpad" "SUBDIRECTORIES=" "TESTS=")
  string(REGEX MATCH "^(.*)=(.*)$" _ ${property_and_expected})
  get_property(actual DIRECTORY ${SCRATCHPAD_SOURCE} PROPERTY ${CMAKE_MATCH_1})
  expect(${CMAKE_MATCH_1} "${actual}" "${CMAKE_MATCH_2}")
endforeach()

# No flags, in the parent or on the target.
foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_OPTIONS)
  get_property(actual DIRECTORY PROPERTY ${property})
  expect("the parent's ${property}" "${actual}" "")
endforeach()
foreach(variable IN ITEMS CMAKE_CXX_STANDARD CMAKE_MODULE_PATH CMAKE_CXX_FLAGS)
  expect(${variable} "${${variable}}" "${before_${variable}}")
endforeach()
get_target_property(definitions scratchpad INTERFACE_COMPILE_DEFINITIONS)
expect("the target's definitions" "${definitions}" "definitions-NOTFOUND")
get_target_property(options scratchpad INTERFACE_COMPILE_OPTIONS)
expect("the target's options" "${options}" "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--expt-relaxed-constexpr>")

# Its options are prefixed, off, and all there is in the cache.
get_property(cached DIRECTORY ${CMAKE_SOURCE_DIR} PROPERTY CACHE_VARIABLES)
list(FILTER cached EXCLUDE REGEX "^(_?CMAKE_|scratchpad_|consumer_|SCRATCHPAD_SOURCE$)")
expect("the cache" "${cached}"
       "SCRATCHPAD_BUILD_BENCH;SCRATCHPAD_BUILD_DOCS;SCRATCHPAD_BUILD_EXAMPLES;SCRATCHPAD_BUILD_TESTS;SCRATCHPAD_INSTALL")
foreach(option IN LISTS cached)
  expect(${option} "${${option}}" OFF)
endforeach()
