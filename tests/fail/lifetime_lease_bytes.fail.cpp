// SPDX-License-Identifier: MIT
// expect: address of stack memory associated with local variable 'lease'
// flags: -Werror=return-stack-address
// compiler: clang
#include <scratchpad/workspace/workspace_arena.hpp>

namespace sp = scratchpad;

struct Stream {
  bool is_in_order() const { return true; }
  void wait() {}
};

#ifdef MUST_FAIL
std::span<std::byte> borrow(sp::WorkspaceArena<Stream>& arena) {
  sp::WorkspaceLease lease = arena.lease(64);
  return lease.span();
}
#else
std::span<std::byte> borrow(const sp::WorkspaceLease& lease) { return lease.span(); }
#endif
