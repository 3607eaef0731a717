// SPDX-License-Identifier: MIT
/// \file
/// Memory spaces for tests: HostSpace with one member changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <scratchpad/memory_space.hpp>

namespace test {

/// The space of most tests: a quantum of 16, as HostSpace has.
struct Tcm : scratchpad::HostSpace {
  static constexpr std::string_view name = "tcm";
};

template <std::size_t Bytes>
struct Quantum : scratchpad::HostSpace {
  static constexpr std::size_t quantum = Bytes;
};

struct DynamicQuantum : scratchpad::HostSpace {
  static constexpr std::size_t quantum = scratchpad::dynamic_quantum;
};

template <std::uint32_t Depth>
struct MaxDepth : scratchpad::HostSpace {
  static constexpr std::uint32_t max_depth = Depth;
};

struct Unchecked : scratchpad::HostSpace {
  static constexpr bool bounds_checked = false;
};

/// Nothing may look at its bytes: for pools over addresses with nothing behind them.
struct Far : scratchpad::HostSpace {
  static constexpr std::string_view name = "far";
  static constexpr bool host_accessible = false;
};

/// Counts how often it is asked to copy.
struct Counted : scratchpad::HostSpace {
  static inline int copies = 0;
  static void copy(void* dst, const void* src, std::size_t bytes) {
    ++copies;
    std::memcpy(dst, src, bytes);
  }
};

}  // namespace test
