// SPDX-License-Identifier: MIT
/// \file
/// A running median by a block of threads. The row in work belongs to the block; every thread sorts in a pool of its own,
/// carved from the block's.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <scratchpad/core.hpp>

namespace medians {

namespace sp = scratchpad;

inline constexpr std::size_t window = 9;

/// Shared memory of which a thread has a part for itself: its scopes need no barrier.
struct OwnSpace : sp::SharedSpace {
  static constexpr std::string_view name = "own";
  static constexpr bool shared_by_threads = false;
};
using OwnPool = sp::BumpAllocator<OwnSpace>;

/// What one thread needs for one median.
template <class Body>
constexpr void median(OwnPool& own, const Body& body) {
  const sp::ScratchScope scope(own);
  const auto sorted = sp::tensor<float>(own, "window", window);
  body(sorted);
}
inline constexpr std::size_t own_bytes = sp::workspace_bytes([](OwnPool& own) { median(own, sp::no_work); });

/// What the block needs. The threads' pools are one block of bytes in the block's layout, and outlive its scopes.
template <class Space, class Fence, class Body>
SCRATCHPAD_HD constexpr void rows(sp::BumpAllocator<Space>& pool, std::size_t threads, std::size_t count,
                                  const Fence& fence, const Body& body) {
  const auto own = pool.template allocate<std::byte>(threads * own_bytes, "the threads' own");
  for (std::size_t row = 0; row < count; ++row) {
    const sp::ScratchScope scope(pool, fence);
    const auto values = sp::tensor<float>(pool, "row", threads + window - 1);
    body(row, own, values);
  }
}

/// out(row, r) is the median of in(row, r), ..., in(row, r + window - 1), for every thread r of the group. The rows of `in`
/// are window - 1 longer than those of `out`.
template <sp::ThreadGroup Group>
class Compute {
 public:
  SCRATCHPAD_HD Compute(const Group& group, std::span<const float> in, std::span<float> out)
      : group_(group), in_(in), out_(out) {}

  template <class Vector>
  SCRATCHPAD_HD void operator()(std::size_t row, std::span<std::byte> all, const Vector& values) const {
    const std::size_t rank = group_.thread_rank();
    for (std::size_t i = rank; i < values.size(); i += group_.size()) values(i) = in_[row * values.size() + i];
    group_.sync();  // a window reaches over what others have loaded
    OwnPool own(all.data() + rank * own_bytes, own_bytes);
    median(own, [&](const auto& sorted) {
      for (std::size_t i = 0; i < window; ++i) {
        const float x = values(rank + i);
        std::size_t at = i;
        for (; at > 0 && sorted(at - 1) > x; --at) sorted(at) = sorted(at - 1);
        sorted(at) = x;
      }
      out_[row * group_.size() + rank] = sorted(window / 2);
    });
  }

 private:
  Group group_;
  std::span<const float> in_;
  std::span<float> out_;
};

}  // namespace medians
