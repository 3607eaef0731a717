// SPDX-License-Identifier: MIT
/// \file
/// ScratchScope: a save-point with a lifetime. Fences: what must have happened before its bytes may be written again.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/fwd.hpp>
#include <scratchpad/save_points.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// No fence: right where one thread does everything; where threads share the memory, a promise that the caller has one.
struct NoFence {
  constexpr void operator()() const {}
};

/// Opens a save-point of a pool and rewinds it on every way out: the end of the block, return, break, an exception.
///
/// On a measuring pool it is what makes the peak right: what two scopes use one after another is counted once.
///
/// **A rewind is not a barrier.** Whoever still reads the bytes must have finished before they are handed out again:
///
/// | who reads | what to do |
/// |---|---|
/// | only the host thread that owns the pool | nothing |
/// | the threads of a block | `ScratchScope scope(pool, group_fence(block))` or `(pool, [] { __syncthreads(); })`: a barrier that all of them reach |
/// | work on a queue | an in-order queue: nothing. Else drain it, or order the next use behind the last by events: `ScratchScope scope(pool, fence)` |
///
/// Work that is still queued uses the bytes after the scope has ended, so nothing may fill them from the host meanwhile: a
/// pool for it wants a space with `host_accessible = false`, which the default observers leave alone.
///
/// A fence is called without arguments, or with the bytes that are about to be given back if it takes a
/// `std::span<std::byte>`. It runs before every rewind, on every way out; a measuring pool never calls it. Called at the end
/// of a scope it must not throw. An empty one takes no storage.
///
/// In a space with `shared_by_threads` a scope without a fence does not compile: nothing else would notice the race. Where
/// a barrier of your own stands in front of the end, say so: `ScratchScope scope(pool, NoFence{})`.
///
/// *Device*: yes. *Cost*: see the instruction contract in bench/.
template <class Space, class Fence = NoFence>
class [[nodiscard]] ScratchScope {
  static constexpr bool wants_bytes = std::invocable<Fence&, std::span<std::byte>>;
  static_assert(wants_bytes || std::invocable<Fence&>,
                "scratchpad: a fence is called without arguments, or with a std::span<std::byte>");

 public:
  /// *On failure*: `ApiMisuse` if Space::max_depth save-points are open.
  [[nodiscard]] SCRATCHPAD_INLINE constexpr explicit ScratchScope(
      BumpAllocator<Space>& pool) requires std::same_as<Fence, NoFence>
      : pool_(pool), at_(pool.save()), fence_() {
    static_assert(
        !shared_by_threads<Space>,
        "scratchpad: this memory is shared by threads: a scope needs a fence that all of them reach, "
        "ScratchScope scope(pool, group_fence(group)); or say that you have one, ScratchScope(pool, NoFence{})");
  }
  SCRATCHPAD_CALLS_EITHER_SIDE
  [[nodiscard]] SCRATCHPAD_INLINE SCRATCHPAD_HD constexpr ScratchScope(BumpAllocator<Space>& pool, Fence fence)
      : pool_(pool), at_(pool.save()), fence_(std::move(fence)) {}

  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

  /// Rewinds, and discards raw `save()`s left open above. If the save-point is no longer open (scopes ended in the wrong
  /// order) the failure handler is called and the program stops, because a destructor cannot throw.
  SCRATCHPAD_CALLS_EITHER_SIDE
  SCRATCHPAD_INLINE SCRATCHPAD_HD constexpr ~ScratchScope() {
    if (!run_fence() || !pool_.unwind(at_)) [[unlikely]]
      ended_in_wrong_order(at_.depth, pool_.depth());
  }

  /// Goes back to the save-point now and stays open. *Invalidates*: every block handed out since the scope was opened.
  /// *On failure*: `ApiMisuse` if the save-point is no longer open.
  SCRATCHPAD_CALLS_EITHER_SIDE
  SCRATCHPAD_INLINE SCRATCHPAD_HD constexpr void rewind() {
    if (!run_fence() || !pool_.renew(at_)) [[unlikely]] {
      detail::raise<ApiMisuse>("ScratchScope::rewind: the scope's save-point at depth ", at_.depth, " is not open; ",
                               pool_.depth(), " are: scopes ended in the wrong order");
    }
  }

 private:
  // False, with the fence not called, if the save-point is no longer open: what would be given back is then not ours.
  SCRATCHPAD_CALLS_EITHER_SIDE
  SCRATCHPAD_HD constexpr bool run_fence() {
    if constexpr (!std::same_as<Fence, NoFence>) {
      if (!pool_.is_live(at_)) return false;
      if (pool_.is_measuring()) [[unlikely]]
        return true;
      if constexpr (wants_bytes) {
        fence_(pool_.bytes_since(at_));
      } else {
        fence_();
      }
    }
    return true;
  }
  // By value: were the scope's own address taken here, it would have to live in memory instead of registers.
  [[noreturn]] SCRATCHPAD_COLD static constexpr void ended_in_wrong_order(std::uint32_t depth, std::uint32_t open) {
    detail::stop_with<ApiMisuse>("~ScratchScope: the scope's save-point at depth ", depth, " is not open; ", open,
                                 " are: scopes ended in the wrong order");
  }

  BumpAllocator<Space>& pool_;
  SavePoint at_;
  [[no_unique_address]] Fence fence_;
};

template <class Space>
ScratchScope(BumpAllocator<Space>&) -> ScratchScope<Space, NoFence>;
template <class Space, class Fence>
ScratchScope(BumpAllocator<Space>&, Fence) -> ScratchScope<Space, Fence>;

static_assert(!std::is_copy_constructible_v<ScratchScope<HostSpace>> &&
                  !std::is_move_constructible_v<ScratchScope<HostSpace>> &&
                  !std::is_copy_assignable_v<ScratchScope<HostSpace>>,
              "a save-point has one owner");

}  // namespace SCRATCHPAD_NAMESPACE
