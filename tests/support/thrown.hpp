// SPDX-License-Identifier: MIT
/// \file
/// What a refused call leaves: its text, the numbers in it, and a pool that is as it was.
#pragma once

#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <scratchpad/bump_allocator.hpp>

namespace test {

/// The text of the Error that `call` throws; "(nothing was thrown)" if it returns. Other exceptions fail the test.
template <class Error, class Call>
std::string text_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

/// "" if every piece stands in `text`, a number as a whole number ("16" is not in "160"); else what is missing from what.
inline std::string missing_from(std::string_view text, std::initializer_list<std::string_view> pieces) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::string missing;
  for (std::string_view piece : pieces) {
    bool found = false;
    for (std::size_t at = text.find(piece); at != std::string_view::npos && !found; at = text.find(piece, at + 1)) {
      const std::size_t end = at + piece.size();
      const bool more_in_front = is_digit(piece.front()) && at > 0 && is_digit(text[at - 1]);
      const bool more_behind = is_digit(piece.back()) && end < text.size() && is_digit(text[end]);
      found = !more_in_front && !more_behind;
    }
    if (!found) missing.append("'").append(piece).append("' ");
  }
  if (!missing.empty()) missing.append("not in: ").append(text);
  return missing;
}

/// Every figure of a pool: two of them are equal if a call between changed nothing that can be asked for.
struct Figures {
  std::size_t used = 0;
  std::size_t peak = 0;
  std::size_t size = 0;  ///< capacity, or bytes required
  std::size_t alignment = 0;
  std::vector<std::size_t> save_points;
  scratchpad::SavePoint here;
  friend bool operator==(const Figures&, const Figures&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Figures& f) {
    return out << "used " << f.used << ", peak " << f.peak << ", size " << f.size << ", alignment " << f.alignment
               << ", depth " << f.save_points.size() << ", stamp " << f.here.stamp;
  }
};

template <class Space>
Figures figures(const scratchpad::BumpAllocator<Space>& pool) {
  const bool measuring = pool.is_measuring();
  const auto saved = pool.save_points();
  return {pool.used(),
          pool.peak(),
          measuring ? pool.required_bytes() : pool.capacity(),
          measuring ? pool.requirement().alignment : pool.quantum(),
          {saved.begin(), saved.end()},
          pool.here()};
}

/// Where a block begins, in bytes from the pool's base.
template <class T>
std::size_t offset_in(const void* base, std::span<T> block) {
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(block.data()) -
                                  static_cast<const std::byte*>(base));
}

inline bool is_aligned(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

}  // namespace test
