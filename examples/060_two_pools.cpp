// SPDX-License-Identifier: MIT
// Two pools: one whose blocks stay, one that scopes recycle. Right where results are born inside the loop: in a single
// pool a result carved inside a scope would go with the scope. Both pools are sized by the same function.
//
// Computed: the levels of a pyramid, each half as long as the one below and made of smoothed pairs.
#include <array>
#include <cstddef>

#include <fmt/core.h>

#include <scratchpad/core.hpp>

#include "support/check.hpp"

namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::HostSpace>;

constexpr int levels = 4;
constexpr int finest = 1'024;

template <class Body>
constexpr void build(Pool& kept, Pool& scratch, Body body) {
  for (int level = 0; level < levels; ++level) {
    const int size = finest >> level;
    auto result = sp::tensor<float>(kept, "level", size);  // (1,024 + 512 + 256 + 128) x 4 B = 7,680 B in all
    sp::ScratchScope scope(scratch);
    auto smooth = sp::tensor<float>(scratch, "smooth", 2 * size);  // 2,048 x 4 B              = 8,192 B at most
    auto pairs = sp::tensor<float>(scratch, "pairs", size);        // 1,024 x 4 B              = 4,096 B at most
    body(level, smooth, pairs);
    sp::copy_to(scratch, result, pairs);  // from the scoped pool into the one that stays
  }
}

// Each size is asked with the other pool measuring too.
constexpr std::size_t kept_bytes = sp::workspace_bytes([](Pool& kept) {
  Pool scratch = Pool::measuring();
  build(kept, scratch, sp::no_work);
});
constexpr std::size_t scratch_bytes = sp::workspace_bytes([](Pool& scratch) {
  Pool kept = Pool::measuring();
  build(kept, scratch, sp::no_work);
});
static_assert(kept_bytes == 7'680);
static_assert(scratch_bytes == 12'288);  // 8,192 + 4,096, of the finest level

}  // namespace

int main() {
  examples::Checks checks;
  alignas(16) static std::byte kept_memory[kept_bytes];
  alignas(16) static std::byte scratch_memory[scratch_bytes];
  Pool kept(kept_memory);
  Pool scratch(scratch_memory);

  std::array<const float*, levels> made_in{};
  build(kept, scratch, [&](int level, auto& smooth, auto& pairs) {
    made_in[static_cast<std::size_t>(level)] = smooth.data();
    const int size = static_cast<int>(pairs.size());
    for (int i = 0; i < 2 * size; ++i) smooth(i) = static_cast<float>(level * 1'000 + i);
    for (int i = 0; i < size; ++i) pairs(i) = smooth(2 * i) + smooth(2 * i + 1);
  });

  checks.holds("every level worked in the same bytes", made_in[1] == made_in[0] && made_in[3] == made_in[0]);
  checks.equal("the scratch is empty again", scratch.used(), 0);
  checks.equal("its peak is the finest level's", scratch.peak(), 12'288);
  checks.equal("all levels are kept", kept.used(), 7'680);

  // Level 2 starts behind 1,024 + 512 floats; its element i is (2,000 + 2 i) + (2,000 + 2 i + 1).
  const auto* level_2 = reinterpret_cast<const float*>(kept_memory) + 1'536;
  checks.equal("level 2 begins as it was made", level_2[0], 4'001.0F);
  checks.equal("level 2 ends as it was made", level_2[255], 5'021.0F);

  fmt::print("{} levels: {} bytes kept, {} bytes of scratch\n", levels, kept.used(), scratch.peak());
  return checks.result();
}
