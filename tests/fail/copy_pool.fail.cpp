// SPDX-License-Identifier: MIT
// expect: deleted (function|constructor)
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

#ifdef MUST_FAIL
void layout(Pool pool);
#else
void layout(Pool& pool);
#endif

void use(Pool& pool) { layout(pool); }
