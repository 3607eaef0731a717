// SPDX-License-Identifier: MIT
// expect: scratchpad: this layout cannot be called with the pool
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;
struct Tcm : sp::HostSpace {};

#ifdef MUST_FAIL
using Named = sp::BumpAllocator<Tcm>;
#else
using Named = Pool;
#endif
constexpr std::size_t bytes = sp::workspace_bytes<Named>([](Pool& pool) { (void)pool.allocate<char>(1); });
static_assert(bytes == 16);
