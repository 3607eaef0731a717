// SPDX-License-Identifier: MIT
/// \file
/// Causal flash attention with grouped queries: the scratch of one sweep over the keys, and the kernel that runs in it.
///
/// **Rows.** One key/value head serves a group of query heads (Llama-70B: 64 query heads, 8 key/value heads, groups of
/// 8). All query vectors of a group form one list of rows, position by position: row r is head r % group at position
/// r / group. A tile takes M rows of that list and N keys, so that a staged key serves every head of its group: 128 rows
/// are 16 positions of 8 heads, 8 rows are one position, which is decoding. A row sees the keys up to its own position.
///
/// **Scratch.** `sweep` is its only description: sizing passes `sp::no_work`, a run passes the kernel.
///
/// | lives through | blocks |
/// |---|---|
/// | the sweep | `State`: m, l, O, what the tiles have added up so far; `Staged`: the inputs in flight |
/// | one tile | `Tile`: what the operations of a tile return, each a fresh buffer, the way a tensor library writes them |
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include <scratchpad/core.hpp>

#include "bf16.hpp"
#include "row_math.hpp"

namespace attention {

namespace sp = scratchpad;

/// One tile: `queries` rows (M) x `keys` keys (N), vectors of `head_dim` elements (d).
struct Shape {
  std::size_t queries = 128;
  std::size_t keys = 64;
  std::size_t head_dim = 128;
};

/// Persistent: the running maximum and sum of every row, and its output so far, not yet divided by the sum.
template <class Space>
struct State {
  constexpr State(sp::BumpAllocator<Space>& pool, const Shape& shape)
      : m(sp::tensor<float>(pool, "m", shape.queries)),
        l(sp::tensor<float>(pool, "l", shape.queries)),
        o(sp::tensor<float>(pool, "O", shape.queries, shape.head_dim)) {}

  sp::Tensor<float, 1, Space> m;
  sp::Tensor<float, 1, Space> l;
  sp::Tensor<float, 2, Space> o;
};

/// Persistent too, because the next keys and values are in flight while a tile is computed: two buffers for each.
template <class Space>
struct Staged {
  constexpr Staged(sp::BumpAllocator<Space>& pool, const Shape& shape)
      : q(sp::tensor<Bf16>(pool, "Q", shape.queries, shape.head_dim)),
        k{sp::tensor<Bf16>(pool, "K", shape.head_dim, shape.keys),
          sp::tensor<Bf16>(pool, "K", shape.head_dim, shape.keys)},
        v{sp::tensor<Bf16>(pool, "V", shape.keys, shape.head_dim),
          sp::tensor<Bf16>(pool, "V", shape.keys, shape.head_dim)} {}

  /// Tile j's buffer. Chosen and not indexed, which would keep the handles out of a GPU's registers.
  constexpr sp::Tensor<Bf16, 2, Space> k_of(std::size_t j) const { return j % 2 == 0 ? k[0] : k[1]; }
  constexpr sp::Tensor<Bf16, 2, Space> v_of(std::size_t j) const { return j % 2 == 0 ? v[0] : v[1]; }

