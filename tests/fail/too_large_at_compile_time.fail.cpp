// SPDX-License-Identifier: MIT
// expect: ScratchOverflow
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

#ifdef MUST_FAIL
constexpr std::size_t elements = static_cast<std::size_t>(-1) / 4;
#else
constexpr std::size_t elements = 4;
#endif
constexpr std::size_t bytes = sp::workspace_bytes([](Pool& pool) { (void)pool.allocate<double>(elements); });
static_assert(bytes == 32);
