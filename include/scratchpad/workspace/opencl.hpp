// SPDX-License-Identifier: MIT
/// \file
/// OpenCL: command queues and events as Queue and Event, shared virtual memory as an upstream. Needs the OpenCL headers and
/// links with the OpenCL library; nothing else of this library includes it.
///
/// ```cpp
/// sp::OpenClQueue queue(command_queue);
/// sp::SvmResource svm(context);
/// sp::WorkspaceArena arena(queue, &svm);
/// auto lease = arena.lease(bytes);
/// clSetKernelArgSVMPointer(kernel, 0, lease.data());
/// ```
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

// Without it the OpenCL headers print a note and take their newest version.
#if !defined(CL_TARGET_OPENCL_VERSION)
#define CL_TARGET_OPENCL_VERSION 300  // NOLINT(readability-identifier-naming): not ours
#endif
#include <CL/cl.h>

#include <scratchpad/bump.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/workspace/queue.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// An OpenCL call has failed; the message has its name and the error code.
class OpenClError : public detail::TextError<std::runtime_error, FailureKind::misuse> {
 public:
  OpenClError(const char* call, cl_int code) : TextError(call, " failed with the OpenCL error ", code), code_(code) {}
  cl_int code() const noexcept { return code_; }

 private:
  cl_int code_;
};

namespace detail {

inline void check_opencl(cl_int code, const char* call) {
  if (code != CL_SUCCESS) [[unlikely]]
    raise<OpenClError>(call, code);
}

}  // namespace detail

/// A handle to a command queue; it retains nothing, so the queue outlives it.
class OpenClQueue {
 public:
  /// *On failure*: `OpenClError` if the queue cannot be asked.
  explicit OpenClQueue(cl_command_queue queue) : queue_(queue) {
    cl_command_queue_properties properties = 0;
    detail::check_opencl(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr),
                         "clGetCommandQueueInfo(CL_QUEUE_PROPERTIES)");
    in_order_ = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
    cl_device_id device = nullptr;
    detail::check_opencl(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(void*), &device, nullptr),
                         "clGetCommandQueueInfo(CL_QUEUE_DEVICE)");
    cl_uint bits = 0;
    detail::check_opencl(clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, nullptr),
                         "clGetDeviceInfo(CL_DEVICE_MEM_BASE_ADDR_ALIGN)");
    device_alignment_ = bytes_of_bits(bits);
  }

  bool is_in_order() const { return in_order_; }
  void wait() { detail::check_opencl(clFinish(queue_), "clFinish"); }

  /// Bytes. CL_DEVICE_MEM_BASE_ADDR_ALIGN counts in bits.
  std::size_t device_alignment() const { return device_alignment_; }
  static constexpr std::size_t bytes_of_bits(cl_uint bits) { return (std::max<std::size_t>)(bits / 8, 1); }

  cl_command_queue get() const { return queue_; }

 private:
  cl_command_queue queue_;
  bool in_order_ = true;
  std::size_t device_alignment_ = 1;
};

/// Owns one reference to an event.
class OpenClEvent {
 public:
  /// Takes over the reference that an enqueuing call returns, and flushes the event's queue: unflushed work need never
  /// begin, and looking at an event does not flush.
  /// *On failure*: `OpenClError`; the reference is then the caller's still.
  explicit OpenClEvent(cl_event event) : event_(event) {
    cl_command_queue queue = nullptr;  // stays so for an event of the user's
    detail::check_opencl(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(void*), &queue, nullptr),
                         "clGetEventInfo(CL_EVENT_COMMAND_QUEUE)");
    if (queue != nullptr) detail::check_opencl(clFlush(queue), "clFlush");
  }
  OpenClEvent(OpenClEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  OpenClEvent& operator=(OpenClEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~OpenClEvent() {
    if (event_ != nullptr) clReleaseEvent(event_);
  }

  /// *On failure*: `OpenClError` if the work ended with an error, or the event cannot be asked.
  bool is_complete() {
    cl_int status = CL_QUEUED;
    detail::check_opencl(clGetEventInfo(event_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
                         "clGetEventInfo(CL_EVENT_COMMAND_EXECUTION_STATUS)");
    if (status < 0) detail::raise<OpenClError>("the work of an event", status);
    return status == CL_COMPLETE;
  }
  void wait() { detail::check_opencl(clWaitForEvents(1, &event_), "clWaitForEvents"); }

  cl_event get() const { return event_; }

 private:
  cl_event event_;
};

/// Shared virtual memory of a context: what it returns can be given to clSetKernelArgSVMPointer, and so can any part of it.
/// The context outlives it.
///
/// Whether the host may touch the bytes without mapping them depends on `flags` and the device. OpenCL promises alignments
/// up to that of its largest type, 128 bytes (clSVMAlloc returns null above): coarser ones are met by asking for more and
/// moving the start.
class SvmResource : public std::pmr::memory_resource {
 public:
  explicit SvmResource(cl_context context, cl_svm_mem_flags flags = CL_MEM_READ_WRITE)
      : context_(context), flags_(flags) {}

 private:
  static constexpr std::size_t coarsest = 128;  // bytes; sizeof(cl_long16)

  struct Moved {
    void* start;
    void* allocation;
  };

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (alignment <= coarsest) return allocate_svm(bytes, alignment);
    moved_.reserve(moved_.size() + 1);
    void* const allocation = allocate_svm(bump::saturating_sum(bytes, alignment - coarsest), coarsest);
    const auto address = reinterpret_cast<std::uintptr_t>(allocation);
    void* const start = static_cast<std::byte*>(allocation) + bump::padding<std::size_t>(address, alignment);
    moved_.push_back({start, allocation});
    return start;
  }

  void do_deallocate(void* data, std::size_t, std::size_t alignment) override {
    if (alignment > coarsest) {
      const auto moved = std::find_if(moved_.begin(), moved_.end(), [&](const Moved& m) { return m.start == data; });
      data = moved->allocation;
      moved_.erase(moved);
    }
    clSVMFree(context_, data);
  }

  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  void* allocate_svm(std::size_t bytes, std::size_t alignment) const {
    void* const data = clSVMAlloc(context_, flags_, bytes, static_cast<cl_uint>(alignment));
    if (data == nullptr) detail::raise<SvmRefused>(bytes);
    return data;
  }

  // What std::pmr promises; and it knows how to reach the failure handler where there are no exceptions.
  class SvmRefused : public std::bad_alloc {
   public:
    explicit SvmRefused(std::size_t bytes) : message_("clSVMAlloc refused ", bytes, " bytes") {}
    const char* what() const noexcept override { return message_.c_str(); }
    Failure failure() const noexcept { return {FailureKind::overflow, what()}; }

   private:
    detail::Message message_;
  };

  cl_context context_;
  cl_svm_mem_flags flags_;
  std::vector<Moved> moved_;
};

static_assert(Queue<OpenClQueue> && Event<OpenClEvent>);

}  // namespace SCRATCHPAD_NAMESPACE
