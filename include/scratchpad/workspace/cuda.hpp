// SPDX-License-Identifier: MIT
/// \file
/// CUDA: streams and events as Queue and Event, device memory as an upstream. Needs the CUDA runtime; nothing else of this
/// library includes it. Host code only.
///
/// ```cpp
/// sp::CudaStream queue(stream);
/// sp::CudaResource memory;
/// sp::WorkspaceArena arena(queue, &memory);
/// auto lease = arena.lease(bytes);
/// kernel<<<blocks, threads, 0, stream>>>(lease.data());
/// ```
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <utility>

#include <cuda_runtime_api.h>

#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/workspace/queue.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// A call of the CUDA runtime has failed; the message has its name and the runtime's text.
class CudaError : public detail::TextError<std::runtime_error, FailureKind::misuse> {
 public:
  CudaError(const char* call, cudaError_t code)
      : TextError(call, " failed: ", cudaGetErrorName(code), ", ", cudaGetErrorString(code)), code_(code) {}
  cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

namespace detail {

inline void check_cuda(cudaError_t code, const char* call) {
  if (code != cudaSuccess) [[unlikely]]
    raise<CudaError>(call, code);
}

// What cudaMalloc and cudaMallocAsync align to.
inline constexpr std::size_t cuda_alignment = 256;

/// What std::pmr promises; and it knows how to reach the failure handler where there are no exceptions.
class CudaMemoryRefused : public std::bad_alloc {
 public:
  CudaMemoryRefused(const char* call, std::size_t bytes, std::size_t alignment)
      : message_(call, " refused ", bytes, " bytes aligned to ", alignment) {}
  const char* what() const noexcept override { return message_.c_str(); }
  Failure failure() const noexcept { return {FailureKind::overflow, what()}; }

 private:
  Message message_;
};

}  // namespace detail

/// A handle to a stream, which outlives it. A stream runs its work in order, the default streams too.
class CudaStream {
 public:
  explicit CudaStream(cudaStream_t stream = nullptr) : stream_(stream) {}
  static constexpr bool is_in_order() { return true; }
  /// *On failure*: `CudaError`, also for errors of work that was put in before.
  void wait() { detail::check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }
  /// Bytes: what device memory is aligned to.
  static constexpr std::size_t device_alignment() { return detail::cuda_alignment; }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_;
};

/// Owns an event that marks the work put into a stream so far. Move-only.
class CudaEvent {
 public:
  /// Records a new event. *On failure*: `CudaError`.
  static CudaEvent record(cudaStream_t stream) {
    CudaEvent event;
    detail::check_cuda(cudaEventCreateWithFlags(&event.event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    detail::check_cuda(cudaEventRecord(event.event_, stream), "cudaEventRecord");
    return event;
  }
  CudaEvent(CudaEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~CudaEvent() {
    if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
  }

  bool is_complete() {
    const cudaError_t code = cudaEventQuery(event_);
    if (code == cudaErrorNotReady) return false;
    detail::check_cuda(code, "cudaEventQuery");
    return true;
  }
  void wait() { detail::check_cuda(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  cudaEvent_t get() const { return event_; }

 private:
  CudaEvent() = default;
  cudaEvent_t event_ = nullptr;
};

/// Device memory of the current device, by cudaMalloc and cudaFree. Alignments above 256 bytes are refused.
class CudaResource : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* data = nullptr;
    if (alignment > detail::cuda_alignment || cudaMalloc(&data, bytes) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());  // or the next launch would report it once more
      detail::raise<detail::CudaMemoryRefused>("cudaMalloc", bytes, alignment);
    }
    return data;
  }
  void do_deallocate(void* data, std::size_t, std::size_t) override { static_cast<void>(cudaFree(data)); }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

/// Device memory of a stream's own, by cudaMallocAsync and cudaFreeAsync: it comes and goes in the stream's order. For
/// an arena of the same stream, which outlives it. Alignments above 256 bytes are refused.
class CudaStreamResource : public std::pmr::memory_resource {
 public:
  explicit CudaStreamResource(cudaStream_t stream) : stream_(stream) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* data = nullptr;
    if (alignment > detail::cuda_alignment || cudaMallocAsync(&data, bytes, stream_) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      detail::raise<detail::CudaMemoryRefused>("cudaMallocAsync", bytes, alignment);
    }
    return data;
  }
  void do_deallocate(void* data, std::size_t, std::size_t) override { static_cast<void>(cudaFreeAsync(data, stream_)); }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  cudaStream_t stream_;
};

static_assert(Queue<CudaStream> && Event<CudaEvent>);

}  // namespace SCRATCHPAD_NAMESPACE
