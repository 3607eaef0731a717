// SPDX-License-Identifier: MIT
// Sizes in constant expressions. Who relies on them: everybody who makes a static array of the size of a layout.
#include <cstddef>

#include <scratchpad/scratchpad.hpp>
#include <support/spaces.hpp>

namespace {

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<test::Tcm>;

struct alignas(64) Wide {
  float values[16];
};

// 0..16; in the scope 64..128 and 128..144, then 64..192; after it 256..272.
constexpr void layout(Pool& pool) {
  (void)pool.allocate<std::byte>(1, "byte");
  {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<Wide>(1, "wide");
    (void)sp::tensor<float>(pool, "row", 4);
    scope.rewind();
    (void)pool.allocate<Wide>(2, "wide 2");
  }
  (void)pool.allocate<float>(4, sp::align(256), "far");
}
static_assert(sp::workspace_requirement(layout) == sp::Requirement{272, 256}, "scopes and coarse alignments");
static_assert(sp::workspace_bytes(layout) == 272 + (256 - 16), "at every base of the quantum");

// A persistent block, 128 turns of one scope, and copies of what must survive.
constexpr void sweep(Pool& pool) {
  const auto kept = sp::tensor<float>(pool, "kept", 128, 128);
  for (int turn = 0; turn < 128; ++turn) {
    sp::ScratchScope scope(pool);
    sp::copy_to(pool, kept, sp::tensor<float>(pool, "new", 128, 128));
  }
}
static_assert(sp::workspace_bytes(sweep) == 2 * 65'536, "the turns of a loop share their bytes");

// Across pools: the handles of two measuring pools are told apart also where there are no addresses.
constexpr bool keeps_in_another_pool() {
  auto persistent = Pool::measuring();
  auto scoped = Pool::measuring();
  const auto kept = sp::tensor<float>(persistent, "kept", 8);
  sp::ScratchScope scope(scoped);
  const auto block = sp::tensor<float>(scoped, "block", 8);
  sp::copy_to(scoped, kept, block);
  return persistent.required_bytes() == 32 && scoped.required_bytes() == 32 && scoped.is_live(block) &&
         !scoped.is_live(kept);
}
static_assert(keeps_in_another_pool());

}  // namespace
