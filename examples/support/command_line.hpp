// SPDX-License-Identifier: MIT
/// \file
/// What the examples' command lines share: arguments one by one, numbers that are checked, figures that can be read.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace command_line {

/// The user's mistake: one line for stderr. The program ends with status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Ends up on one line whatever it is.
inline std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return result + "'";
}

/// 1234567 -> "1,234,567"
inline std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

/// 1, "tile" -> "1 tile"; 2,000, "tile" -> "2,000 tiles"
inline std::string counted(std::uint64_t number, std::string_view noun) {
  return grouped(number).append(" ").append(noun).append(number == 1 ? "" : "s");
}

/// argv, one at a time. `--option value` and `--option=value` are the same.
class Arguments {
 public:
  Arguments(int argc, char** argv) : rest_(argv, static_cast<std::size_t>(argc)) {
    rest_ = rest_.subspan(rest_.empty() ? 0 : 1);
  }

  bool empty() const { return rest_.empty(); }

  /// The next argument; of `--option=value` the part in front of the sign.
  std::string_view next() {
    current_ = rest_.front();
    rest_ = rest_.subspan(1);
    const std::size_t sign = current_.starts_with("--") ? current_.find('=') : std::string_view::npos;
    has_value_ = sign != std::string_view::npos;
    if (has_value_) {
      value_ = current_.substr(sign + 1);
      current_ = current_.substr(0, sign);
    }
    return current_;
  }

  /// The value of the option that `next` returned last.
  std::string_view value() {
    if (has_value_) return value_;
    if (rest_.empty()) throw UsageError(fmt::format("{} needs a value", current_));
    const std::string_view value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }

  /// For an option that takes none.
  void no_value() const {
    if (has_value_) throw UsageError(fmt::format("{} takes no value", current_));
  }

 private:
  std::span<char*> rest_;
  std::string_view current_;
  std::string_view value_;
  bool has_value_ = false;
};

/// A whole number in [1, max], or an error that says so. \param what the option, or the part of it
inline std::size_t count(std::string_view what, std::string_view text, std::size_t max) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0 || number > max) {
    throw UsageError(fmt::format("{}: {} is not a whole number from 1 to {}", what, quoted(text), grouped(max)));
  }
  return number;
}

/// A number of bytes in [1, max]; K, M and G stand for 1,024 and its powers.
inline std::size_t bytes(std::string_view what, std::string_view text, std::size_t max) {
  constexpr std::string_view suffixes = "KMG";
  const std::size_t suffix = text.empty() ? std::string_view::npos : suffixes.find(text.back());
  const unsigned shift = suffix == std::string_view::npos ? 0 : 10 * (static_cast<unsigned>(suffix) + 1);
  try {
    return count(what, shift == 0 ? text : text.substr(0, text.size() - 1), max >> shift) << shift;
  } catch (const UsageError&) {
    throw UsageError(fmt::format("{}: {} is not a number of bytes from 1 to {} (K, M and G may follow it)", what,
                                 quoted(text), grouped(max)));
  }
}

}  // namespace command_line
