// SPDX-License-Identifier: MIT
// expect: scratchpad: a pool with a dynamic quantum is measured with one
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

constexpr auto layout = [](Pool& pool) { (void)pool.allocate<char>(1); };

#ifdef MUST_FAIL
constexpr std::size_t bytes = sp::workspace_bytes(layout, 128);
#else
constexpr std::size_t bytes = sp::workspace_bytes(layout);
#endif
static_assert(bytes == 16);
