// SPDX-License-Identifier: MIT
// expect: scratchpad: Space must model MemorySpace
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
struct Space : sp::HostSpace {
#ifdef MUST_FAIL
  static constexpr std::size_t quantum = 24;
#else
  static constexpr std::size_t quantum = 32;
#endif
};

std::size_t use(sp::BumpAllocator<Space>& pool) { return pool.used(); }