  sp::Tensor<Bf16, 2, Space> q;
  sp::Tensor<Bf16, 2, Space> k[2];  ///< transposed, d x N: no product needs its sums reordered to be vectorised
  sp::Tensor<Bf16, 2, Space> v[2];
};

/// Scoped: every operation of a tile returns a fresh buffer, in this order. Scale and causal mask are folded into s.
template <class Space>
struct Tile {
  constexpr Tile(sp::BumpAllocator<Space>& pool, const Shape& shape)
      : s(sp::tensor<float>(pool, "s", shape.queries, shape.keys)),
        row_max(sp::tensor<float>(pool, "row max", shape.queries)),
        m_new(sp::tensor<float>(pool, "m new", shape.queries)),
        s_shifted(sp::tensor<float>(pool, "s - m new", shape.queries, shape.keys)),
        p(sp::tensor<float>(pool, "P", shape.queries, shape.keys)),
        row_sum(sp::tensor<float>(pool, "row sum", shape.queries)),
        m_shifted(sp::tensor<float>(pool, "m - m new", shape.queries)),
        scale_old(sp::tensor<float>(pool, "scale old", shape.queries)),
        l_scaled(sp::tensor<float>(pool, "l x scale", shape.queries)),
        l_new(sp::tensor<float>(pool, "l new", shape.queries)),
        p16(sp::tensor<Bf16>(pool, "P in 16 bits", shape.queries, shape.keys)),
        o_tile(sp::tensor<float>(pool, "O of the tile", shape.queries, shape.head_dim)),
        o_scaled(sp::tensor<float>(pool, "O x scale", shape.queries, shape.head_dim)),
        o_new(sp::tensor<float>(pool, "O new", shape.queries, shape.head_dim)) {}

  sp::Tensor<float, 2, Space> s;
  sp::Tensor<float, 1, Space> row_max;
  sp::Tensor<float, 1, Space> m_new;
  sp::Tensor<float, 2, Space> s_shifted;
  sp::Tensor<float, 2, Space> p;
  sp::Tensor<float, 1, Space> row_sum;
  sp::Tensor<float, 1, Space> m_shifted;
  sp::Tensor<float, 1, Space> scale_old;
  sp::Tensor<float, 1, Space> l_scaled;
  sp::Tensor<float, 1, Space> l_new;
  sp::Tensor<Bf16, 2, Space> p16;
  sp::Tensor<float, 2, Space> o_tile;
  sp::Tensor<float, 2, Space> o_scaled;
  sp::Tensor<float, 2, Space> o_new;
};

/// How a sweep recycles its scratch and keeps what must survive a tile. A kernel of many threads brings its own, with a
/// barrier as the scopes' fence and a `keep` that shares the elements out.
struct Scoped {
  template <class Space>
  constexpr auto block_scope(sp::BumpAllocator<Space>& pool) const {
    return sp::ScratchScope(pool);
  }
  template <class Space>
  constexpr auto tile_scope(sp::BumpAllocator<Space>& pool) const {
    return sp::ScratchScope(pool);
  }
  template <class Space, class Tensor>
  constexpr void keep(sp::BumpAllocator<Space>& pool, const Tensor& dst, const Tensor& src) const {
    sp::copy_to(pool, dst, src);
  }
};

/// The same with no scope around a tile, for comparison: every buffer stays until the sweep ends.
struct Unscoped : Scoped {
  struct Nothing {};
  template <class Space>
  constexpr Nothing tile_scope(sp::BumpAllocator<Space>&) const {
    return {};
  }
};

/// What a body is told in front of the scratch: `Begin`, then the tile's number for each tile, then `End`.
struct Begin {};
struct End {};

/// One block of query rows against `tiles` tiles of keys, one after another. Body is called as
///
///     body(Begin{}, state, staged);  body(j, state, staged, tile) for j = 0, 1, ...;  body(End{}, state, staged)
///
/// and leaves a tile's results in tile.m_new, l_new and o_new; they are in `state` when it is called next.
template <class Space, class Body, class Recycling = Scoped>
constexpr void sweep(sp::BumpAllocator<Space>& pool, const Shape& shape, std::size_t tiles, Body&& body,
                     const Recycling& recycling = {}) {
  const State<Space> state(pool, shape);
  const Staged<Space> staged(pool, shape);
  body(Begin{}, state, staged);
  for (std::size_t j = 0; j < tiles; ++j) {
    [[maybe_unused]] const auto scope = recycling.tile_scope(pool);
    const Tile<Space> tile(pool, shape);
    body(j, state, staged, tile);
    recycling.keep(pool, state.m, tile.m_new);
    recycling.keep(pool, state.l, tile.l_new);
    recycling.keep(pool, state.o, tile.o_new);
  }
  body(End{}, state, staged);
}

/// One sweep: which rows, and against how many tiles.
struct QueryBlock {
  std::size_t first_row = 0;
  std::size_t tiles = 0;
};

/// Sweeps, one after another: a scope per block of queries around the scope per tile of keys. Body is called like
/// sweep's, with the QueryBlock in front.
/// \param blocks a range of QueryBlock
template <class Space, class Blocks, class Body, class Recycling = Scoped>
constexpr void attend(sp::BumpAllocator<Space>& pool, const Shape& shape, const Blocks& blocks, Body&& body,
                      const Recycling& recycling = {}) {
  for (const QueryBlock& block : blocks) {
    [[maybe_unused]] const auto scope = recycling.block_scope(pool);
    sweep(
        pool, shape, block.tiles, [&](const auto&... what) { body(block, what...); }, recycling);
  }
}

/// How many query blocks there are for one key/value head and `tokens` tokens. \pre tokens, group > 0
constexpr std::size_t query_blocks(const Shape& shape, std::size_t tokens, std::size_t group) {
  return 1 + (tokens * group - 1) / shape.queries;
}

/// Block number `index` of them; its tiles reach to the position of its last row.
constexpr QueryBlock query_block(const Shape& shape, std::size_t tokens, std::size_t group, std::size_t index) {
  const std::size_t first_row = index * shape.queries;
  const std::size_t last_row =
      tokens * group - first_row < shape.queries ? tokens * group - 1 : first_row + shape.queries - 1;
  return {first_row, 1 + last_row / group / shape.keys};
}

/// The threads that compute one sweep together.
struct OneThread {
  static constexpr std::size_t index() { return 0; }
  static constexpr std::size_t count() { return 1; }
  static constexpr void barrier() {}
};

/// The caller's memory, from which tiles are staged. All matrices are row-major.
struct Inputs {
  std::span<const Bf16> queries;  ///< the rows of this block, up to M x d; rows that are not there count as zeros
  std::span<const Bf16> keys;     ///< tokens x d, of one key/value head
  std::span<const Bf16> values;   ///< tokens x d
  std::size_t first_row = 0;      ///< the number of the first of `queries`
  std::size_t group = 8;          ///< query heads per key/value head
};

/// The body of a sweep that computes. Every member of a Team calls it with the same arguments.
///
/// A team needs one barrier per tile: all of a row's operations are done by the same thread, so threads meet only in the
/// staged keys and values.
template <class Team = OneThread>
class Compute {
 public:
  /// \param output the finished rows, as many as there are queries, each of d elements
  SCRATCHPAD_HD constexpr Compute(const Inputs& inputs, std::span<float> output, const Team& team = {})
      : inputs_(inputs), output_(output), team_(team) {}

