// SPDX-License-Identifier: MIT
// expect: no matching|deleted
#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/workspace/workspace_arena.hpp>

struct Queue {
  bool is_in_order() const { return true; }
  void wait() {}
};

void use(scratchpad::WorkspaceArena<Queue>& arena) {
#if defined(MUST_FAIL)
  scratchpad::BumpAllocator<scratchpad::HostSpace> pool(arena.lease(64));
#else
  auto lease = arena.lease(64);
  scratchpad::BumpAllocator<scratchpad::HostSpace> pool(lease);
#endif
}
