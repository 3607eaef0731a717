// SPDX-License-Identifier: MIT
/// \file
/// LeaseReport: what went wrong with a lease where nothing can be thrown and nothing need stop.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>

namespace SCRATCHPAD_NAMESPACE {

enum class LeaseReportKind : std::uint8_t {
  stranded,         ///< a lease ended before a later one; only of arenas that check
  arena_destroyed,  ///< an arena was destroyed while leases of it were live
  queue_failed,     ///< a queue or an event could not be waited for
};

struct LeaseReport {
  LeaseReportKind kind;
  std::size_t bytes;    ///< that it is about
  const char* message;  ///< valid during the call only
};

/// Must not throw.
using LeaseReportHandler = void (*)(const LeaseReport&);

namespace detail {
inline std::atomic<LeaseReportHandler> lease_report_handler{nullptr};
}

/// Installs `handler` (nullptr: a line on stderr) and returns the one before it. Thread-safe.
inline LeaseReportHandler set_lease_report_handler(LeaseReportHandler handler) {
  return detail::lease_report_handler.exchange(handler);
}

namespace detail {

template <class... Parts>
SCRATCHPAD_COLD void report(LeaseReportKind kind, std::size_t bytes, const Parts&... parts) noexcept {
  const Message message(parts...);
  if (const LeaseReportHandler handler = lease_report_handler.load()) {
    handler({kind, bytes, message.c_str()});
  } else {
    std::fputs(Message("scratchpad: ", message.c_str(), "\n").c_str(), stderr);
  }
}

}  // namespace detail
}  // namespace SCRATCHPAD_NAMESPACE
