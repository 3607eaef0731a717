// SPDX-License-Identifier: MIT
// The arithmetic, value by value. All expected numbers are worked out by hand; U is 8 bits wide wherever an edge of the
// type matters, because there it is near enough to be seen.
#include <scratchpad/bump.hpp>

#include <cstddef>
#include <cstdint>

#include "support/catch.hpp"

namespace bump = scratchpad::bump;

namespace {
using U8 = std::uint8_t;
constexpr std::size_t largest = static_cast<std::size_t>(-1);

constexpr bool same(bump::Placement<U8> at, U8 start, U8 end) { return at.fits && at.start == start && at.end == end; }
}  // namespace

TEST_CASE("powers of two are 1, 2, 4 and so on, and not 0") {
  STATIC_REQUIRE(bump::is_power_of_two<std::size_t>(1));
  STATIC_REQUIRE(bump::is_power_of_two<std::size_t>(2));
  STATIC_REQUIRE(bump::is_power_of_two(std::size_t{1} << 63));
  STATIC_REQUIRE(!bump::is_power_of_two<std::size_t>(0));
  STATIC_REQUIRE(!bump::is_power_of_two<std::size_t>(3));
  STATIC_REQUIRE(!bump::is_power_of_two<std::size_t>(24));
  STATIC_REQUIRE(!bump::is_power_of_two((std::size_t{1} << 63) + 1));
  STATIC_REQUIRE(!bump::is_power_of_two(largest));
}

TEST_CASE("rounding keeps multiples and moves everything else to the next one") {
  STATIC_REQUIRE(bump::round_down<U8>(0, 16) == 0);
  STATIC_REQUIRE(bump::round_down<U8>(15, 16) == 0);
  STATIC_REQUIRE(bump::round_down<U8>(16, 16) == 16);
  STATIC_REQUIRE(bump::round_down<U8>(255, 16) == 240);
  STATIC_REQUIRE(bump::round_down<U8>(255, 1) == 255);
  STATIC_REQUIRE(bump::round_up<U8>(0, 16) == 0);
  STATIC_REQUIRE(bump::round_up<U8>(1, 16) == 16);
  STATIC_REQUIRE(bump::round_up<U8>(16, 16) == 16);
  STATIC_REQUIRE(bump::round_up<U8>(17, 16) == 32);
  STATIC_REQUIRE(bump::round_up<U8>(240, 16) == 240);
  STATIC_REQUIRE(bump::round_up<U8>(255, 1) == 255);
}

TEST_CASE("padding reaches the next multiple, also from the last addresses there are") {
  STATIC_REQUIRE(bump::padding<U8>(0, 64) == 0);
  STATIC_REQUIRE(bump::padding<U8>(64, 64) == 0);
  STATIC_REQUIRE(bump::padding<U8>(80, 64) == 48);
  STATIC_REQUIRE(bump::padding<U8>(127, 128) == 1);
  STATIC_REQUIRE(bump::padding<U8>(240, 128) == 16);  // to 256, which is 0 in 8 bits
  STATIC_REQUIRE(bump::padding<std::size_t>(largest - 15, 64) == 16);
}

TEST_CASE("fits divides what is left and multiplies nothing") {
  STATIC_REQUIRE(bump::fits<U8>(16, 64, 6, 8));
  STATIC_REQUIRE(!bump::fits<U8>(16, 64, 7, 8));
  STATIC_REQUIRE(bump::fits<U8>(64, 64, 0, 8));
  STATIC_REQUIRE(!bump::fits<U8>(64, 64, 1, 1));
  STATIC_REQUIRE(!bump::fits<U8>(0, 240, 32, 8));   // 256 bytes, a product of 0
  STATIC_REQUIRE(!bump::fits<U8>(16, 240, 33, 8));  // 264 bytes, a product of 8
  STATIC_REQUIRE(bump::fits<U8>(0, 16, 1, 11));
  STATIC_REQUIRE(!bump::fits<U8>(0, 16, 2, 11));
  STATIC_REQUIRE(!bump::fits<std::size_t>(0, 64, largest / 8 + 1, 8));
  STATIC_REQUIRE(!bump::fits<std::size_t>(0, 64, largest, 1));
}

