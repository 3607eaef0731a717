// SPDX-License-Identifier: MIT
// A scope in a scope: one per query block, and in it one per key tile. The inner rewind keeps what belongs to the block,
// the outer one gives that back too, and neither number of turns changes what is needed.
//
// Computed: for each query the logarithm of the sum of exp(q . k) over all keys, with the running maximum m and the
// running sum l that a flash-attention kernel keeps.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <fmt/core.h>

#include <scratchpad/core.hpp>

#include "support/check.hpp"

namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::HostSpace>;

struct Shape {
  int queries;  // a multiple of block
  int keys;     // a multiple of tile
  int dim;
  int block = 64;  // queries at a time
  int tile = 32;   // keys at a time
};

template <class Begin, class Tile, class End>
constexpr void sweep(Pool& pool, const Shape& shape, Begin begin, Tile tile, End end) {
  for (int first_query = 0; first_query < shape.queries; first_query += shape.block) {
    sp::ScratchScope query_block(pool);
    auto m = sp::tensor<float>(pool, "m", shape.block);  // 64 x 4 B       = 256 B
    auto l = sp::tensor<float>(pool, "l", shape.block);  //                  256 B
    begin(m, l);
    for (int first_key = 0; first_key < shape.keys; first_key += shape.tile) {
      sp::ScratchScope key_tile(pool);
      auto s = sp::tensor<float>(pool, "s", shape.block, shape.tile);  // 64 x 32 x 4 B  = 8,192 B
      auto p = sp::tensor<float>(pool, "p", shape.block, shape.tile);  //                  8,192 B
      tile(m, l, s, p, first_query, first_key);
    }  // back to the end of l
    end(m, l, first_query);
  }  // back to the start
}

constexpr std::size_t need(const Shape& shape) {
  return sp::workspace_bytes([&](Pool& pool) { sweep(pool, shape, sp::no_work, sp::no_work, sp::no_work); });
}

// 2 x 256 + 2 x 8,192, for one tile of one block as for all.
static_assert(need({.queries = 64, .keys = 32, .dim = 16}) == 16'896);
static_assert(need({.queries = 256, .keys = 512, .dim = 16}) == 16'896);

// Numbers between -0.5 and 0.5 without a pattern in rows and columns.
std::vector<float> made_up(int rows, int columns, int seed) {
  std::vector<float> v(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] = static_cast<float>((i * 7'919 + static_cast<std::size_t>(seed) * 104'729) % 1'009) / 1'008.0F - 0.5F;
  }
  return v;
}

}  // namespace

int main() {
  examples::Checks checks;
  constexpr Shape shape{.queries = 256, .keys = 512, .dim = 16};
  const std::vector<float> queries = made_up(shape.queries, shape.dim, 1);
  const std::vector<float> keys = made_up(shape.keys, shape.dim, 2);
  std::vector<float> result(shape.queries);

  const auto dot = [&](int query, int key) {
    float sum = 0.0F;
    for (int i = 0; i < shape.dim; ++i) {
      sum += queries[static_cast<std::size_t>(query * shape.dim + i)] *
             keys[static_cast<std::size_t>(key * shape.dim + i)];
    }
    return sum;
  };

  alignas(16) static std::byte scratch[need(shape)];
  Pool pool(scratch);
  int tiles = 0;
  bool right_save_points = true;

  sweep(
      pool, shape,
      [](auto& m, auto& l) {
        for (float& x : m.span()) x = -std::numeric_limits<float>::infinity();
        for (float& x : l.span()) x = 0.0F;
      },
      [&](auto& m, auto& l, auto& s, auto& p, int first_query, int first_key) {
        for (int i = 0; i < shape.block; ++i) {
          for (int j = 0; j < shape.tile; ++j) s(i, j) = dot(first_query + i, first_key + j);
          const float m_new = std::max(m(i), *std::max_element(s.row(i).begin(), s.row(i).end()));
          float sum = 0.0F;
          for (int j = 0; j < shape.tile; ++j) sum += p(i, j) = std::exp(s(i, j) - m_new);
          l(i) = l(i) * std::exp(m(i) - m_new) + sum;
          m(i) = m_new;
        }
        ++tiles;
        // The block began in the empty pool, the tile behind m and l.
        const std::array<std::size_t, 2> expected{0, 512};
        right_save_points = right_save_points && std::ranges::equal(pool.save_points(), expected);
      },
      [&](auto& m, auto& l, int first_query) {
        // All tiles are over; m and l are as the last one left them.
        for (int i = 0; i < shape.block; ++i) result[static_cast<std::size_t>(first_query + i)] = m(i) + std::log(l(i));
        right_save_points = right_save_points && pool.depth() == 1 && pool.used() == 512;
      });

  checks.equal("all tiles were visited: 4 blocks of 16", tiles, 64);
  checks.holds("save-points stand at 0 and 512 in every tile, and only the outer one after them", right_save_points);
  checks.equal("nothing is left in the pool", pool.used(), 0);
  checks.equal("the peak is that of one tile of one block", pool.peak(), 16'896);

  double worst = 0.0;
  for (int query = 0; query < shape.queries; ++query) {
    double sum = 0.0;
    for (int key = 0; key < shape.keys; ++key) sum += std::exp(static_cast<double>(dot(query, key)));
    worst = std::max(worst, std::abs(static_cast<double>(result[static_cast<std::size_t>(query)]) - std::log(sum)));
  }
  checks.near("the result is the one of a single double-precision sum", worst, 0.0, 1e-5);

  fmt::print("{} queries x {} keys: {} tiles in {} bytes; largest error {:.1e}\n", shape.queries, shape.keys, tiles,
             pool.peak(), worst);
  return checks.result();
}
