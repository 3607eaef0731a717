// SPDX-License-Identifier: MIT
/// \file
/// The host side of a CUDA example: device or none, arrays, and claims that are checked in every build.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace cuda_program {

/// What main returns where there is no device.
inline constexpr int not_run = 77;

/// Ends the program if a call of the CUDA runtime failed.
inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "FAILED: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Says so if there is none.
inline bool has_device() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) return true;
  std::printf("not run: no CUDA device (%s)\n",
              error == cudaSuccess ? "the runtime found none" : cudaGetErrorString(error));
  return false;
}

/// The most shared memory that a block may have, in bytes, once the kernel has been allowed it.
inline std::size_t shared_memory_limit() {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), "cudaDeviceGetAttribute");
  return static_cast<std::size_t>(bytes);
}

/// A launch with more than 48 KiB of dynamic shared memory is refused unless the kernel was allowed it before.
template <class Kernel>
void allow_shared_memory(Kernel kernel, std::size_t bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cudaFuncSetAttribute");
}

/// After a launch: everything it did has happened.
inline void wait(const char* kernel) {
  check(cudaGetLastError(), kernel);
  check(cudaDeviceSynchronize(), kernel);
}

/// An array in device memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)), "cudaMalloc");
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  std::span<T> span() const { return {data_, size_}; }
  std::vector<T> values() const {
    std::vector<T> result(size_);
    check(cudaMemcpy(result.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// Counts the claims that do not hold. `return checks.result();` ends main.
class Checks {
 public:
  void holds(const std::string& what, bool condition) {
    if (condition) return;
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
    ++failed_;
  }
  void equal(const std::string& what, std::size_t actual, std::size_t expected) {
    holds(what + ": it is " + std::to_string(actual) + ", expected " + std::to_string(expected), actual == expected);
  }
  int result() const { return failed_ == 0 ? 0 : 1; }
  /// What main returns where there is no device: a claim about sizes that does not hold is still a failure.
  int result_without_device() const { return failed_ == 0 ? not_run : 1; }

 private:
  int failed_ = 0;
};

}  // namespace cuda_program
