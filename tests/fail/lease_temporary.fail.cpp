// SPDX-License-Identifier: MIT
// expect: deleted
#include <scratchpad/workspace/workspace_arena.hpp>

struct Queue {
  bool is_in_order() const { return true; }
  void wait() {}
};

void use(scratchpad::WorkspaceArena<Queue>& arena) {
  auto lease = arena.lease(64);
#if defined(MUST_FAIL)
  static_cast<void>(arena.lease(64).data());
#else
  static_cast<void>(lease.data());
#endif
}
