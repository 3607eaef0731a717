# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
# Compiles cuda_adapter.cu for three generations of devices; every warning is an error.
file(MAKE_DIRECTORY ${BINARY_DIR})
foreach(architecture IN ITEMS 80 90 100)
  execute_process(
    COMMAND ${NVCC} -std=c++20 --expt-relaxed-constexpr -Werror all-warnings -Xcompiler -Wall,-Wextra -arch=sm_${architecture}
            -I${SOURCE_DIR}/include -c ${SOURCE_DIR}/tests/queue/cuda_adapter.cu -o ${BINARY_DIR}/cuda_adapter.${architecture}.o
    RESULT_VARIABLE result
    ERROR_VARIABLE messages
    OUTPUT_VARIABLE messages)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "sm_${architecture}:\n${messages}")
  endif()
  message("compiled for sm_${architecture}")
endforeach()
