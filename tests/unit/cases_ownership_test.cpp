// SPDX-License-Identifier: MIT
// Faults that other libraries had: two owners, two threads, two views of the same bytes.
#include <scratchpad/core.hpp>

#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::missing_from;
using test::text_of;
using Pool = sp::BumpAllocator<test::Tcm>;

// For a thread sanitizer: an address that both threads write would be a shared mutable static.
TEST_CASE("two threads with a pool each share nothing", "[case-16]") {
  std::size_t used[2] = {1, 1};
  bool fine[2] = {false, false};
  const auto work = [&](int i) {
    Pool empty(nullptr, 0);
    bool ok = true;
    for (int round = 0; round < 100'000; ++round) {
      ok = ok && empty.allocate<float>(0).empty();
      ok = ok && empty.try_allocate<double>(0).has_value();
    }
    // The rest of what a thread does with a pool of its own: scopes, errors, measuring.
    alignas(64) std::byte memory[256];
    Pool pool(memory);
    for (int round = 0; round < 1000; ++round) {
      sp::ScratchScope scope(pool);
      const auto t = sp::tensor<int>(pool, 4, 4);
      t(3, 3) = round;
      ok = ok && pool.is_live(t);
    }
    try {
      (void)pool.allocate<std::byte>(257);
      ok = false;
    } catch (const sp::ScratchOverflow& error) {
      ok = ok && error.overflow().missing == 16;
    }
    ok = ok && sp::workspace_bytes([](Pool& p) { (void)p.allocate<std::byte>(1); }) == 16;
    used[i] = empty.used();
    fine[i] = ok;
  };
  std::thread a(work, 0);
  std::thread b(work, 1);
  a.join();
  b.join();
  CHECK((used[0] == 0 && used[1] == 0));
  CHECK((fine[0] && fine[1]));
}

TEST_CASE("a scope cannot be copied, moved or assigned", "[case-33]") {
  const auto fence = [] {};
  using Scope = sp::ScratchScope<test::Tcm>;
  using Fenced = sp::ScratchScope<test::Tcm, decltype(fence)>;
  STATIC_REQUIRE(!std::is_copy_constructible_v<Scope>);
  STATIC_REQUIRE(!std::is_move_constructible_v<Scope>);
  STATIC_REQUIRE(!std::is_copy_assignable_v<Scope>);
  STATIC_REQUIRE(!std::is_move_assignable_v<Scope>);
  STATIC_REQUIRE(!std::is_copy_constructible_v<Fenced>);
  STATIC_REQUIRE(!std::is_move_constructible_v<Fenced>);
  STATIC_REQUIRE(!std::is_copy_assignable_v<Fenced>);
  STATIC_REQUIRE(!std::is_move_assignable_v<Fenced>);
  STATIC_REQUIRE(!std::is_convertible_v<Pool&, Scope>);
}

// That it is refused with a readable message is tests/fail/allocate_string.fail.cpp.
TEST_CASE("what needs a destructor or a constructor is no element of a block", "[case-45]") {
  STATIC_REQUIRE(!sp::ScratchElement<std::string>);
  STATIC_REQUIRE(!sp::ScratchElement<std::vector<float>>);
  STATIC_REQUIRE(sp::ScratchElement<float>);
}

TEST_CASE("views that overlap in part are refused, and their bytes are as they were", "[case-52]") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  using Vector = sp::Tensor<int, 1, test::Tcm>;
  const auto all = sp::tensor<int>(pool, 12);
  std::iota(all.span().begin(), all.span().end(), 0);
  const Vector low(all.data(), {8}, all.birth());
  const Vector high(all.data() + 4, {8}, all.birth());
  const Vector one_further(all.data() + 1, {8}, all.birth());
  const Vector touching_in_one(all.data() + 7, {5}, all.birth());
  const Vector first_five(all.data() + 3, {5}, all.birth());

  const std::string text = text_of<sp::ApiMisuse>([&] { sp::copy_to(pool, low, high); });
  const auto address = [](const void* p) { return std::string(sp::detail::Message(sp::detail::Address{p}).c_str()); };
  CHECK(missing_from(text, {address(low.data()), address(high.data()), "overlap", "32 bytes"}).empty());
  CHECK_THROWS_AS(sp::copy_to(pool, high, low), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::copy_to(pool, low, one_further), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::copy_to(pool, touching_in_one, first_five), sp::ApiMisuse);
  for (int i = 0; i < 12; ++i) CHECK(all(i) == i);
}
