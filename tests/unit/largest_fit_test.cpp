// SPDX-License-Identifier: MIT
#include <scratchpad/largest_fit.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<test::Tcm>;
using Dynamic = sp::BumpAllocator<test::DynamicQuantum>;

namespace {

// n blocks of a quantum.
constexpr auto linear = [](auto n) {
  return [n](auto& pool) { (void)pool.template allocate<std::byte>(static_cast<std::size_t>(n) * 16); };
};

}  // namespace

TEST_CASE("the largest size whose bytes fit is found") {
  CHECK(sp::largest_fit<Pool>(100, 0, 50, 1, linear) == 6);
  CHECK(sp::largest_fit<Pool>(96, 0, 50, 1, linear) == 6);
  CHECK(sp::largest_fit<Pool>(95, 0, 50, 1, linear) == 5);
  CHECK(sp::largest_fit<Pool>(10'000, 0, 50, 1, linear) == 50);
  CHECK(sp::largest_fit<Pool>(16 * 17, 17, 17, 1, linear) == 17);
  CHECK(sp::largest_fit<Pool>(0, 0, 50, 1, linear) == 0);
}

TEST_CASE("nothing is found where no size fits") {
  CHECK(sp::largest_fit<Pool>(15, 1, 50, 1, linear) == std::nullopt);
  CHECK(sp::largest_fit<Pool>(16 * 17 - 1, 17, 17, 1, linear) == std::nullopt);
}

TEST_CASE("the grid begins at the upper end and leaves out what is between") {
  // 50, 43, 36, ..., 8, 1
  CHECK(sp::largest_fit<Pool>(16 * 42, 0, 50, 7, linear) == 36);
  CHECK(sp::largest_fit<Pool>(16 * 43, 0, 50, 7, linear) == 43);
  CHECK(sp::largest_fit<Pool>(16 * 7, 0, 50, 7, linear) == 1);
  CHECK(sp::largest_fit<Pool>(0, 0, 50, 7, linear) == std::nullopt);  // 0 is not on the grid
  CHECK(sp::largest_fit<Pool>(16, 1, 50, 7, linear) == 1);            // the lower end is, if it is hit
  CHECK(sp::largest_fit<Pool>(16 * 7, 2, 50, 7, linear) == std::nullopt);
  CHECK(sp::largest_fit<Pool>(16 * 50, 0, 50, 1000, linear) == 50);
  CHECK(sp::largest_fit<Pool>(16 * 49, 0, 50, 1000, linear) == std::nullopt);
}

TEST_CASE("an empty grid has no size") {
  int measured = 0;
  const auto counting = [&](int n) {
    ++measured;
    return [n](Pool& pool) { (void)pool.allocate<std::byte>(static_cast<std::size_t>(n)); };
  };
  CHECK(sp::largest_fit<Pool>(1000, 5, 4, 1, counting) == std::nullopt);
  CHECK(measured == 0);
}

TEST_CASE("sizes that do not grow with n are scanned and not bisected") {
  // 8 needs less than 7 and 9 do.
  const auto ragged = [](int n) {
    return [n](Pool& pool) { (void)pool.allocate<std::byte>(n == 8 ? 64 : static_cast<std::size_t>(n) * 100); };
  };
  CHECK(sp::largest_fit<Pool>(320, 0, 16, 1, ragged) == 8);
  CHECK(sp::largest_fit<Pool>(320, 0, 7, 1, ragged) == 3);
  CHECK(sp::largest_fit<Pool>(800, 0, 16, 1, ragged) == 8);
}

TEST_CASE("every candidate is measured once, from the largest down, until one fits") {
  std::vector<int> measured;
  const auto noting = [&](int n) {
    measured.push_back(n);
    return [n](Pool& pool) { (void)pool.allocate<std::byte>(static_cast<std::size_t>(n) * 16); };
  };
  CHECK(sp::largest_fit<Pool>(16 * 5, 0, 11, 3, noting) == 5);
  CHECK(measured == std::vector<int>{11, 8, 5});
}

TEST_CASE("an unsigned grid that reaches 0 ends there") {
  std::vector<unsigned> measured;
  const auto never = [&](unsigned n) {
    measured.push_back(n);
    return [](Pool& pool) { (void)pool.allocate<std::byte>(1000); };
  };
  CHECK(sp::largest_fit<Pool>(10, 0U, 4U, 2U, never) == std::nullopt);
  CHECK(measured == std::vector<unsigned>{4, 2, 0});
  measured.clear();
  CHECK(sp::largest_fit<Pool>(10, 1U, 4U, 2U, never) == std::nullopt);
  CHECK(measured == std::vector<unsigned>{4, 2});
  measured.clear();
  CHECK(sp::largest_fit<Pool>(10, 0U, 3U, 4'000'000'000U, never) == std::nullopt);
  CHECK(measured == std::vector<unsigned>{3});
}

TEST_CASE("a grid at the end of its type does not wrap") {
  using Limits = std::numeric_limits<std::size_t>;
  const auto never = [](auto) { return [](Pool& pool) { (void)pool.allocate<std::byte>(1000); }; };
  CHECK(sp::largest_fit<Pool>(10, Limits::max() - 1, Limits::max(), std::size_t{5}, never) == std::nullopt);
  CHECK(sp::largest_fit<Pool>(10, Limits::max() - 1, Limits::max(), std::size_t{1}, never) == std::nullopt);
  CHECK(sp::largest_fit<Pool>(10, std::uint8_t{0}, std::uint8_t{255}, std::uint8_t{200}, never) == std::nullopt);
  CHECK(sp::largest_fit<Pool>(10, std::int8_t{0}, std::int8_t{127}, std::int8_t{100}, never) == std::nullopt);
  constexpr int most = std::numeric_limits<int>::max();
  CHECK(sp::largest_fit<Pool>(10, most - 1, most, most, never) == std::nullopt);
}

TEST_CASE("a signed grid goes below 0 where its lower end lies there") {
  std::vector<int> measured;
  const auto never = [&](int n) {
    measured.push_back(n);
    return [](Pool& pool) { (void)pool.allocate<std::byte>(1000); };
  };
  CHECK(sp::largest_fit<Pool>(10, -10, 10, 5, never) == std::nullopt);
  CHECK(measured == std::vector<int>{10, 5, 0, -5, -10});
  measured.clear();
  CHECK(sp::largest_fit<Pool>(10, -10, -3, 5, never) == std::nullopt);
  CHECK(measured == std::vector<int>{-3, -8});
}

TEST_CASE("a signed grid over its whole type is walked without overflow") {
  using Limits = std::numeric_limits<int>;
  std::vector<int> measured;
  const auto never = [&](int n) {
    measured.push_back(n);
    return [](Pool& pool) { (void)pool.allocate<std::byte>(1000); };
  };
  CHECK(sp::largest_fit<Pool>(10, Limits::min(), Limits::max(), Limits::max(), never) == std::nullopt);
  CHECK(measured == std::vector<int>{Limits::max(), 0, -Limits::max()});
}

TEST_CASE("a step that is not positive is refused by number") {
  CHECK(test::missing_from(test::text_of<sp::ApiMisuse>([] { (void)sp::largest_fit<Pool>(10, 0, 5, 0, linear); }),
                           {"step", "0"})
            .empty());
  CHECK(test::missing_from(test::text_of<sp::ApiMisuse>([] { (void)sp::largest_fit<Pool>(10, 0, 5, -3, linear); }),
                           {"step", "-3"})
            .empty());
  CHECK_THROWS_AS(sp::largest_fit<Pool>(10, 0U, 5U, 0U, linear), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::largest_fit<Pool>(10, 5, 0, 0, linear), sp::ApiMisuse);  // also over an empty grid
}

TEST_CASE("a candidate that cannot be measured does not fit") {
  const auto huge_above_three = [](std::size_t n) {
    return [n](Pool& pool) { (void)pool.allocate<double>(n > 3 ? static_cast<std::size_t>(-1) / n : n); };
  };
  CHECK(sp::largest_fit<Pool>(static_cast<std::size_t>(-1), std::size_t{0}, std::size_t{9}, std::size_t{1},
                              huge_above_three) == 3);
}

TEST_CASE("what is no overflow comes through") {
  const auto broken = [](int) { return [](Pool&) { throw std::runtime_error("shape"); }; };
  CHECK_THROWS_AS(sp::largest_fit<Pool>(10, 0, 5, 1, broken), std::runtime_error);
}

TEST_CASE("the bytes that any base needs are what must fit") {
  const auto coarse = [](int n) {
    return [n](Pool& pool) { (void)pool.allocate<std::byte>(static_cast<std::size_t>(n) * 64, sp::align(64)); };
  };
  CHECK(sp::largest_fit<Pool>(64 * 5 + 48, 1, 10, 1, coarse) == 5);
  CHECK(sp::largest_fit<Pool>(64 * 5 + 47, 1, 10, 1, coarse) == 4);
}

TEST_CASE("a dynamic quantum is passed on") {
  const auto bytes = [](int n) {
    return [n](Dynamic& pool) {
      for (int i = 0; i < n; ++i) (void)pool.allocate<std::byte>(1);
    };
  };
  CHECK(sp::largest_fit<Dynamic>(512, 0, 100, 1, bytes, std::size_t{128}) == 4);
  CHECK(sp::largest_fit<Dynamic>(512, 0, 100, 1, bytes, std::size_t{16}) == 32);
}

TEST_CASE("the size has the type of the bounds") {
  STATIC_REQUIRE(
      std::is_same_v<decltype(sp::largest_fit<Pool>(1, std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{1}, linear)),
                     std::optional<std::uint8_t>>);
}

TEST_CASE("the largest fit is found at compile time") {
  STATIC_REQUIRE(sp::largest_fit<Pool>(1 << 20, 0, 1000, 16, [](int n) {
                   return [n](Pool& pool) { (void)pool.allocate<float>(static_cast<std::size_t>(n) * 1000); };
                 }) == 248);  // 1000 - 47 * 16; 248,000 floats are 992,000 bytes, 264,000 are 1,056,000
}
