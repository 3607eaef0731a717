// SPDX-License-Identifier: MIT
/// \file
/// ScratchBuffer: memory for a pool, owned and aligned, from a std::pmr upstream.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <span>
#include <utility>

#include <scratchpad/bump.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/memory_space.hpp>
#include <scratchpad/requirement.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Owns `size()` uninitialised bytes, aligned as was asked, and gives them back to its upstream at the end. Move-only.
///
/// ```cpp
/// sp::ScratchBuffer buffer(sp::workspace_requirement(layout));
/// Pool pool(buffer);
/// ```
/// A pool refers to it, so the buffer must outlive the pool; a temporary one does not convert.
class ScratchBuffer {
 public:
  ScratchBuffer() = default;

  /// \param requirement bytes and alignment of a measured layout
  /// \param upstream where the bytes come from and go back to; it outlives the buffer
  /// *On failure*: what the upstream throws, `std::bad_alloc` as a rule; `ApiMisuse` if the alignment is no power of two
  /// or there is no upstream.
  explicit ScratchBuffer(Requirement requirement,
                         std::pmr::memory_resource* upstream = std::pmr::get_default_resource())
      : size_(requirement.bytes), alignment_(requirement.alignment), upstream_(upstream) {
    if (!bump::is_power_of_two(alignment_)) {
      detail::raise<ApiMisuse>("ScratchBuffer: an alignment of ", alignment_, " bytes is no power of two");
    }
    if (upstream_ == nullptr) detail::raise<ApiMisuse>("ScratchBuffer: no upstream for ", size_, " bytes");
    if (size_ != 0) data_ = static_cast<std::byte*>(upstream_->allocate(size_, alignment_));
  }

  /// The same for a number of bytes at the quantum of HostSpace: what `workspace_bytes` returns.
  explicit ScratchBuffer(std::size_t bytes, std::pmr::memory_resource* upstream = std::pmr::get_default_resource())
      : ScratchBuffer(Requirement{bytes, HostSpace::quantum}, upstream) {}

  ScratchBuffer(ScratchBuffer&& other) noexcept { swap(other); }
  ScratchBuffer& operator=(ScratchBuffer&& other) noexcept {
    ScratchBuffer(std::move(other)).swap(*this);
    return *this;
  }
  ~ScratchBuffer() {
    if (data_ != nullptr) upstream_->deallocate(data_, size_, alignment_);
  }

  std::size_t size() const { return size_; }            ///< bytes
  std::size_t alignment() const { return alignment_; }  ///< bytes
  std::byte* data() & { return data_; }
  std::span<std::byte> span() & { return {data_, size_}; }
  operator std::span<std::byte>() & { return span(); }

  // A temporary buffer is gone at the end of the line: nothing can be carved from it.
  std::byte* data() && = delete;
  std::span<std::byte> span() && = delete;
  operator std::span<std::byte>() && = delete;

 private:
  void swap(ScratchBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(alignment_, other.alignment_);
    std::swap(upstream_, other.upstream_);
  }

  // data_ is null exactly where size_ is 0.
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t alignment_ = HostSpace::quantum;
  std::pmr::memory_resource* upstream_ = nullptr;
};

}  // namespace SCRATCHPAD_NAMESPACE
