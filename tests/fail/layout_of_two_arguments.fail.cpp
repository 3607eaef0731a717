// SPDX-License-Identifier: MIT
// expect: scratchpad: which pool does this layout run on\?
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

// The size of the problem is for the caller to bind, and not for the measurement to guess.
#ifdef MUST_FAIL
constexpr auto layout = [](Pool& pool, int n) { (void)sp::tensor<char>(pool, n); };
#else
constexpr auto layout = [](Pool& pool) { (void)sp::tensor<char>(pool, 1); };
#endif
constexpr std::size_t bytes = sp::workspace_bytes(layout);
static_assert(bytes == 16);
