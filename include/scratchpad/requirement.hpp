// SPDX-License-Identifier: MIT
/// \file
/// Requirement: how much memory a measured layout needs, and aligned to what. Alignment: the argument that asks for more
/// of it.
#pragma once

#include <cstddef>

#include <scratchpad/config.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// `bytes` at a base that `alignment` divides serve the measured layout exactly: no byte more is needed, and where
/// `alignment` is the quantum, no byte less will do. For one number that is right at *every* base of the quantum, ask
/// `workspace_bytes` instead.
struct Requirement {
  std::size_t bytes = 0;      ///< bytes, a multiple of the quantum
  std::size_t alignment = 1;  ///< bytes, a power of two, at least the quantum
  friend constexpr bool operator==(Requirement, Requirement) = default;
};

/// An alignment in bytes, as an argument that cannot be mistaken for a count. Made by `align(a)`; where it is used a
/// value that is no power of two is refused (`ApiMisuse`), and one below the quantum is lifted to the quantum.
struct Alignment {
  std::size_t bytes;
};

/// \param bytes a power of two, in bytes
constexpr Alignment align(std::size_t bytes) { return {bytes}; }

}  // namespace SCRATCHPAD_NAMESPACE
