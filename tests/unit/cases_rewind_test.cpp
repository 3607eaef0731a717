// SPDX-License-Identifier: MIT
// Faults that other arenas had: what is given back, when, and where the next block then lies.
#include <scratchpad/core.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::offset_in;
using Pool = sp::BumpAllocator<test::Tcm>;

TEST_CASE("a scope leaves exactly what it found, a thousand times over", "[case-25]") {
  alignas(4096) std::byte memory[512];
  Pool pool(memory);
  (void)pool.allocate<char>(3);
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::size_t before = pool.used();
    {
      sp::ScratchScope scope(pool);
      (void)pool.allocate<char>(i % 100);
      (void)pool.allocate<double>(i % 7, sp::align(64));
    }
    CHECK(pool.used() == before);
  }
  CHECK(pool.used() == 16);
}

TEST_CASE("continue, break and return leave a scope as its end does", "[case-27]") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(16);
  const auto leave = [&](int how) {
    for (int i = 0; i < 2; ++i) {
      sp::ScratchScope scope(pool);
      (void)pool.allocate<std::byte>(32);
      if (how == 0) continue;
      (void)pool.allocate<std::byte>(16);
      if (how == 1) break;
      (void)pool.allocate<std::byte>(16);
      return;
    }
  };
  const int how = GENERATE(0, 1, 2);
  leave(how);
  CHECK(pool.used() == 16);
  CHECK(pool.depth() == 0);
  CHECK(pool.peak() == 48 + 16 * static_cast<std::size_t>(how));
}

TEST_CASE("ten thousand rounds use the same bytes and no others", "[case-29]") {
  alignas(4096) std::byte memory[16 + 160 + 16];
  memory[15] = memory[176] = std::byte{0xab};
  Pool pool(memory + 16, 160);
  const std::byte* const first = memory + 16;
  bool same = true;
  for (int i = 0; i < 10'000; ++i) {
    sp::ScratchScope scope(pool);
    const auto all = pool.allocate<std::byte>(160);
    same = same && all.data() == first;
    all.front() = all.back() = static_cast<std::byte>(i);
  }
  CHECK(same);
  CHECK(memory[15] == std::byte{0xab});
  CHECK(memory[176] == std::byte{0xab});
}

TEST_CASE("a reset gives back everything, twice is a no-op, and an open save-point refuses it", "[case-30]") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(64);
  pool.reset();
  CHECK(pool.used() == 0);
  CHECK(pool.remaining() == 64);
  CHECK(pool.peak() == 0);
  pool.reset();
  CHECK(pool.remaining() == 64);
  CHECK(offset_in(memory, pool.allocate<std::byte>(64)) == 0);

  {
    sp::ScratchScope scope(pool);
    CHECK_THROWS_AS(pool.reset(), sp::ApiMisuse);
    CHECK(pool.used() == 64);
    CHECK(pool.depth() == 1);
  }
  pool.reset();
  CHECK(pool.used() == 0);
}

TEST_CASE("after a rewind a larger block starts where the smaller one did", "[case-31]") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(1);
  auto at = pool.save();
  const std::size_t first = offset_in(memory, pool.allocate<std::byte>(100));
  pool.rewind(at);
  at = pool.save();
  CHECK(first == 16);
  CHECK(offset_in(memory, pool.allocate<std::byte>(200)) == 16);
  pool.rewind(at);
}

TEST_CASE("a throw between allocation and use leaves what the scope found", "[case-46]") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(16);
  const auto before = test::figures(pool);
  const auto use = [](const sp::Tensor<float, 1, test::Tcm>&) { throw std::runtime_error("launch failed"); };
  CHECK_THROWS_AS(
      [&] {
        sp::ScratchScope scope(pool);
        use(sp::tensor<float>(pool, 16));
      }(),
      std::runtime_error);
  CHECK(pool.used() == before.used);
  CHECK(pool.depth() == 0);
  CHECK(pool.here() == before.here);
  CHECK(pool.peak() == 80);
}
