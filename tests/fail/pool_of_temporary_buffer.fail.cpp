// SPDX-License-Identifier: MIT
// expect: deleted (function|member|conversion)
#include <scratchpad/scratch_buffer.hpp>

#include <scratchpad/core.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

void use() {
#ifdef MUST_FAIL
  Pool pool(sp::ScratchBuffer(64));
#else
  sp::ScratchBuffer buffer(64);
  Pool pool(buffer);
#endif
  (void)pool.used();
}
