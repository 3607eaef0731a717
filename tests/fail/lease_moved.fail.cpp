// SPDX-License-Identifier: MIT
// expect: deleted
#include <utility>

#include <scratchpad/workspace/workspace_arena.hpp>

void use(const scratchpad::WorkspaceLease& lease) {
#if defined(MUST_FAIL)
  static_cast<void>(std::move(lease).span());  // a const rvalue
#else
  static_cast<void>(lease.span());
#endif
}
