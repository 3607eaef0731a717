// SPDX-License-Identifier: MIT
// expect: deleted
#include <utility>

#include <scratchpad/workspace/workspace_arena.hpp>

void use(scratchpad::WorkspaceLease& lease) {
#if defined(MUST_FAIL)
  scratchpad::WorkspaceLease other(lease);
#else
  scratchpad::WorkspaceLease other(std::move(lease));
#endif
}
