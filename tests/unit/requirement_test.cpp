// SPDX-License-Identifier: MIT
#include <scratchpad/requirement.hpp>

#include <cstddef>
#include <type_traits>

#include "support/catch.hpp"

namespace sp = scratchpad;

TEST_CASE("two requirements are equal if both numbers are") {
  STATIC_REQUIRE(sp::Requirement{1024, 32} == sp::Requirement{1024, 32});
  STATIC_REQUIRE(sp::Requirement{1024, 32} != sp::Requirement{1024, 16});
  STATIC_REQUIRE(sp::Requirement{1024, 32} != sp::Requirement{1040, 32});
}

TEST_CASE("a requirement of nothing is met by every address") {
  STATIC_REQUIRE(sp::Requirement{} == sp::Requirement{0, 1});
}

TEST_CASE("an alignment carries its bytes and is made by name only") {
  STATIC_REQUIRE(sp::align(64).bytes == 64);
  // Else allocate<T>(n, 64) would take the 64 for one.
  STATIC_REQUIRE(!std::is_convertible_v<std::size_t, sp::Alignment>);
}
