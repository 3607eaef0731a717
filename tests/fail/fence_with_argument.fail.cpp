// SPDX-License-Identifier: MIT
// expect: scratchpad: a fence is called without arguments
#include <scratchpad/core.hpp>

namespace sp = scratchpad;

void use(sp::BumpAllocator<sp::HostSpace>& pool) {
#ifdef MUST_FAIL
  sp::ScratchScope scope(pool, [](int) {});
#else
  sp::ScratchScope scope(pool, [] {});
#endif
}
