// SPDX-License-Identifier: MIT
// How large the scratch must be, worked out by the compiler: the buffer is a static array, and a shape that no longer
// fits is a compile error.
#include <cstddef>
#include <string_view>

#include <fmt/core.h>

#include <scratchpad/core.hpp>

#include "support/check.hpp"

namespace sp = scratchpad;

namespace {

struct Tcm : sp::HostSpace {  // a memory space
  static constexpr std::string_view name = "tcm";
};
using Pool = sp::BumpAllocator<Tcm>;

template <class Body>  // the only description of the scratch there is
constexpr void sweep(Pool& pool, int tiles, Body body) {
  auto o = sp::tensor<float>(pool, "O", 128, 128);  // lives through the sweep  65,536 B
  for (int j = 0; j < tiles; ++j) {
    sp::ScratchScope tile(pool);                     // save-point
    auto s = sp::tensor<float>(pool, "s", 128, 64);  //                          32,768 B
    auto p = sp::tensor<float>(pool, "p", 128, 64);  //                          32,768 B
    body(o, s, p, j);
  }  // rewind: the next tile gets the same bytes
}

// The same without the scope, for the comparison: every tile takes fresh bytes.
template <class Body>
constexpr void sweep_without_scope(Pool& pool, int tiles, Body body) {
  auto o = sp::tensor<float>(pool, "O", 128, 128);
  for (int j = 0; j < tiles; ++j) {
    auto s = sp::tensor<float>(pool, "s", 128, 64);
    auto p = sp::tensor<float>(pool, "p", 128, 64);
    body(o, s, p, j);
  }
}

constexpr int tiles = 128;
constexpr std::size_t need = sp::workspace_bytes([](Pool& pool) { sweep(pool, tiles, sp::no_work); });
constexpr std::size_t need_without =
    sp::workspace_bytes([](Pool& pool) { sweep_without_scope(pool, tiles, sp::no_work); });

static_assert(need == 131'072);            // 65,536 + 32,768 + 32,768
static_assert(need_without == 8'454'144);  // 65,536 + 128 x (32,768 + 32,768)

// What one tile adds to every element of O, in numbers that a float holds exactly.
void fill(auto& s, auto& p, int j) {
  for (int r = 0; r < 128; ++r) {
    for (int c = 0; c < 64; ++c) {
      s(r, c) = static_cast<float>(j);
      p(r, c) = 2.0F * s(r, c);
    }
  }
}

}  // namespace

int main() {
  examples::Checks checks;
  alignas(Tcm::quantum) static std::byte scratch[need];

  Pool pool(scratch);
  const float* first_tile = nullptr;
  bool same_bytes = true;
  float corner = -1.0F;
  sweep(pool, tiles, [&](auto& o, auto& s, auto& p, int j) {
    fill(s, p, j);
    if (j == 0) {
      for (float& x : o.span()) x = 0.0F;  // the memory is not initialised
      first_tile = s.data();
    }
    same_bytes = same_bytes && s.data() == first_tile;
    for (int r = 0; r < 128; ++r) {
      for (int c = 0; c < 128; ++c) o(r, c) += s(r, c % 64) + p(r, c % 64);
    }
    corner = o(127, 127);
  });
  // Each tile adds j + 2 j; 3 x (0 + 1 + ... + 127) = 3 x 8,128.
  checks.equal("every tile was added to O", corner, 24'384.0F);
  checks.holds("every tile works in the same bytes", same_bytes);
  checks.equal("the peak is the size worked out by the compiler", pool.peak(), 131'072);

  // One quantum less is not enough: the size has no slack.
  Pool too_small(scratch, need - Tcm::quantum);
  checks.throws<sp::ScratchOverflow>("131,056 bytes do not serve it", [&] { sweep(too_small, tiles, sp::no_work); });

  fmt::print("{} tiles in {} bytes; without the scope: {} bytes\n", tiles, need, need_without);
  return checks.result();
}
