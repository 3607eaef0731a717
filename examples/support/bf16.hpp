// SPDX-License-Identifier: MIT
/// \file
/// Bf16: a float with its lower 16 bits cut off, as storage. Arithmetic is done in float.
#pragma once

#include <bit>
#include <cstdint>

struct Bf16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(Bf16, Bf16) = default;
};

/// Exact.
constexpr float to_float(Bf16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16); }

/// To the nearest, ties to even; a NaN stays one. The significand has 8 bits, so the relative error is at most 2^-8.
constexpr Bf16 to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  // Rounding up could carry a NaN's payload into the sign.
  if (x != x) return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

static_assert(to_bf16(1.0F).bits == 0x3f80 && to_float({0xc000}) == -2.0F);
static_assert(to_bf16(1.00390625F).bits == 0x3f80 && to_bf16(1.01171875F).bits == 0x3f82, "halfway: to the even one");