TEST_CASE("a block takes its bytes rounded up to the quantum") {
  STATIC_REQUIRE(bump::reserved_bytes<U8>(0, 8, 16) == 0);
  STATIC_REQUIRE(bump::reserved_bytes<U8>(1, 1, 16) == 16);
  STATIC_REQUIRE(bump::reserved_bytes<U8>(2, 8, 16) == 16);
  STATIC_REQUIRE(bump::reserved_bytes<U8>(5, 4, 16) == 32);
  STATIC_REQUIRE(bump::reserved_bytes<U8>(239, 1, 16) == 240);
  STATIC_REQUIRE(bump::reserved_bytes<std::size_t>(3, 5, 1) == 15);
}

TEST_CASE("a placement is padded by address and not by offset") {
  STATIC_REQUIRE(same(bump::place<U8>(0, 16, 128, 5, 4, 16, 16), 16, 48));
  STATIC_REQUIRE(same(bump::place<U8>(0, 16, 128, 5, 4, 64, 16), 64, 96));
  STATIC_REQUIRE(same(bump::place<U8>(48, 16, 128, 5, 4, 64, 16), 16, 48));  // 48 + 16 is 64 already
  STATIC_REQUIRE(same(bump::place<U8>(16, 0, 128, 5, 4, 64, 16), 48, 80));
  STATIC_REQUIRE(same(bump::place<U8>(240, 0, 128, 4, 4, 128, 16), 16, 32));  // the address runs past 256
}

TEST_CASE("a placement that ends at the limit fits and one element more does not") {
  STATIC_REQUIRE(same(bump::place<U8>(0, 32, 128, 96, 1, 16, 16), 32, 128));
  STATIC_REQUIRE(!bump::place<U8>(0, 32, 128, 97, 1, 16, 16).fits);
  STATIC_REQUIRE(same(bump::place<U8>(0, 32, 128, 64, 1, 64, 16), 64, 128));
  STATIC_REQUIRE(!bump::place<U8>(0, 32, 128, 65, 1, 64, 16).fits);
}

TEST_CASE("a placement whose padding alone reaches past the limit does not fit") {
  STATIC_REQUIRE(!bump::place<U8>(0, 80, 96, 1, 1, 64, 16).fits);  // 48 of padding, 16 left: 96 - 128 would wrap
  STATIC_REQUIRE(!bump::place<U8>(0, 16, 112, 1, 1, 128, 16).fits);
  STATIC_REQUIRE(!bump::place<U8>(0, 64, 128, 1, 1, 128, 16).fits);  // padding takes exactly what is left
}

TEST_CASE("a saturated sum or product is the largest number and never a wrapped one") {
  STATIC_REQUIRE(bump::saturating_product<U8>(15, 17) == 255);  // exactly the largest
  STATIC_REQUIRE(bump::saturating_product<U8>(16, 16) == 255);  // 256
  STATIC_REQUIRE(bump::saturating_product<U8>(3, 86) == 255);   // 258, would wrap to 2
  STATIC_REQUIRE(bump::saturating_product<U8>(7, 9) == 63);
  STATIC_REQUIRE(bump::saturating_product<U8>(0, 200) == 0);
  STATIC_REQUIRE(bump::saturating_product<U8>(200, 0) == 0);
  STATIC_REQUIRE(bump::saturating_product(std::size_t{1} << 32, std::size_t{1} << 32) == largest);
  STATIC_REQUIRE(bump::saturating_sum<U8>(200, 55) == 255);
  STATIC_REQUIRE(bump::saturating_sum<U8>(200, 56) == 255);  // 256
  STATIC_REQUIRE(bump::saturating_sum<U8>(200, 100) == 255);
  STATIC_REQUIRE(bump::saturating_sum<U8>(1, 2) == 3);
  STATIC_REQUIRE(bump::saturating_round_up<U8>(239, 16) == 240);
  STATIC_REQUIRE(bump::saturating_round_up<U8>(241, 16) == 255);  // 256
  STATIC_REQUIRE(bump::saturating_round_up<U8>(255, 16) == 255);
  STATIC_REQUIRE(bump::saturating_round_up<U8>(0, 16) == 0);
}

TEST_CASE("any base of the quantum costs at most the coarsest alignment less one quantum") {
  STATIC_REQUIRE(bump::required_bytes<std::size_t>(1024, 16, 16) == 1024);
  STATIC_REQUIRE(bump::required_bytes<std::size_t>(1024, 32, 16) == 1040);
  STATIC_REQUIRE(bump::required_bytes<std::size_t>(128, 4096, 64) == 4160);  // 128 + 4032
  STATIC_REQUIRE(bump::required_bytes<std::size_t>(0, 16, 16) == 0);
}
