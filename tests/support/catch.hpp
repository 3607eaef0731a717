// SPDX-License-Identifier: MIT
/// \file
/// Catch2, version 2 or 3. Tests use what both have: TEST_CASE, SECTION, GENERATE, TEMPLATE_TEST_CASE, STATIC_REQUIRE,
/// CHECK_THROWS_AS, CHECK_THROWS_WITH with StartsWith, StringMaker.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
