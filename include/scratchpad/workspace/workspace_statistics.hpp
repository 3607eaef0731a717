// SPDX-License-Identifier: MIT
/// \file
/// WorkspaceStatistics: what an arena knows of itself.
#pragma once

#include <cstddef>

#include <scratchpad/config.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Padding and rounding count as bytes of their lease. used = live ones + stranded + pending + quarantined.
struct WorkspaceStatistics {
  std::size_t live = 0;         ///< leases that hold bytes
  std::size_t used = 0;         ///< bytes that cannot be lent now because they are, or were not handed back yet
  std::size_t stranded = 0;     ///< of those: bytes of released leases that wait for a later lease to end
  std::size_t pending = 0;      ///< of those: bytes released after an event that was not yet found complete
  std::size_t quarantined = 0;  ///< of those: bytes whose queue could not be waited for
  std::size_t capacity = 0;     ///< bytes of all blocks
  std::size_t peak = 0;         ///< the most `used` bytes at one time
  std::size_t blocks = 0;
  std::size_t drains = 0;   ///< waits for the queue, also those that failed
  std::size_t refused = 0;  ///< requests that could not be had
};

}  // namespace SCRATCHPAD_NAMESPACE
