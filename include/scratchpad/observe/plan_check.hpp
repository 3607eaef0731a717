// SPDX-License-Identifier: MIT
/// \file
/// PlanCheck: holds a run against a plan and stops it at the first block that differs.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/observe/plan.hpp>
#include <scratchpad/pool_observer.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Compares every block with the plan, before it is handed out. What may differ is what cannot change the size: a scope of
/// the plan may be skipped, or run any number of times in any order among the scopes between the same two blocks; a scope,
/// or the whole run, may end early. Everything else is a `LayoutDivergence` that names both sides; the pool is then as it
/// was.
///
/// An overflow's report gains what the whole layout needs. Attached to a pool with another quantum than the plan's it
/// refuses with a `LayoutDivergence`: measured with one, served with another. One check watches one pool at a time.
class PlanCheck final : public PoolObserver {
 public:
  explicit PlanCheck(Plan plan) : plan_(std::move(plan)) {}
  // levels_ points into plan_, which therefore stays where it is.
  PlanCheck(const PlanCheck&) = delete;
  PlanCheck& operator=(const PlanCheck&) = delete;

  const Plan& plan() const { return plan_; }

  void on_attach(const PoolView& pool) override {
    if (pool.quantum != plan_.quantum) {
      detail::raise<LayoutDivergence>("PlanCheck: the plan was made with a quantum of ", plan_.quantum,
                                      " bytes, pool '", pool.space, "' has ", pool.quantum);
    }
    levels_.assign(1, {});
    levels_.front().push_back({&plan_.pool, 0});
  }

  void before_allocate(const PoolView& pool, const Block& block) override {
    const PlannedBlock got{block.label, block.bytes, block.alignment, block.offset};
    for (const Place& place : levels_.back()) {
      if (place.has_next() && place.next() == got) return;
    }
    refuse(pool, block);
  }

  void on_allocate(const PoolView&, const Block& block) override {
    const PlannedBlock got{block.label, block.bytes, block.alignment, block.offset};
    std::erase_if(levels_.back(), [&](const Place& place) { return !place.has_next() || place.next() != got; });
    for (Place& place : levels_.back()) ++place.carved;
  }

  void on_save(const PoolView&, const SavePointEvent&) override {
    std::vector<Place> inner;
    for (const Place& place : levels_.back()) {
      for (const PlannedScope& scope : place.scope->scopes[place.carved]) inner.push_back({&scope, 0});
    }
    levels_.push_back(std::move(inner));
  }

  void on_rewind(const PoolView& pool, const SavePointEvent& event) override {
    if (event.depth == 0) {
      levels_.assign(1, {});
      levels_.front().push_back({&plan_.pool, 0});
      return;
    }
    levels_.resize(event.depth);
    if (event.stays_open) on_save(pool, event);
  }

  void on_overflow(const PoolView&, Overflow& overflow) override { overflow.layout_bytes = plan_.required_bytes(); }

 private:
  // A place in the plan where the run may be: in which scope, and how many of its blocks have been carved.
  struct Place {
    const PlannedScope* scope;
    std::size_t carved;
    bool has_next() const { return carved < scope->blocks.size(); }
    const PlannedBlock& next() const { return scope->blocks[carved]; }
  };

  [[noreturn]] void refuse(const PoolView& pool, const Block& block) const {
    detail::Message got("PlanCheck: block ", block.serial, " of pool '", pool.space, "' at depth ", block.depth,
                        " differs from the plan. Run: '", block.label, "' ", block.bytes, " bytes aligned ",
                        block.alignment, " at ", block.offset);
    // Several places: scopes of the plan that begin alike; the first speaks for them.
    for (const Place& place : levels_.back()) {
      if (!place.has_next()) continue;
      const PlannedBlock& planned = place.next();
      detail::raise<LayoutDivergence>(got.c_str(), ". Plan: '", planned.label, "' ", planned.bytes, " bytes aligned ",
                                      planned.alignment, " at ", planned.offset);
    }
    detail::raise<LayoutDivergence>(
        got.c_str(), levels_.back().empty() ? ". Plan: no such scope here" : ". Plan: no further block in this scope");
  }

  Plan plan_;
  // Where the run may be at each open level, the pool itself first. Several places where scopes of the plan begin alike;
  // none where the run has opened a scope that the plan does not have: its first block is then refused.
  std::vector<std::vector<Place>> levels_ = std::vector<std::vector<Place>>(1);
};

}  // namespace SCRATCHPAD_NAMESPACE
