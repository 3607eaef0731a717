// SPDX-License-Identifier: MIT
/// \file
/// Plan: what a layout may carve, as a tree of scopes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <scratchpad/bump.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/pool_observer.hpp>
#include <scratchpad/requirement.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// One block of a plan. All sizes in bytes.
struct PlannedBlock {
  const char* label = "";
  std::size_t bytes = 0;
  std::size_t alignment = 0;
  std::size_t offset = 0;

  friend bool operator==(const PlannedBlock& a, const PlannedBlock& b) {
    return a.bytes == b.bytes && a.alignment == b.alignment && a.offset == b.offset &&
           std::string_view(a.label) == std::string_view(b.label);
  }
};

/// One scope of a plan, or the pool itself: blocks in order, and between them the scopes that may be opened there.
///
/// All scopes between two blocks start at the same offset and end there again, so any of them may be skipped, and any may
/// run any number of times in any order, without changing what the layout needs. Blocks can do none of that.
struct PlannedScope {
  std::vector<PlannedBlock> blocks;
  /// scopes[i]: those opened when i blocks have been carved. As many as blocks, and one more.
  std::vector<std::vector<PlannedScope>> scopes = std::vector<std::vector<PlannedScope>>(1);

  friend bool operator==(const PlannedScope&, const PlannedScope&) = default;

  void add(const PlannedBlock& block) {
    blocks.push_back(block);
    scopes.emplace_back();
  }

  /// Adds a scope at the present end, unless it is there already: the turns of a loop are one scope.
  void add(PlannedScope scope) {
    std::vector<PlannedScope>& here = scopes.back();
    if (std::find(here.begin(), here.end(), scope) == here.end()) here.push_back(std::move(scope));
  }
};

/// What a run of a layout on a pool with this quantum carves. Made by a Recorder, held against a run by a PlanCheck.
struct Plan {
  PlannedScope pool;
  Requirement requirement;  ///< of the whole layout
  std::size_t quantum = 0;  ///< bytes

  /// The bytes that serve it at every base that is a multiple of the quantum.
  std::size_t required_bytes() const { return bump::required_bytes(requirement.bytes, requirement.alignment, quantum); }
};

}  // namespace SCRATCHPAD_NAMESPACE
