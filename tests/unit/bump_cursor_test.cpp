// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>

#include <scratchpad/bump_cursor.hpp>
#include <support/catch.hpp>
#include <support/spaces.hpp>

namespace sp = scratchpad;
using Cursor = sp::detail::BumpCursor<test::Tcm>;

namespace {
struct alignas(64) Wide {
  std::byte bytes[64];
};
alignas(64) std::byte memory[256];
}  // namespace

TEST_CASE("a serving cursor hits up to its capacity, which is rounded down") {
  Cursor cursor(memory, 100, 16);
  CHECK(cursor.capacity() == 96);
  CHECK(cursor.hits<float>(24));
  CHECK_FALSE(cursor.hits<float>(25));
  const auto block = cursor.take<float>(5);
  CHECK(static_cast<void*>(block.data()) == memory);
  CHECK(block.size() == 5);
  CHECK(cursor.used() == 32);
  CHECK(cursor.hits<float>(16));
  CHECK_FALSE(cursor.hits<float>(17));
}

TEST_CASE("what is aligned above the quantum never hits, and is found by address") {
  Cursor cursor(memory + 16, 200, 16);  // capacity 192
  CHECK_FALSE(cursor.hits<Wide>(1));
  const auto at = cursor.find(1, 64, 64);
  CHECK(at.fits);
  CHECK(at.start == 48);  // 16 + 48 is 64
  CHECK(at.end == 112);
  CHECK(cursor.used() == 0);  // looking takes nothing
  cursor.take(at, 64);
  CHECK(cursor.used() == 112);
  CHECK(cursor.find(1, 64, 64).start == 112);  // 16 + 112 is 128, so there is no padding, and 176 is within 192
  CHECK_FALSE(cursor.find(2, 64, 64).fits);
}

TEST_CASE("a measuring or watched cursor misses every request but the empty one, and still counts") {
  Cursor measuring(16);
  CHECK(measuring.is_measuring());
  CHECK_FALSE(measuring.hits<std::byte>(1));
  CHECK(measuring.hits<std::byte>(0));
  measuring.take(measuring.find(3, 64, 64), 64);
  CHECK_FALSE(measuring.hits<std::byte>(1));
  CHECK(measuring.requirement() == sp::Requirement{192, 64});

  Cursor watched(memory, 256, 16);
  watched.set_watched(true);
  CHECK_FALSE(watched.hits<std::byte>(1));
  watched.take(watched.find(1, 1, 16), 16);
  CHECK_FALSE(watched.hits<std::byte>(1));
  watched.fall_to<true>(0);
  CHECK_FALSE(watched.hits<std::byte>(1));
  watched.set_watched(false);
  CHECK(watched.hits<std::byte>(256));
}

TEST_CASE("falling back samples the peak") {
  Cursor cursor(memory, 256, 16);
  (void)cursor.take<std::byte>(100);
  cursor.fall_to<false>(16);
  CHECK(cursor.used() == 16);
  CHECK(cursor.peak() == 112);
  cursor.fall_to<false>(0);
  CHECK(cursor.peak() == 112);
  cursor.forget_figures();
  CHECK(cursor.peak() == 0);
}

TEST_CASE("the region that is measured in has no usable address and is larger than any memory") {
  if constexpr (sizeof(std::size_t) == 8) {
    const Cursor cursor(16);
    CHECK(cursor.capacity() == std::size_t{1} << 54);
    const auto base = reinterpret_cast<std::uintptr_t>(cursor.base());
    // Bits 63 and 55 are set and 62 to 56 are not: neither a user's address nor one that is, once the top byte is ignored.
    CHECK((base >> 55) == 0x101U);
    CHECK(base % (std::uintptr_t{1} << 54) == 0);
  }
}
