// SPDX-License-Identifier: MIT
/// \file
/// The arithmetic of a bump, and nothing else: unsigned integers in, unsigned integers out.
///
/// No pointers, no other include, no state: whoever wants to know why no size in this library can wrap reads this file
/// alone. Every function is a template over its unsigned type so that a test can enumerate *every* 8-bit case.
///
/// The invariant that all of it rests on:
///
///     quantum is a power of two; cursor, limit and every block's start are multiples of it; cursor <= limit.
///
/// Hence `limit - cursor` is a multiple of the quantum, and what fits before rounding up to the quantum also fits after:
/// for n <= m with m a multiple of q, round_up(n, q) <= m. One comparison, `count <= (limit - cursor) / size`, therefore
/// decides everything. It divides what is there instead of multiplying what is asked for, so no caller's number takes
/// part in a sum or a product before it has been checked.
#pragma once

namespace scratchpad::bump {

/// True for 1, 2, 4, ...; false for 0 and everything else.
template <class U>
constexpr bool is_power_of_two(U n) {
  return n != 0 && (n & (n - 1)) == 0;
}

/// The largest multiple of `quantum` that is not above `n`. \pre quantum is a power of two.
template <class U>
constexpr U round_down(U n, U quantum) {
  return static_cast<U>(n & ~(quantum - 1));
}

/// The smallest multiple of `quantum` that is not below `n`.
/// \pre quantum is a power of two, and some multiple of it at or above `n` exists in U (callers have checked `fits`).
template <class U>
constexpr U round_up(U n, U quantum) {
  return static_cast<U>((n + (quantum - 1)) & ~(quantum - 1));
}

/// The bytes between `address` and the next multiple of `alignment`. \pre alignment is a power of two.
/// Two's complement negation: right for every address, also for the last ones, because only the low bits are kept.
template <class U>
constexpr U padding(U address, U alignment) {
  return static_cast<U>((U{0} - address) & (alignment - 1));
}

/// Whether `count` elements of `size` bytes fit between cursor and limit: the only check there is.
/// \pre the invariant above; size > 0.
template <class U>
constexpr bool fits(U cursor, U limit, U count, U size) {
  return count <= static_cast<U>(limit - cursor) / size;
}

/// The bytes that `count` elements of `size` bytes take: their product rounded up to the quantum.
/// \pre fits(...): the product is then at most `limit - cursor`, a multiple of the quantum, so neither step can wrap.
template <class U>
constexpr U reserved_bytes(U count, U size, U quantum) {
  return round_up(static_cast<U>(count * size), quantum);
}

/// Where a block lies: [start, end) as offsets, or `fits == false` with both unspecified.
template <class U>
struct Placement {
  bool fits;
  U start;
  U end;
};

/// Places `count` elements of `size` bytes at the first address at or after base + cursor that `alignment` divides.
///
/// \pre the invariant above; base is a multiple of the quantum; alignment is a power of two, at least the quantum;
///      size > 0.
/// The padding is a multiple of the quantum (base + cursor and alignment both are), so after it has been found to lie
/// within `limit - cursor` the invariant holds again at the padded cursor, and `fits` decides as before.
template <class U>
constexpr Placement<U> place(U base, U cursor, U limit, U count, U size, U alignment, U quantum) {
  const U pad = padding(static_cast<U>(base + cursor), alignment);
  if (pad > static_cast<U>(limit - cursor)) return {false, 0, 0};
  const U start = static_cast<U>(cursor + pad);
  if (!fits(start, limit, count, size)) return {false, 0, 0};
  return {true, start, static_cast<U>(start + reserved_bytes(count, size, quantum))};
}

/// a * b, or the largest U where the product does not fit: a saturated size fails every check, a wrapped one passes.
/// (g++ and clang know this form and multiply once; nothing is divided.)
template <class U>
constexpr U saturating_product(U a, U b) {
  if (a == 0) [[unlikely]]
    return 0;
  const U product = static_cast<U>(a * b);
  if (product / a != b) [[unlikely]]
    return static_cast<U>(~U{0});
  return product;
}

/// a + b, saturated likewise.
template <class U>
constexpr U saturating_sum(U a, U b) {
  const U sum = static_cast<U>(a + b);
  return sum < a ? static_cast<U>(~U{0}) : sum;
}

/// n rounded up to the quantum, saturated likewise: for reports about requests that did not fit.
template <class U>
constexpr U saturating_round_up(U n, U quantum) {
  const U rounded = round_up(n, quantum);
  return rounded < n ? static_cast<U>(~U{0}) : rounded;
}

/// The bytes that serve a measured sequence at *every* base that is a multiple of the quantum.
///
/// The sizing theorem. A measured sequence has peak P (a multiple of q) and coarsest alignment A >= q. Then P bytes at a
/// base aligned to A serve it; P + (A - q) bytes at any base aligned to q serve it; with A == q, P bytes suffice and
/// P - 1 do not.
///
/// Proof. Measuring runs at a base that every alignment divides. Each step of the cursor (round up, add, return to an
/// earlier value) is monotone in the base and commutes with shifts by A. From base b = kA - d with 0 <= d <= A - q, the
/// address reached is by monotonicity at most the one reached from kA, which is kA + P; measured from b that is
/// P + d <= P + A - q. With A == q, d is 0 and the cursor itself stands at P once, so P - 1, rounded down, is too small.
///
/// Nobody needs to add a safety margin to this, and it holds however often the bytes are handed on as plain bytes.
/// \pre alignment >= quantum; peak at most half of U's range (the measuring region's size), alignment likewise, hence no
///      wrap.
template <class U>
constexpr U required_bytes(U peak, U alignment, U quantum) {
  return static_cast<U>(peak + (alignment - quantum));
}

}  // namespace scratchpad::bump
