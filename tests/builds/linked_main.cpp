// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "linked.hpp"

namespace {

using namespace linked;

int failures = 0;

void expect(bool holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  std::printf("linked_main.cpp:%d: not so: %s\n", line, what);
}
#define EXPECT(...) expect(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __LINE__)

void sizes_are_the_same() {
  const auto a = unit_a::sizes();
  const auto b = unit_b::sizes();
  EXPECT(a.size() == b.size() && !a.empty());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].value == b[i].value && std::string_view(a[i].name) == b[i].name) continue;
    ++failures;
    std::printf("%s: %zu in one unit, %zu in the other\n", a[i].name, a[i].value, b[i].value);
  }
}

// By hand: 13 bytes take 16. 25 floats take 112: 128. Back to 16. The next multiple of 64 is 64, one byte takes 16: 80.
// 24 bytes take 32. At a base that 64 divides, which Memory has.
const std::vector<std::size_t> expected = {16, 128, 16, 80, 128, 16, 80, 48, 16, 128};

void pools_cross() {
  EXPECT(unit_a::lend_pool(unit_a::carve) == expected);
  EXPECT(unit_a::lend_pool(unit_b::carve) == expected);
  EXPECT(unit_b::lend_pool(unit_a::carve) == expected);
  EXPECT(unit_b::lend_pool(unit_b::carve) == expected);
  // 128 at a base that 64 divides, 64 - 16 more elsewhere.
  EXPECT(unit_a::measure() == 176 && unit_b::measure() == 176);
}

void each_watches_its_own() { EXPECT(unit_a::watched_as_built() && unit_b::watched_as_built()); }

void tensors_cross() {
  static Memory memory;
  Pool pool(memory.bytes);
  const auto from_a = unit_a::make(pool);
  const auto from_b = unit_b::make(pool);
  EXPECT(unit_b::sum(pool, from_a) == 6.0F && unit_a::sum(pool, from_b) == 6.0F);
  from_a(2, 3) = 1.5F;
  unit_b::copy(pool, from_b, from_a);
  EXPECT(unit_a::sum(pool, from_b) == 7.0F);
  Floats stale;
  {
    sp::ScratchScope scope(pool);
    stale = unit_b::make(pool);
  }
  EXPECT(unit_a::sum(pool, stale) == -1.0F);
}

void leases_cross() {
  Stream stream;
  Arena arena(stream);
  // 1,000 bytes are a capacity of 992, of which 5 bytes take 16.
  EXPECT(unit_b::use(unit_a::lend(arena)) == 976);
  EXPECT(unit_a::use(unit_b::lend(arena)) == 976);
  EXPECT(arena.statistics().live == 0 && arena.statistics().used == 0 && arena.statistics().blocks == 1);
}

void what_one_throws_the_other_catches() {
  for (int kind = 0; kind < 4; ++kind) {
    EXPECT(unit_a::catches(unit_a::fail, kind));
    EXPECT(unit_a::catches(unit_b::fail, kind));
    EXPECT(unit_b::catches(unit_a::fail, kind));
    EXPECT(unit_b::catches(unit_b::fail, kind));
  }
}

}  // namespace

int main() {
  std::printf("unit a: %s; unit b: %s\n", unit_a::switches(), unit_b::switches());
  sizes_are_the_same();
  pools_cross();
  each_watches_its_own();
  tensors_cross();
  leases_cross();
  what_one_throws_the_other_catches();
  return failures == 0 ? 0 : 1;
}
