// SPDX-License-Identifier: MIT
/// \file
/// Constant expressions as test results: what is not constant fails a test instead of the build.
#pragma once

namespace test {

namespace detail {
template <class Call, bool Result = Call{}()>
constexpr bool constant_result(int) {
  return Result;
}
template <class Call>
constexpr bool constant_result(...) {
  return false;
}
}  // namespace detail

/// Whether a lambda without captures can be called in a constant expression and then returns true.
template <class Call>
constexpr bool is_constant_and_true(Call) {
  return detail::constant_result<Call>(0);
}

}  // namespace test
