// SPDX-License-Identifier: MIT
/// \file
/// ThreadGroup: the threads that use one region together. group_fence: the fence of a scope in such a region.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <scratchpad/config.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// CUDA's `cooperative_groups::thread_block` is one as it stands. `thread_rank()` is below `size()` and different for each
/// thread; `sync()` returns when all threads of the group have called it.
template <class Group>
concept ThreadGroup = std::copy_constructible<Group> && requires(const Group& group) {
  { group.thread_rank() } -> std::convertible_to<std::size_t>;
  { group.size() } -> std::convertible_to<std::size_t>;
  group.sync();
};

/// See group_fence.
template <ThreadGroup Group, bool Checked>
class GroupFence {
 public:
  SCRATCHPAD_CALLS_EITHER_SIDE
  SCRATCHPAD_HD constexpr explicit GroupFence(const Group& group) : group_(group) {}

  // Between the two barriers no thread uses the bytes: all have come to the end of the scope, and none has left it.
  SCRATCHPAD_CALLS_EITHER_SIDE
  SCRATCHPAD_HD constexpr void operator()([[maybe_unused]] std::span<std::byte> given_back) const {
    group_.sync();
    if constexpr (Checked) {
      for (std::size_t i = group_.thread_rank(); i < given_back.size(); i += group_.size())
        given_back[i] = std::byte{0xFF};
      group_.sync();
    }
  }

 private:
  Group group_;
};

/// The fence of a scope whose bytes all threads of `group` use: nobody's bytes are handed out again before everybody has
/// come to the end of the scope. All threads must reach it.
///
/// `ScratchScope tile(pool, group_fence(block));`
///
/// With SCRATCHPAD_CHECKS the threads also fill the bytes with 0xFF, which every IEEE format reads as NaN, and wait once
/// more: a thread that kept a pointer into the scope shows in the result.
///
/// *Device*: a cooperative group is no literal type, so a `constexpr` skeleton that makes such a fence is a device function
/// only if it is marked `__device__` too.
SCRATCHPAD_CALLS_EITHER_SIDE
template <bool Checked = SCRATCHPAD_CHECKS != 0, ThreadGroup Group>
[[nodiscard]] SCRATCHPAD_HD constexpr GroupFence<Group, Checked> group_fence(const Group& group) {
  return GroupFence<Group, Checked>(group);
}

}  // namespace SCRATCHPAD_NAMESPACE
