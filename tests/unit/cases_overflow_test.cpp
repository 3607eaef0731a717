// SPDX-License-Identifier: MIT
// Faults that other allocators had: sizes that wrapped or were cut short.
#include <scratchpad/core.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "support/catch.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::offset_in;
using Pool = sp::BumpAllocator<test::Tcm>;

namespace {
constexpr std::size_t largest = static_cast<std::size_t>(-1);
constexpr bool wide = sizeof(std::size_t) == 8;
constexpr std::size_t two_to(int exponent) { return std::size_t{1} << exponent; }
}  // namespace

TEST_CASE("a size near the end of its type does not round up to a small one", "[case-1]") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  CHECK_THROWS_AS(pool.allocate<std::byte>(largest), sp::ScratchOverflow);
  CHECK_THROWS_AS(pool.allocate<std::byte>(largest - 14), sp::ScratchOverflow);
  CHECK_THROWS_AS(pool.allocate<std::byte>(largest - 14, sp::align(64)), sp::ScratchOverflow);
  CHECK(!pool.try_allocate<std::byte>(largest - 14));
  CHECK(pool.used() == 0);
  CHECK(offset_in(memory, pool.allocate<std::byte>(16)) == 0);
  CHECK(pool.used() == 16);
}

TEST_CASE("elements times their size do not wrap to a small block", "[case-2]") {
  if (!wide) return;
  alignas(4096) std::byte memory[64];
  Pool serving(memory);
  Pool measuring = Pool::measuring();
  const bool measures = GENERATE(false, true);
  Pool& pool = measures ? measuring : serving;
  CHECK_THROWS_AS(pool.allocate<double>(two_to(61)), sp::ScratchOverflow);      // a product of 0
  CHECK_THROWS_AS(pool.allocate<double>(two_to(61) + 1), sp::ScratchOverflow);  // of 8
  CHECK_THROWS_AS(pool.allocate<double>(two_to(61) + 1, sp::align(64)), sp::ScratchOverflow);
  CHECK(!pool.try_allocate<double>(two_to(61) + 1));
  CHECK(pool.used() == 0);
}

TEST_CASE("a measured sum does not wrap", "[case-3]") {
  if (!wide) return;
  Pool pool = Pool::measuring();
  (void)pool.allocate<std::byte>(two_to(53));
  (void)pool.allocate<std::byte>(two_to(53));
  CHECK_THROWS_AS(pool.allocate<std::byte>(two_to(53)), sp::ScratchOverflow);
  CHECK(pool.required_bytes() == two_to(54));
  CHECK_THROWS_AS(sp::workspace_bytes([](Pool& p) { (void)p.allocate<std::byte>(two_to(63)); }), sp::ScratchOverflow);
}

TEST_CASE("extents do not multiply to a tensor without bytes", "[case-4]") {
  if (!wide) return;
  alignas(4096) std::byte memory[64];
  Pool serving(memory);
  Pool measuring = Pool::measuring();
  const bool measures = GENERATE(false, true);
  Pool& pool = measures ? measuring : serving;
  CHECK_THROWS_AS(sp::tensor<std::byte>(pool, two_to(32), two_to(32)), sp::ScratchOverflow);
  CHECK_THROWS_AS(sp::tensor<std::byte>(pool, two_to(60), 16), sp::ScratchOverflow);
  CHECK_THROWS_AS(sp::tensor<float>(pool, two_to(60), 16), sp::ScratchOverflow);
  CHECK(pool.used() == 0);
}

TEST_CASE("a size that a float cannot hold survives from end to end", "[case-22]") {
  // 2^30 + 16 bytes; the float nearest to it is 2^30.
  const auto layout = [](auto& pool) {
    (void)pool.template allocate<std::byte>(two_to(30));
    (void)pool.template allocate<std::byte>(16);
  };
  using Far = sp::BumpAllocator<test::Far>;
  const std::size_t need = sp::workspace_bytes<Far>(layout);
  CHECK(need == 1'073'741'840);
  void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{4096});
  Far exact(nowhere, need);
  layout(exact);
  CHECK(exact.remaining() == 0);

  const auto through_a_float = static_cast<std::size_t>(static_cast<float>(need));
  CHECK(need - through_a_float == 16);
  Far rounded(nowhere, through_a_float);
  CHECK_THROWS_AS(layout(rounded), sp::ScratchOverflow);
  CHECK(rounded.used() == 1'073'741'824);
  CHECK(rounded.remaining() == 0);
}

TEST_CASE("extents given as int do not wrap in int, and negative ones are refused", "[case-23]") {
  Pool pool = Pool::measuring();
  if (wide) {
    const auto t = sp::tensor<std::byte>(pool, 46'341, 46'341);  // more than 2^31 - 1
    CHECK(t.size() == 2'147'488'281);
    CHECK(pool.used() == 2'147'488'288);
  }
  const std::size_t before = pool.used();
  CHECK_THROWS_AS(sp::tensor<std::byte>(pool, -46'341, 46'341), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::tensor<std::byte>(pool, -46'341, -46'341), sp::ApiMisuse);
  CHECK(pool.used() == before);
}

TEST_CASE("an offset above 4 GiB is not cut to 32 bits", "[case-24]") {
  if (!wide) return;
  Pool pool = Pool::measuring();
  const auto first = pool.allocate<std::byte>(two_to(32) - 16);
  const auto second = pool.allocate<std::byte>(32);
  CHECK(offset_in(first.data(), second) == 4'294'967'280);
  CHECK(pool.required_bytes() == 4'294'967'312);  // 2^32 + 16
}
