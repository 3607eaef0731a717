// SPDX-License-Identifier: MIT
/// \file
/// A queue that runs nothing before it has to, and then in the worst order that it may. Deterministic.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mock {

/// One kernel: steps that run one after another, but with anything else's in between.
struct Kernel {
  std::string name;
  std::vector<std::function<void()>> steps;
  std::size_t next = 0;
  bool is_done() const { return next == steps.size(); }
};

struct QueueFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Queue;

/// The event of one kernel.
class Event {
 public:
  Event(Queue& queue, std::shared_ptr<Kernel> kernel) : queue_(&queue), kernel_(std::move(kernel)) {}
  bool is_complete();
  void wait();

 private:
  Queue* queue_;
  std::shared_ptr<Kernel> kernel_;
};

enum class Order {
  in_order,      // one kernel after another
  out_of_order,  // the first step of every kernel, the newest first; then the second step of every kernel; ...
  lies,          // out of order, and says that it is in order
};

class Queue {
 public:
  explicit Queue(Order order) : order_(order) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  /// Like the queues of the field that are destroyed by their runtime: what was put in is run first.
  ~Queue() { run(); }

  bool is_in_order() const { return order_ != Order::out_of_order; }
  void wait() {
    ++waits;
    log.emplace_back("wait");
    if (failing_waits > 0) {
      --failing_waits;
      throw QueueFailed("the device was lost");
    }
    run();
  }

  Event submit(std::string name, std::vector<std::function<void()>> steps) {
    auto kernel = std::make_shared<Kernel>(Kernel{std::move(name), std::move(steps)});
    log.push_back("submit " + kernel->name);
    kernels_.push_back(kernel);
    return {*this, kernel};
  }

  /// Runs all, as a device would by itself after a while.
  void run() {
    if (order_ == Order::in_order) {
      for (const auto& kernel : kernels_) {
        while (!kernel->is_done()) step(*kernel);
      }
    } else {
      for (bool busy = true; busy;) {
        busy = false;
        for (std::size_t i = kernels_.size(); i-- > 0;) {
          if (kernels_[i]->is_done()) continue;
          step(*kernels_[i]);
          busy = true;
        }
      }
    }
    kernels_.clear();
  }

  bool is_idle() const { return kernels_.empty(); }

  std::size_t waits = 0;
  std::size_t event_waits = 0;
  std::size_t polls = 0;
  std::size_t failing_waits = 0;  // that many waits throw instead
  std::size_t failing_polls = 0;
  std::vector<std::string> log;

 private:
  friend class Event;
  void step(Kernel& kernel) {
    kernel.steps[kernel.next++]();
    if (kernel.is_done()) log.push_back("done " + kernel.name);
  }

  Order order_;
  std::vector<std::shared_ptr<Kernel>> kernels_;
};

inline bool Event::is_complete() {
  ++queue_->polls;
  if (queue_->failing_polls > 0) {
    --queue_->failing_polls;
    throw QueueFailed("the event was lost");
  }
  return kernel_->is_done();
}
inline void Event::wait() {
  ++queue_->event_waits;
  queue_->run();
}

/// A handle to a queue, like those of the C interfaces: a copy, and what was moved from, still mean the same queue.
class QueueHandle {
 public:
  explicit QueueHandle(Queue& queue) : queue_(&queue) {}
  bool is_in_order() const { return queue_->is_in_order(); }
  void wait() { queue_->wait(); }

 private:
  Queue* queue_;
};

}  // namespace mock
