// SPDX-License-Identifier: MIT
/// \file
/// The attention sweep of attention.hpp by a block of threads in shared memory: how it recycles, and who computes what.
#pragma once

#include <cstddef>
#include <span>

#include <scratchpad/core.hpp>

#include "attention.hpp"

namespace attention {

/// A sweep's scopes end with a barrier, and what survives a tile is copied by all threads together.
///
/// \tparam Group a literal type where the sweep is to run on a device: `sweep` is `constexpr` and carries no marker
template <sp::ThreadGroup Group>
struct ByGroup {
  Group group;
  template <class Space>
  SCRATCHPAD_HD constexpr auto tile_scope(sp::BumpAllocator<Space>& pool) const {
    return sp::ScratchScope(pool, sp::group_fence(group));
  }
  template <class Space, class Tensor>
  SCRATCHPAD_HD constexpr void keep(sp::BumpAllocator<Space>& pool, const Tensor& dst, const Tensor& src) const {
    sp::copy_to(group, pool, dst, src);
  }
};

/// A group as the team of Compute.
template <sp::ThreadGroup Group>
struct GroupTeam {
  Group group;
  SCRATCHPAD_HD constexpr std::size_t index() const { return group.thread_rank(); }
  SCRATCHPAD_HD constexpr std::size_t count() const { return group.size(); }
  SCRATCHPAD_HD constexpr void barrier() const { group.sync(); }
};

/// The group of a measurement, which comes to no barrier.
struct NoThreads {
  static constexpr std::size_t thread_rank() { return 0; }
  static constexpr std::size_t size() { return 1; }
  static constexpr void sync() {}
};

/// One key/value head: all query rows of its group against its keys.
struct Head {
  std::span<const Bf16> queries;  ///< tokens * group rows x d
  std::span<const Bf16> keys;     ///< tokens x d
  std::span<const Bf16> values;   ///< tokens x d
  std::span<float> output;        ///< like queries
  std::size_t tokens;
  std::size_t group;
};

/// Query block number `index` of a head, by all threads of `group` together, each with a pool of its own over the same
/// bytes.
template <sp::ThreadGroup Group, class Space>
SCRATCHPAD_HD void attend_by_group(const Group& group, sp::BumpAllocator<Space>& pool, const Shape& shape,
                                   const Head& head, std::size_t index) {
  const QueryBlock block = query_block(shape, head.tokens, head.group, index);
  const std::size_t first = block.first_row * shape.head_dim;
  const std::size_t left = head.output.size() - first;
  const std::size_t size = left < shape.queries * shape.head_dim ? left : shape.queries * shape.head_dim;
  const Inputs inputs{head.queries.subspan(first, size), head.keys, head.values, block.first_row, head.group};
  sweep(pool, shape, block.tiles,
        Compute<GroupTeam<Group>>(inputs, head.output.subspan(first, size), GroupTeam<Group>{group}),
        ByGroup<Group>{group});
}

/// The shared memory that a block needs, whatever the number of tiles.
template <class Pool>
constexpr std::size_t group_bytes(const Shape& shape) {
  return sp::workspace_bytes<Pool>([&](Pool& pool) { sweep(pool, shape, 2, sp::no_work, ByGroup<NoThreads>{}); });
}

}  // namespace attention
