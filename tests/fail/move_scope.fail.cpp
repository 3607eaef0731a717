// SPDX-License-Identifier: MIT
// expect: deleted (function|constructor)
#include <scratchpad/core.hpp>

#include <utility>

namespace sp = scratchpad;

void use(sp::BumpAllocator<sp::HostSpace>& pool) {
  sp::ScratchScope<sp::HostSpace> scope(pool);
#ifdef MUST_FAIL
  sp::ScratchScope<sp::HostSpace> second(std::move(scope));
#else
  sp::ScratchScope<sp::HostSpace> second(pool);
#endif
}
