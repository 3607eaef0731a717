// SPDX-License-Identifier: MIT
/// \file
/// Queue and Event: what a lease must know of the work that reads its bytes. device_alignment(queue): the quantum that a
/// queue's device asks for. drain(queue): a fence for scopes whose callees only enqueue.
#pragma once

#include <concepts>
#include <cstddef>

#include <scratchpad/config.hpp>
#include <scratchpad/memory_space.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Takes work and runs it later. `sycl::queue` models it as it is; a stream or a command queue through its adapter.
///
/// | member | meaning |
/// |---|---|
/// | `bool is_in_order() const` | each piece of work begins after the one before it has ended; the answer never changes |
/// | `void wait()` | returns when all work put in so far has ended; may throw if it cannot say so |
template <class Q>
concept Queue = requires(Q& queue, const Q& observed) {
  { observed.is_in_order() } -> std::convertible_to<bool>;
  queue.wait();
};

/// One piece of work in a queue.
///
/// | member | meaning |
/// |---|---|
/// | `bool is_complete()` | it has ended; does not block; stays true |
/// | `void wait()` | returns when it has ended |
template <class E>
concept Event = requires(E& event) {
  { event.is_complete() } -> std::convertible_to<bool>;
  event.wait();
};

namespace detail {
namespace device_alignment_lookup {

// Keeps the plain name from finding the function object below; what argument-dependent look-up finds remains.
void device_alignment() = delete;

template <class Q>
concept HasMember = requires(const Q& queue) {
  { queue.device_alignment() } -> std::convertible_to<std::size_t>;
};
template <class Q>
concept HasFunction = requires(const Q& queue) {
  { device_alignment(queue) } -> std::convertible_to<std::size_t>;
};

struct DeviceAlignment {
  template <Queue Q>
  constexpr std::size_t operator()(const Q& queue) const {
    if constexpr (HasMember<Q>) {
      return queue.device_alignment();
    } else if constexpr (HasFunction<Q>) {
      return device_alignment(queue);
    } else {
      return HostSpace::quantum;
    }
  }
};

}  // namespace device_alignment_lookup
}  // namespace detail

/// `device_alignment(queue)`: the alignment in bytes that the queue's device asks of every block; the quantum for a pool
/// with a dynamic one. A queue's member of that name answers, else a function of that name in the queue's namespace, else
/// it is the quantum of HostSpace.
inline constexpr detail::device_alignment_lookup::DeviceAlignment device_alignment{};

/// The fence that `drain` makes.
template <Queue Q>
class Drain {
 public:
  constexpr explicit Drain(Q& queue) : queue_(&queue) {}
  constexpr void operator()() const {
    if (!queue_->is_in_order()) queue_->wait();
  }

 private:
  Q* queue_;
};

/// A fence for a ScratchScope whose callees enqueue work on `queue` and return: the scope waits for the queue before it
/// rewinds. On an in-order queue it does nothing, because whoever gets the bytes next runs later anyway.
///
/// ```cpp
/// sp::ScratchScope scope(pool, sp::drain(queue));
/// ```
/// It covers this queue alone. A wait that throws at a scope's end ends the program (a destructor cannot throw): the bytes
/// must not be handed out, and nobody is left to be told.
/// \param queue outlives the scope
template <Queue Q>
[[nodiscard]] constexpr Drain<Q> drain(Q& queue SCRATCHPAD_LIFETIMEBOUND) {
  return Drain<Q>(queue);
}

}  // namespace SCRATCHPAD_NAMESPACE
