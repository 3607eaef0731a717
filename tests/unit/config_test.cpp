// SPDX-License-Identifier: MIT
#include <string_view>

// What a user's build without NDEBUG sees, whatever this one defines.
#undef SCRATCHPAD_CHECKS
#undef NDEBUG
#include <scratchpad/config.hpp>
#if SCRATCHPAD_CHECKS != 1
#error "checks are on where NDEBUG is not defined"
#endif

#include <scratchpad/error.hpp>
#include <scratchpad/fwd.hpp>

#include "support/catch.hpp"
#include "support/death.hpp"

TEST_CASE("the version is three numbers") {
  STATIC_REQUIRE(SCRATCHPAD_VERSION_MAJOR >= 0);
  STATIC_REQUIRE(SCRATCHPAD_VERSION_MINOR >= 0);
  STATIC_REQUIRE(SCRATCHPAD_VERSION_PATCH >= 0);
}

TEST_CASE("host code with exceptions lives in the plain namespace") {
  STATIC_REQUIRE(SCRATCHPAD_HAS_EXCEPTIONS == 1);
  STATIC_REQUIRE(!scratchpad::detail::in_device_code);
  STATIC_REQUIRE(SCRATCHPAD_DEVICE_PASS == 0);
#define TEST_TEXT_(x) #x
#define TEST_TEXT(x) TEST_TEXT_(x)
  CHECK(std::string_view(TEST_TEXT(SCRATCHPAD_NAMESPACE)) == "scratchpad");
}

#if TEST_HAS_DEATH
TEST_CASE("a trap ends the program and asks nobody") {
  const auto death = test::death_of([] { scratchpad::detail::trap(); });
  CHECK(death.signal != 0);
  CHECK(death.message.empty());
}
#endif
