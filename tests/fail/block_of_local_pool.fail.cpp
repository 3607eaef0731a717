// SPDX-License-Identifier: MIT
// expect: address of stack memory|return-stack-address
// flags: -Werror=return-stack-address
// compiler: clang
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

#ifdef MUST_FAIL
std::span<float> carve(std::span<std::byte> memory) {
  Pool pool(memory);
  return pool.allocate<float>(4);
}
#else
std::span<float> carve(Pool& pool) { return pool.allocate<float>(4); }
#endif
