// SPDX-License-Identifier: MIT
/// \file
/// Element types of many sizes and alignments, by number, for programs that are made at random.
#pragma once

#include <cstddef>
#include <cstdint>

namespace elements {

struct Three {
  std::byte bytes[3];
};
struct TwentyFour {
  double values[3];
};
struct alignas(32) Aligned32 {
  std::byte bytes[32];
};
struct alignas(64) Aligned64 {
  std::byte bytes[192];
};
struct alignas(256) Aligned256 {
  std::byte bytes[256];
};

inline constexpr unsigned count = 9;

/// Calls `call.template operator()<T>()` with the type of this number.
template <class Call>
void with_element(unsigned number, Call call) {
  switch (number % count) {
    case 0:
      return call.template operator()<std::byte>();
    case 1:
      return call.template operator()<std::uint16_t>();
    case 2:
      return call.template operator()<Three>();
    case 3:
      return call.template operator()<float>();
    case 4:
      return call.template operator()<double>();
    case 5:
      return call.template operator()<TwentyFour>();
    case 6:
      return call.template operator()<Aligned32>();
    case 7:
      return call.template operator()<Aligned64>();
    default:
      return call.template operator()<Aligned256>();
  }
}

inline const char* name(unsigned number) {
  constexpr const char* names[count] = {"byte",       "uint16_t",  "Three",     "float",     "double",
                                        "TwentyFour", "Aligned32", "Aligned64", "Aligned256"};
  return names[number % count];
}

}  // namespace elements
