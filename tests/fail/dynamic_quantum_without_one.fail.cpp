// SPDX-License-Identifier: MIT
// expect: scratchpad: a pool with a dynamic quantum is measured with one
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
struct Device : sp::HostSpace {
  static constexpr std::size_t quantum = sp::dynamic_quantum;
};
using Pool = sp::BumpAllocator<Device>;

constexpr auto layout = [](Pool& pool) { (void)pool.allocate<char>(1); };

#ifdef MUST_FAIL
constexpr std::size_t bytes = sp::workspace_bytes(layout);
#else
constexpr std::size_t bytes = sp::workspace_bytes(layout, 128);
#endif
static_assert(bytes == 128);
