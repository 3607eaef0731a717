// SPDX-License-Identifier: MIT
/// \file
/// QueueFailure: a release could not wait for its queue.
#pragma once

#include <cstddef>
#include <exception>

#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Thrown by the first `lease()`, `replace()` or `reserve()` after a release that could not wait for its queue, because the
/// release itself cannot throw. The bytes stay out of use. `std::rethrow_if_nested(error)` throws what the queue threw.
class QueueFailure : public ApiMisuse, public std::nested_exception {
 public:
  QueueFailure(const char* call, const std::nested_exception& cause, std::size_t bytes)
      : ApiMisuse("WorkspaceArena::", call,
                  ": the queue, or an event, failed when it was asked whether work had ended; ", bytes,
                  " bytes of ended leases stay out of use, quarantined, until it can say so"),
        std::nested_exception(cause) {}
};

}  // namespace SCRATCHPAD_NAMESPACE
