// SPDX-License-Identifier: MIT
/// \file
/// What an example claims, checked in every build: unlike assert() it does not go away with NDEBUG.
#pragma once

#include <cstdio>
#include <type_traits>

#include <fmt/core.h>

namespace examples {

/// Counts the claims that do not hold and says which, with both values. `return checks.result();` ends main.
class Checks {
 public:
  /// \param what a sentence that is true where actual == expected
  template <class T>
  void equal(const char* what, const T& actual, const std::type_identity_t<T>& expected) {
    if (actual == expected) return;
    fmt::print(stderr, "FAILED: {}: it is {}, expected {}\n", what, actual, expected);
    ++failed_;
  }

  void holds(const char* what, bool condition) { equal(what, condition, true); }

  /// For results of floating-point arithmetic in another order.
  void near(const char* what, double actual, double expected, double tolerance) {
    const double difference = actual < expected ? expected - actual : actual - expected;
    if (difference <= tolerance) return;  // false for a NaN
    fmt::print(stderr, "FAILED: {}: it is {}, expected {} within {}\n", what, actual, expected, tolerance);
    ++failed_;
  }

  /// \param call a callable of no arguments that must leave by an Exception
  template <class Exception, class Call>
  void throws(const char* what, Call call) {
    try {
      call();
    } catch (const Exception&) {
      return;
    }
    fmt::print(stderr, "FAILED: {}: nothing was thrown\n", what);
    ++failed_;
  }

  /// What main returns: 0 if every claim held.
  int result() const { return failed_ == 0 ? 0 : 1; }

 private:
  int failed_ = 0;
};

}  // namespace examples
