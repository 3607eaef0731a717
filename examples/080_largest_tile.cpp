// SPDX-License-Identifier: MIT
// The inverse question: which key tile can a flash-attention kernel afford in 1 MiB of scratch? The answer comes from
// the skeleton that runs, so it cannot drift from it.
#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/core.h>

#include <scratchpad/core.hpp>

#include "support/check.hpp"

namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::HostSpace>;
using Half = std::uint16_t;  // stands for any 16-bit type

constexpr std::size_t budget = 1'048'576;

// M query rows, N keys a tile, head dimension d; every operation returns a fresh buffer.
template <class Body>
constexpr void sweep(Pool& pool, int M, int N, int d, int tiles, Body body) {
  auto q = sp::tensor<Half>(pool, "Q", M, d);
  auto k = sp::tensor<Half>(pool, "K", 2, N, d);  // double-buffered: in flight across tiles
  auto v = sp::tensor<Half>(pool, "V", 2, N, d);
  auto m = sp::tensor<float>(pool, "m", M);
  auto l = sp::tensor<float>(pool, "l", M);
  auto o = sp::tensor<float>(pool, "O", M, d);
  for (int j = 0; j < tiles; ++j) {
    sp::ScratchScope tile(pool);
    auto s = sp::tensor<float>(pool, "scores", M, N);
    auto row_max = sp::tensor<float>(pool, "row max", M);
    auto m_new = sp::tensor<float>(pool, "m_new", M);
    auto shifted = sp::tensor<float>(pool, "s - m_new", M, N);
    auto p = sp::tensor<float>(pool, "P", M, N);
    auto row_sum = sp::tensor<float>(pool, "row sum", M);
    auto m_step = sp::tensor<float>(pool, "m - m_new", M);
    auto scale_old = sp::tensor<float>(pool, "scale_old", M);
    auto l_scaled = sp::tensor<float>(pool, "l x scale", M);
    auto l_new = sp::tensor<float>(pool, "l_new", M);
    auto p_half = sp::tensor<Half>(pool, "P, 16 bit", M, N);
    auto o_tile = sp::tensor<float>(pool, "O_j", M, d);
    auto o_scaled = sp::tensor<float>(pool, "O x scale", M, d);
    auto o_new = sp::tensor<float>(pool, "O_new", M, d);
    body(j, q, k, v, s, row_max, shifted, p, row_sum, m_step, scale_old, l_scaled, p_half, o_tile, o_scaled);
    sp::copy_to(pool, m, m_new);
    sp::copy_to(pool, l, l_new);
    sp::copy_to(pool, o, o_new);
  }
}

constexpr auto prefill(int N) {
  return [N](Pool& pool) { sweep(pool, 128, N, 128, 2, sp::no_work); };
}

// With M = 128 and d = 128, in bytes:
//   in every tile   s, s - m_new, P: 3 x 512 N     P, 16 bit: 256 N     7 rows of M: 3,584     3 x (M x d): 196,608
//   throughout      K, V: 1,024 N                  Q: 32,768            m, l: 1,024            O: 65,536
// together 2,816 N + 299,520; with M = 128 every block is a multiple of 16 whatever N is, so nothing is rounded.
//   2,816 x 256 + 299,520 = 1,020,416     2,816 x 272 + 299,520 = 1,065,472, too much
//   2,816 x 266 + 299,520 = 1,048,576     to the byte
static_assert(sp::workspace_bytes(prefill(64)) == 479'744);
static_assert(sp::workspace_bytes(prefill(176)) == 795'136);
static_assert(sp::largest_fit<Pool>(budget, 16, 512, 16, prefill) == 256);
// 299,520 bytes are needed before there is a single key.
static_assert(sp::largest_fit<Pool>(299'520, 1, 8, 1, prefill) == std::nullopt);

}  // namespace

int main() {
  examples::Checks checks;

  // The same question at run time, and its answer put to use.
  const std::optional<int> tile = sp::largest_fit<Pool>(budget, 16, 512, 16, prefill);
  checks.equal("the largest tile in steps of 16", tile.value_or(0), 256);
  // Here and not above, because it takes more steps than clang allows in one constant expression.
  checks.equal("in steps of 1", sp::largest_fit<Pool>(budget, 1, 512, 1, prefill).value_or(0), 266);
  checks.equal("with a byte less", sp::largest_fit<Pool>(budget - 1, 1, 512, 1, prefill).value_or(0), 265);

  alignas(16) static std::byte scratch[budget];
  Pool pool(scratch);
  const int N = tile.value_or(16);
  const int tiles = 8'192 / N;
  int visited = 0;
  sweep(pool, 128, N, 128, tiles, [&](int, auto&&...) { ++visited; });
  checks.equal("8,192 keys in tiles of 256", visited, 32);
  checks.equal("the run needs what was measured", pool.peak(), 1'020'416);

  pool.reset();
  checks.throws<sp::ScratchOverflow>("the next larger tile does not fit", [&] { prefill(N + 16)(pool); });

  fmt::print("1 MiB holds a tile of 128 x {}: {} bytes\n", N, sp::workspace_bytes(prefill(N)));
  return checks.result();
}
