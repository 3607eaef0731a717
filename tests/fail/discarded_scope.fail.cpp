// SPDX-License-Identifier: MIT
// expect: ignoring (temporary|return value)
// flags: -Werror
#include <scratchpad/core.hpp>

namespace sp = scratchpad;

// Without a name it would rewind at once.
void use(sp::BumpAllocator<sp::HostSpace>& pool) {
#ifdef MUST_FAIL
  sp::ScratchScope{pool};
#else
  sp::ScratchScope scope{pool};
#endif
}