  template <class Space>
  SCRATCHPAD_HD void operator()(Begin, const State<Space>& state, const Staged<Space>& staged) const {
    const std::size_t d = state.o.extent(1);
    const row_math::Rows rows = rows_of(state);
    for (std::size_t i = rows.first; i < rows.last; ++i) {
      state.m(i) = -std::numeric_limits<float>::infinity();
      state.l(i) = 0;
      for (float& o : state.o.row(i)) o = 0;
      for (std::size_t c = 0; c < d; ++c) {
        const std::size_t at = i * d + c;
        staged.q(i, c) = at < inputs_.queries.size() ? inputs_.queries[at] : Bf16{};
      }
    }
    stage(staged, 0);
    team_.barrier();
  }

  template <class Space>
  SCRATCHPAD_HD void operator()(std::size_t j, const State<Space>& state, const Staged<Space>& staged,
                                const Tile<Space>& t) const {
    const auto minus = [](float x, float y) { return x - y; };
    const auto times = [](float x, float y) { return x * y; };
    const auto plus = [](float x, float y) { return x + y; };
    const auto larger = [](float x, float y) { return x > y ? x : y; };
    const row_math::Rows rows = rows_of(state);
    const std::size_t keys = t.s.extent(1);
    const std::size_t d = state.o.extent(1);
    const std::size_t tokens = inputs_.keys.size() / d;
    const float scale = 1 / std::sqrt(static_cast<float>(d));
    stage(staged, j + 1);

    row_math::multiply(rows, t.s, staged.q, staged.k_of(j));
    row_math::scale_and_mask(rows, t.s, scale, [&](std::size_t row) {
      const std::size_t seen = position(row, tokens) + 1;
      return seen <= j * keys ? 0 : seen - j * keys < keys ? seen - j * keys : keys;
    });
    row_math::row_max(rows, t.row_max, t.s);
    // Finite from the first tile on, because every row sees key 0: an infinity minus itself does not occur.
    row_math::combine(rows, t.m_new, state.m, t.row_max, larger);
    row_math::combine_rows(rows, t.s_shifted, t.s, t.m_new, minus);
    row_math::exponential(rows, t.p, t.s_shifted);
    row_math::row_sum(rows, t.row_sum, t.p);
    row_math::combine(rows, t.m_shifted, state.m, t.m_new, minus);
    row_math::exponential(rows, t.scale_old, t.m_shifted);
    row_math::combine(rows, t.l_scaled, state.l, t.scale_old, times);
    row_math::combine(rows, t.l_new, t.l_scaled, t.row_sum, plus);
    row_math::round_to_bf16(rows, t.p16, t.p);
    row_math::multiply(rows, t.o_tile, t.p16, staged.v_of(j));
    row_math::combine_rows(rows, t.o_scaled, state.o, t.scale_old, times);
    row_math::add(rows, t.o_new, t.o_scaled, t.o_tile);
    team_.barrier();
  }

