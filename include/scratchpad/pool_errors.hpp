// SPDX-License-Identifier: MIT
/// \file
/// The refusals of a pool: what was asked, the numbers, and what to do instead. All of them cold and noreturn; in device
/// code only a trap is left of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <scratchpad/bump.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/save_points.hpp>

namespace SCRATCHPAD_NAMESPACE::detail {

constexpr void check_quantum(std::size_t quantum) {
  if (!bump::is_power_of_two(quantum)) {
    raise<ApiMisuse>("BumpAllocator: a quantum of ", quantum, " bytes is no power of two");
  }
}

inline void check_memory(const void* memory, std::size_t bytes, std::size_t quantum, std::string_view space) {
  const std::size_t off = reinterpret_cast<std::uintptr_t>(memory) & (quantum - 1);
  if (off != 0) {
    raise<ApiMisuse>("BumpAllocator: the base ", Address{memory}, " of pool '", space,
                     "' is not a multiple of its quantum, ", quantum, " bytes; align the buffer (alignas(", quantum,
                     "), ScratchBuffer) or pass a base ", quantum - off, " bytes further on");
  }
  if (memory == nullptr && bytes != 0) {
    raise<ApiMisuse>("BumpAllocator: null memory with ", bytes, " bytes for pool '", space,
                     "'; only (nullptr, 0) is an empty pool");
  }
  if (bytes > static_cast<std::size_t>((std::numeric_limits<std::ptrdiff_t>::max)())) {
    raise<ApiMisuse>("BumpAllocator: ", bytes, " bytes for pool '", space, "' are more than any object can have");
  }
}

[[noreturn]] SCRATCHPAD_COLD SCRATCHPAD_HD inline void refuse_alignment(std::size_t alignment, const char* label) {
  raise<ApiMisuse>("BumpAllocator::allocate: an alignment of ", alignment, " bytes for '", label,
                   "' is no power of two");
}

[[noreturn]] SCRATCHPAD_COLD SCRATCHPAD_HD inline void refuse_save(std::string_view space, std::uint32_t max_depth) {
  raise<ApiMisuse>("BumpAllocator: pool '", space, "' cannot open another save-point: ", max_depth,
                   " are open, and Space::max_depth is ", max_depth);
}

[[noreturn]] SCRATCHPAD_COLD SCRATCHPAD_HD inline void refuse_rewind(const SavePoint& at, bool is_live,
                                                                     std::uint32_t depth) {
  if (is_live && at.depth != 0) {
    raise<ApiMisuse>("BumpAllocator::rewind: the save-point at depth ", at.depth, " is not the innermost one; ",
                     depth - at.depth, " opened after it are still open");
  }
  raise<ApiMisuse>("BumpAllocator::rewind: the save-point at depth ", at.depth, " (stamp ", at.stamp,
                   ") is not open in this pool: rewound already, or another pool's; ", depth, " are open");
}

[[noreturn]] SCRATCHPAD_COLD SCRATCHPAD_HD inline void refuse_reset(std::string_view space, std::uint32_t depth) {
  raise<ApiMisuse>("BumpAllocator::reset: ", depth, " save-points of pool '", space,
                   "' are open; end their scopes first");
}

[[noreturn]] SCRATCHPAD_COLD SCRATCHPAD_HD inline void refuse_watch(const char* why, std::size_t used,
                                                                    std::uint32_t depth) {
  raise<ApiMisuse>("BumpAllocator::watch: ", why, " (used ", used, ", depth ", depth, ")");
}

[[noreturn]] SCRATCHPAD_COLD SCRATCHPAD_HD inline void refuse_figure(const char* what, bool measuring,
                                                                     std::size_t used) {
  raise<ApiMisuse>("BumpAllocator::", what,
                   measuring ? ": a measuring pool has none (used " : ": this pool serves (used ", used,
                   measuring ? "); ask required_bytes()" : "); ask a measuring one");
}

}  // namespace SCRATCHPAD_NAMESPACE::detail
