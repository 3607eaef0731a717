// SPDX-License-Identifier: MIT
// The arithmetic of a bump in a range so small that every case can be tried, against the same rules in 64-bit integers
// that nothing here comes near to wrapping.
//
// Built-in 8-bit integers are not enough for this: the language computes `a + b` of two of them as int, so a sum that
// would wrap at 64 bits does not at 8. `Wrapping<Bits>` wraps after every single operation, as size_t does.
#include <cstdint>

#include <scratchpad/bump.hpp>

#include "support/catch.hpp"

namespace bump = scratchpad::bump;

namespace {

using Wide = std::int64_t;

template <unsigned Bits>
class Wrapping {
 public:
  static constexpr unsigned mask = (1u << Bits) - 1;
  Wrapping() = default;
  constexpr Wrapping(int value) : value_(static_cast<unsigned>(value) & mask) {}  // implicit, as for a built-in
  constexpr explicit operator Wide() const { return value_; }

  friend constexpr Wrapping operator+(Wrapping a, Wrapping b) { return from(a.value_ + b.value_); }
  friend constexpr Wrapping operator-(Wrapping a, Wrapping b) { return from(a.value_ - b.value_); }
  friend constexpr Wrapping operator*(Wrapping a, Wrapping b) { return from(a.value_ * b.value_); }
  friend constexpr Wrapping operator/(Wrapping a, Wrapping b) { return from(a.value_ / b.value_); }
  friend constexpr Wrapping operator&(Wrapping a, Wrapping b) { return from(a.value_ & b.value_); }
  friend constexpr Wrapping operator~(Wrapping a) { return from(~a.value_); }
  friend constexpr bool operator==(Wrapping, Wrapping) = default;
  friend constexpr auto operator<=>(Wrapping, Wrapping) = default;

 private:
  static constexpr Wrapping from(unsigned value) {
    Wrapping result;
    result.value_ = value & mask;
    return result;
  }
  unsigned value_ = 0;
};

template <class U>
constexpr unsigned bits_of = 8;
template <unsigned Bits>
constexpr unsigned bits_of<Wrapping<Bits>> = Bits;

// 2^bits: one more than the largest number.
template <class U>
constexpr Wide range_of = Wide{1} << bits_of<U>;

template <class U>
constexpr U narrow(Wide value) {
  return static_cast<U>(static_cast<int>(value));
}

struct Tally {
  std::uint64_t cases = 0;
  std::uint64_t wrong = 0;
  Wide first_wrong[6] = {};  // base, cursor, limit, count, size, alignment of the first one

  void note(bool right, Wide a = 0, Wide b = 0, Wide c = 0, Wide d = 0, Wide e = 0, Wide f = 0) {
    ++cases;
    if (!right && wrong++ == 0) {
      const Wide values[6] = {a, b, c, d, e, f};
      for (int i = 0; i < 6; ++i) first_wrong[i] = values[i];
    }
  }
};

// `cases`: how many there are, counted apart from the loops.
void require_none_wrong(const Tally& tally, std::uint64_t cases) {
  CAPTURE(tally.first_wrong[0], tally.first_wrong[1], tally.first_wrong[2], tally.first_wrong[3], tally.first_wrong[4],
          tally.first_wrong[5]);
  CHECK(tally.wrong == 0);
  CHECK(tally.cases == cases);
}

Wide next_multiple(Wide from, Wide of) {
  while (from % of != 0) ++from;
  return from;
}

// One placement, all its words checked: it fits exactly if the bytes, rounded up to the quantum, lie between the first
// aligned address and the limit.
template <class U>
bool placed_right(Wide base, Wide cursor, Wide limit, Wide count, Wide size, Wide alignment, Wide quantum, Wide start,
                  Wide rounded) {
  const auto at = bump::place(narrow<U>(base), narrow<U>(cursor), narrow<U>(limit), narrow<U>(count), narrow<U>(size),
                              narrow<U>(alignment), narrow<U>(quantum));
  const bool fits = start + rounded <= limit;
  if (at.fits != fits) return false;
  return !fits || (static_cast<Wide>(at.start) == start && static_cast<Wide>(at.end) == start + rounded);
}

// Every count of every size, at one place.
template <class U>
void place_every_request(Tally& tally, Wide base, Wide cursor, Wide limit, Wide alignment, Wide quantum) {
  const Wide start = next_multiple(base + cursor, alignment) - base;
  for (Wide size = 1; size < range_of<U>; ++size) {
    Wide rounded = 0;
    for (Wide count = 0; count < range_of<U>; ++count) {
      while (rounded < count * size) rounded += quantum;
      tally.note(placed_right<U>(base, cursor, limit, count, size, alignment, quantum, start, rounded), base, cursor,
                 limit, count, size, alignment);
    }
  }
}

// At one place, the sizes 1, 3, quantum, the largest, and of each size the counts around the largest that fits.
template <class U>
void place_requests_at_the_edge(Tally& tally, Wide base, Wide cursor, Wide limit, Wide alignment, Wide quantum) {
  const Wide start = next_multiple(base + cursor, alignment) - base;
  const Wide last = range_of<U> - 1;
  const auto one = [&](Wide count, Wide size) {
    const Wide rounded = next_multiple(count * size, quantum);
    tally.note(placed_right<U>(base, cursor, limit, count, size, alignment, quantum, start, rounded), base, cursor,
               limit, count, size, alignment);
  };
  const Wide room = limit > start ? limit - start : 0;
  one(0, 1);
  one(room, 1);
  if (room < last) one(room + 1, 1);
  one(last, 1);
  one(room / 3, 3);
  one(room / 3 + 1, 3);
  one(1, last);
  one(last, last);
}

// Calls `call(base, cursor, limit)` for every pool within the address range and every cursor in it: multiples of the
// quantum. The last byte of the range may belong to the pool, so `base + limit` may be one more than the largest address.
template <class U, class Call>
void for_every_place(Wide quantum, Call call) {
  for (Wide base = 0; base < range_of<U>; base += quantum) {
    for (Wide limit = 0; base + limit <= range_of<U> && limit < range_of<U>; limit += quantum) {
      for (Wide cursor = 0; cursor <= limit; cursor += quantum) call(base, cursor, limit);
    }
  }
}

using Wrapping5 = Wrapping<5>;
using Wrapping8 = Wrapping<8>;

}  // namespace