  template <class Space>
  SCRATCHPAD_HD void operator()(End, const State<Space>& state, const Staged<Space>&) const {
    const std::size_t d = state.o.extent(1);
    const row_math::Rows rows = rows_of(state);
    for (std::size_t i = rows.first; i < rows.last && (i + 1) * d <= output_.size(); ++i) {
      for (std::size_t c = 0; c < d; ++c) output_[i * d + c] = state.o(i, c) / state.l(i);
    }
  }

 private:
  template <class Space>
  SCRATCHPAD_HD constexpr row_math::Rows rows_of(const State<Space>& state) const {
    return row_math::share_of(state.m.extent(0), team_.index(), team_.count());
  }

  // Rows behind the last token see what the last token sees; their zeros are computed along and dropped at the end.
  SCRATCHPAD_HD constexpr std::size_t position(std::size_t row, std::size_t tokens) const {
    const std::size_t at = (inputs_.first_row + row) / inputs_.group;
    return at < tokens ? at : tokens - 1;
  }

  // Brings tile j of the keys and values into buffer j % 2; behind the last token there are zeros, which no row sees.
  template <class Space>
  SCRATCHPAD_HD void stage(const Staged<Space>& staged, std::size_t j) const {
    const std::size_t n = staged.v[0].extent(0);
    const std::size_t d = staged.v[0].extent(1);
    if (j * n * d >= inputs_.keys.size()) return;
    const auto k = staged.k_of(j);
    const auto v = staged.v_of(j);
    const row_math::Rows mine = row_math::share_of(n, team_.index(), team_.count());
    for (std::size_t key = mine.first; key < mine.last; ++key) {
      const std::size_t from = (j * n + key) * d;
      const bool there = from < inputs_.keys.size();
      for (std::size_t c = 0; c < d; ++c) {
        k(c, key) = there ? inputs_.keys[from + c] : Bf16{};
        v(key, c) = there ? inputs_.values[from + c] : Bf16{};
      }
    }
  }

  Inputs inputs_;
  std::span<float> output_;
  Team team_;
};

}  // namespace attention
