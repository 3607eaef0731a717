// SPDX-License-Identifier: MIT
// expect: scratchpad: which pool does this layout run on\?
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

constexpr auto layout = [](auto& pool) { (void)pool.template allocate<char>(1); };

#ifdef MUST_FAIL
constexpr std::size_t bytes = sp::workspace_bytes(layout);
#else
constexpr std::size_t bytes = sp::workspace_bytes<Pool>(layout);
#endif
static_assert(bytes == 16);
