// SPDX-License-Identifier: MIT
// expect: no matching (member )?function|could not convert|no known conversion
#include <scratchpad/core.hpp>

namespace sp = scratchpad;

void layout(sp::BumpAllocator<sp::HostSpace>& pool, [[maybe_unused]] const char* name) {
#ifdef MUST_FAIL
  (void)pool.allocate<float>(4, name);
#else
  (void)pool.allocate<float>(4, "name");
#endif
}
