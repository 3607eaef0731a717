// SPDX-License-Identifier: MIT
// expect: scratchpad: this memory is shared by threads: a scope needs a fence
#include <scratchpad/core.hpp>

namespace sp = scratchpad;

void use(sp::BumpAllocator<sp::SharedSpace>& pool) {
#ifdef MUST_FAIL
  sp::ScratchScope scope(pool);
#else
  sp::ScratchScope scope(pool, sp::NoFence{});
#endif
}