TEST_CASE("the type that wraps, wraps", "[bump]") {
  CHECK(static_cast<Wide>(Wrapping8(200) + Wrapping8(100)) == 44);
  CHECK(static_cast<Wide>(Wrapping8(1) - Wrapping8(2)) == 255);
  CHECK(static_cast<Wide>(Wrapping8(16) * Wrapping8(17)) == 16);
  CHECK(static_cast<Wide>(~Wrapping5(0)) == 31);
  // What a built-in hides: this sum is right as int, and wrong in any type that wraps.
  const std::uint8_t a = 200, b = 100;
  CHECK(a + b == 300);
  CHECK(Wrapping8(200) + Wrapping8(100) < Wrapping8(200));
}

TEMPLATE_TEST_CASE("rounding, padding and powers of two are right for every number", "[bump]", std::uint8_t,
                   Wrapping8) {
  using U = TestType;
  Tally tally;
  for (Wide n = 0; n < 256; ++n) {
    const bool power = n == 1 || n == 2 || n == 4 || n == 8 || n == 16 || n == 32 || n == 64 || n == 128;
    tally.note(bump::is_power_of_two(narrow<U>(n)) == power, n);
  }
  for (Wide quantum = 1; quantum <= 128; quantum *= 2) {
    for (Wide n = 0; n < 256; ++n) {
      Wide below = n;
      while (below % quantum != 0) --below;
      const Wide above = next_multiple(n, quantum);
      tally.note(static_cast<Wide>(bump::round_down(narrow<U>(n), narrow<U>(quantum))) == below, n, quantum, 1);
      // 256 is a multiple too, but not a number here: round_up is not for such n, saturating_round_up is.
      if (above < 256) {
        tally.note(static_cast<Wide>(bump::round_up(narrow<U>(n), narrow<U>(quantum))) == above, n, quantum, 2);
      }
      tally.note(
          static_cast<Wide>(bump::saturating_round_up(narrow<U>(n), narrow<U>(quantum))) == (above < 256 ? above : 255),
          n, quantum, 3);
      tally.note(static_cast<Wide>(bump::padding(narrow<U>(n), narrow<U>(quantum))) == above - n, n, quantum, 4);
    }
  }
  require_none_wrong(tally, 8'201);
}

TEMPLATE_TEST_CASE("saturating sums and products are right for every pair", "[bump]", std::uint8_t, Wrapping8) {
  using U = TestType;
  Tally tally;
  for (Wide a = 0; a < 256; ++a) {
    for (Wide b = 0; b < 256; ++b) {
      const Wide sum = a + b < 256 ? a + b : 255;
      const Wide product = a * b < 256 ? a * b : 255;
      tally.note(static_cast<Wide>(bump::saturating_sum(narrow<U>(a), narrow<U>(b))) == sum, a, b, 1);
      tally.note(static_cast<Wide>(bump::saturating_product(narrow<U>(a), narrow<U>(b))) == product, a, b, 2);
    }
  }
  require_none_wrong(tally, 131'072);
}

TEMPLATE_TEST_CASE("fits and reserved_bytes are right for every request into every free space", "[bump]", std::uint8_t,
                   Wrapping8) {
  using U = TestType;
  Tally tally;
  // Every count of every size into every number of free bytes.
  for (Wide free = 0; free < 256; ++free) {
    for (Wide size = 1; size < 256; ++size) {
      for (Wide count = 0; count < 256; ++count) {
        tally.note(
            bump::fits(narrow<U>(0), narrow<U>(free), narrow<U>(count), narrow<U>(size)) == (count * size <= free), 0,
            0, free, count, size);
      }
    }
  }
  // The same free space between any other cursor and limit; counts around the largest that fits.
  for (Wide cursor = 0; cursor < 256; ++cursor) {
    for (Wide limit = cursor; limit < 256; ++limit) {
      for (Wide size = 1; size < 256; ++size) {
        const Wide most = (limit - cursor) / size;
        const auto fits = [&](Wide count) {
          return bump::fits(narrow<U>(cursor), narrow<U>(limit), narrow<U>(count), narrow<U>(size));
        };
        tally.note(fits(most), 0, cursor, limit, most, size);
        if (most < 255) tally.note(!fits(most + 1), 0, cursor, limit, most + 1, size);
      }
    }
  }
  // What fits into a multiple of the quantum, rounded up.
  for (Wide quantum = 1; quantum <= 128; quantum *= 2) {
    const Wide room = 256 - quantum;  // the largest multiple of the quantum
    for (Wide size = 1; size < 256; ++size) {
      for (Wide count = 0; count * size <= room; ++count) {
        tally.note(static_cast<Wide>(bump::reserved_bytes(narrow<U>(count), narrow<U>(size), narrow<U>(quantum))) ==
                       next_multiple(count * size, quantum),
                   0, 0, quantum, count, size);
        if (count == 255) break;
      }
    }
  }
  require_none_wrong(tally, 33'500'742);
}

TEST_CASE("place is right for everything there is in 5 bits", "[bump]") {
  Tally tally;
  for (Wide quantum = 1; quantum <= 16; quantum *= 2) {
    for (Wide alignment = quantum; alignment <= 16; alignment *= 2) {
      for_every_place<Wrapping5>(quantum, [&](Wide base, Wide cursor, Wide limit) {
        place_every_request<Wrapping5>(tally, base, cursor, limit, alignment, quantum);
      });
    }
  }
  require_none_wrong(tally, 36'592'896);
}

TEMPLATE_TEST_CASE("place is right for everything there is in 8 bits with a quantum of 16 or more", "[bump]",
                   std::uint8_t, Wrapping8) {
  Tally tally;
  for (Wide quantum = 16; quantum <= 128; quantum *= 2) {
    for (Wide alignment = quantum; alignment <= 128; alignment *= 2) {
      for_every_place<TestType>(quantum, [&](Wide base, Wide cursor, Wide limit) {
        place_every_request<TestType>(tally, base, cursor, limit, alignment, quantum);
      });
    }
  }
  require_none_wrong(tally, 282'858'240);
}

TEMPLATE_TEST_CASE("place is right at every place in 8 bits with a quantum below 16, for requests at the edge",
                   "[bump]", Wrapping8) {
  Tally tally;
  for (Wide quantum = 1; quantum <= 8; quantum *= 2) {
    for (Wide alignment = quantum; alignment <= 128; alignment *= 2) {
      for_every_place<TestType>(quantum, [&](Wide base, Wide cursor, Wide limit) {
        place_requests_at_the_edge<TestType>(tally, base, cursor, limit, alignment, quantum);
      });
    }
  }
  require_none_wrong(tally, 206'218'407);
}

TEMPLATE_TEST_CASE("required_bytes does not wrap for any peak and alignment up to half of the range", "[bump]",
                   std::uint8_t, Wrapping8) {
  using U = TestType;
  Tally tally;
  for (Wide quantum = 1; quantum <= 128; quantum *= 2) {
    for (Wide alignment = quantum; alignment <= 128; alignment *= 2) {
      for (Wide peak = 0; peak <= 128; peak += quantum) {
        tally.note(static_cast<Wide>(bump::required_bytes(narrow<U>(peak), narrow<U>(alignment), narrow<U>(quantum))) ==
                       peak + alignment - quantum,
                   peak, alignment, quantum);
      }
    }
  }
  require_none_wrong(tally, 1829);
}
