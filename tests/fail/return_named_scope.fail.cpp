// SPDX-License-Identifier: MIT
// expect: deleted (function|constructor)
#include <scratchpad/core.hpp>

namespace sp = scratchpad;

sp::ScratchScope<sp::HostSpace> open(sp::BumpAllocator<sp::HostSpace>& pool) {
#ifdef MUST_FAIL
  sp::ScratchScope<sp::HostSpace> scope(pool);
  return scope;
#else
  return sp::ScratchScope<sp::HostSpace>(pool);  // made where it will live
#endif
}
