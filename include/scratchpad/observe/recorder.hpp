// SPDX-License-Identifier: MIT
/// \file
/// Recorder: keeps what a pool did, and tells it again as an event list, an operation log or a plan.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/observe/plan.hpp>
#include <scratchpad/pool_observer.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// One thing that happened. Which of the members say something depends on `kind`.
struct RecordedEvent {
  enum class Kind : std::uint8_t { attach, allocate, save, rewind, copy, overflow, detach };
  Kind kind;
  Block block = {};                ///< allocate
  SavePointEvent save_point = {};  ///< save, rewind
  CopyEvent copy = {};             ///< copy
  Overflow overflow = {};          ///< overflow
};

/// One operand of a recorded operation: a block of the watched pool, or memory elsewhere (`in_pool` is false).
struct RecordedHandle {
  const char* label = "";
  const void* data = nullptr;
  std::size_t offset = 0;  ///< bytes from the pool's base
  bool in_pool = false;
};

/// One entry of the operation log. A `copy_to` is of kind "math", name "copy": it computes on scratch bytes and moves
/// nothing in or out.
struct RecordedOperation {
  const char* kind = "";
  const char* name = "";
  RecordedHandle destination;
  RecordedHandle source;
  std::size_t elements = 0;
  std::size_t bytes = 0;
};

/// Records the events of one pool. It allocates memory of its own and grows with every event: for tests, reports and
/// measuring runs, not for production loops.
///
/// | task | call |
/// |---|---|
/// | everything that happened, in order | `events()` |
/// | operations only | `operations()` |
/// | what may be carved, for a PlanCheck | `plan()` |
/// | the blocks in use now | `live_blocks()` |
///
/// An overflow's report gains the largest live blocks. *On failure*: `ApiMisuse` if a second pool is attached while the
/// first still is.
class Recorder final : public PoolObserver {
 public:
  Recorder() = default;

  std::span<const RecordedEvent> events() const { return events_; }
  std::span<const RecordedOperation> operations() const { return operations_; }
  std::span<const Block> live_blocks() const { return live_; }

  /// What has been recorded, as a tree; open scopes are in it as far as they have come.
  Plan plan() const { return {closed(0), {peak_, coarsest_}, pool_.quantum}; }

  void on_attach(const PoolView& pool) override {
    if (attached_) {
      detail::raise<ApiMisuse>("Recorder: it watches pool '", pool_.space, "' still; a recorder watches one pool");
    }
    attached_ = true;
    pool_ = pool;
    coarsest_ = pool.quantum;
    open_.assign(1, {});
    events_.push_back({.kind = RecordedEvent::Kind::attach});
  }

  void on_allocate(const PoolView&, const Block& block) override {
    events_.push_back({.kind = RecordedEvent::Kind::allocate, .block = block});
    live_.push_back(block);
    open_.back().add(PlannedBlock{block.label, block.bytes, block.alignment, block.offset});
    peak_ = (std::max)(peak_, block.offset + block.reserved);
    coarsest_ = (std::max)(coarsest_, block.alignment);
  }

  void on_save(const PoolView&, const SavePointEvent& event) override {
    events_.push_back({.kind = RecordedEvent::Kind::save, .save_point = event});
    open_.emplace_back();
  }

  // A scope that is rewound and stays open has ended one turn and begins another.
  void on_rewind(const PoolView&, const SavePointEvent& event) override {
    events_.push_back({.kind = RecordedEvent::Kind::rewind, .save_point = event});
    while (!live_.empty() && live_.back().offset >= event.offset) live_.pop_back();
    if (event.depth == 0) {  // the pool has been reset: the plan is that of its new life
      open_.assign(1, {});
      peak_ = 0;
      coarsest_ = pool_.quantum;
      return;
    }
    PlannedScope ended = closed(event.depth);
    open_.resize(event.depth);
    open_.back().add(std::move(ended));
    if (event.stays_open) open_.emplace_back();
  }

  void on_copy(const PoolView&, const CopyEvent& event) override {
    events_.push_back({.kind = RecordedEvent::Kind::copy, .copy = event});
    operations_.push_back(
        {"math", "copy", handle_of(event.destination), handle_of(event.source), event.elements, event.bytes});
  }

  void on_overflow(const PoolView&, Overflow& overflow) override {
    std::vector<Block> by_size(live_);
    const std::size_t n = (std::min)(by_size.size(), Overflow::max_largest);
    std::partial_sort(by_size.begin(), by_size.begin() + static_cast<std::ptrdiff_t>(n), by_size.end(),
                      [](const Block& a, const Block& b) { return a.reserved > b.reserved; });
    for (std::size_t i = 0; i < n; ++i) overflow.largest[i] = {by_size[i].label, by_size[i].reserved};
    events_.push_back({.kind = RecordedEvent::Kind::overflow, .overflow = overflow});
  }

  void on_detach(const PoolView&) override {
    attached_ = false;
    events_.push_back({.kind = RecordedEvent::Kind::detach});
  }

 private:
  // Level `depth` with everything that is still open above it folded in.
  PlannedScope closed(std::size_t depth) const {
    PlannedScope scope = open_.back();
    for (std::size_t i = open_.size() - 1; i > depth; --i) {
      PlannedScope outer = open_[i - 1];
      outer.add(std::move(scope));
      scope = std::move(outer);
    }
    return scope;
  }

  RecordedHandle handle_of(const void* data) const {
    for (const Block& block : live_) {
      if (static_cast<const void*>(pool_.base + block.offset) == data) return {block.label, data, block.offset, true};
    }
    return {.data = data};
  }

  PoolView pool_;
  bool attached_ = false;
  std::vector<RecordedEvent> events_;
  std::vector<RecordedOperation> operations_;
  std::vector<Block> live_;  // in order of their offsets: a bump hands out upwards and takes back from the end
  // The levels that are open, the pool itself first; each as far as it has come.
  std::vector<PlannedScope> open_ = std::vector<PlannedScope>(1);
  std::size_t peak_ = 0;
  std::size_t coarsest_ = 0;
};

}  // namespace SCRATCHPAD_NAMESPACE
