// SPDX-License-Identifier: MIT
/// \file
/// DeviceFailure: what a kernel leaves behind when it traps.
#pragma once

#include <cstdint>

#include <scratchpad/config.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// One record, written by a pool in device code before it traps, if the kernel gave it a place: memory that the host can
/// read after the trap (mapped or managed), zeroed before the launch. `pool.report_failures_to(record)`.
///
/// A block that does not fit is recorded; a programming error (a scope too deep, a negative extent) only traps. All threads
/// of a block run the same layout and so write the same numbers.
struct DeviceFailure {
  enum What : std::uint32_t { none = 0, overflow = 1 };
  std::uint32_t what = none;
  std::uint32_t block = 0;      ///< how many blocks had been handed out; the block asked for is the next
  std::uint64_t requested = 0;  ///< bytes asked for, before rounding; the largest number if they do not fit
  std::uint64_t used = 0;       ///< bytes
  std::uint64_t capacity = 0;   ///< bytes
};

}  // namespace SCRATCHPAD_NAMESPACE
