// SPDX-License-Identifier: MIT
/// \file
/// Two translation units of one program, built with different switches. Both are linked_unit.cpp, one with UNIT=unit_a
/// and one with UNIT=unit_b; linked_main.cpp passes pools, tensors, leases and exceptions between them.
#pragma once

#include <cstddef>
#include <scratchpad/scratchpad.hpp>
#include <scratchpad/workspace/workspace_arena.hpp>
#include <string_view>
#include <vector>

namespace linked {

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;
using Floats = sp::Tensor<float, 2, sp::HostSpace>;

struct Number {
  const char* name;
  std::size_t value;
};

struct Stream {
  bool is_in_order() const { return true; }
  void wait() {}
};
using Arena = sp::WorkspaceArena<Stream>;

struct Memory {
  alignas(64) std::byte bytes[4096];
};

// NOLINTBEGIN(cppcoreguidelines-macro-usage): the same interface, twice
#define LINKED_INTERFACE                                                                                   \
  /* How it was built, for the report. */                                                                  \
  const char* switches();                                                                                  \
  /* Whether a pool of this unit's own is watched as the switches say, by what that does to its memory. */ \
  bool watched_as_built();                                                                                 \
  /* Sizes of the types and offsets of their members, as this unit sees them. */                           \
  std::vector<Number> sizes();                                                                             \
  /* Carves from a pool of the caller's: blocks, scopes and a coarse one; the cursor after each step. */   \
  std::vector<std::size_t> carve(Pool& pool);                                                              \
  /* What a pool of this unit's own, watched as this unit watches, does when `carve_it` carves from it. */ \
  std::vector<std::size_t> lend_pool(std::vector<std::size_t> (*carve_it)(Pool&));                         \
  std::size_t measure();                                                                                   \
  Floats make(Pool& pool);                                                                                 \
  float sum(const Pool& pool, const Floats& tensor);                                                       \
  void copy(Pool& pool, const Floats& dst, const Floats& src);                                             \
  sp::WorkspaceLease lend(Arena& arena);                                                                   \
  std::size_t use(sp::WorkspaceLease lease);                                                               \
  /* Fails on purpose: 0 overflow, 1 misuse, 2 shape, 3 divergence. */                                     \
  void fail(int kind);                                                                                     \
  /* Calls `fail_it(kind)` and catches what it throws, by type, and its text. */                           \
  bool catches(void (*fail_it)(int), int kind);
// NOLINTEND(cppcoreguidelines-macro-usage)

namespace unit_a {
LINKED_INTERFACE
}
namespace unit_b {
LINKED_INTERFACE
}

}  // namespace linked
