// SPDX-License-Identifier: MIT
/// \file
/// PendingEvent: an event of any type, kept until it is complete.
#pragma once

#include <utility>

#include <scratchpad/config.hpp>
#include <scratchpad/workspace/queue.hpp>

namespace SCRATCHPAD_NAMESPACE {
namespace detail {

class PendingEvent {
 public:
  virtual ~PendingEvent() = default;
  virtual bool is_complete() = 0;
  virtual void wait() = 0;
};

template <Event E>
class PendingEventOf final : public PendingEvent {
 public:
  explicit PendingEventOf(E event) : event_(std::move(event)) {}
  bool is_complete() override { return event_.is_complete(); }
  void wait() override { event_.wait(); }

 private:
  E event_;
};

}  // namespace detail
}  // namespace SCRATCHPAD_NAMESPACE
