// SPDX-License-Identifier: MIT
// expect: ignoring return value
// flags: -Werror
#include <scratchpad/core.hpp>

namespace sp = scratchpad;

void use(sp::BumpAllocator<sp::HostSpace>& pool) {
#ifdef MUST_FAIL
  pool.allocate<float>(4);
#else
  (void)pool.allocate<float>(4);
#endif
}
