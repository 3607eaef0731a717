// SPDX-License-Identifier: MIT
// expect: address of stack memory associated with local variable 'pool'
// flags: -Werror=return-stack-address
// compiler: clang
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

#ifdef MUST_FAIL
std::optional<std::span<float>> carve(std::span<std::byte> memory) {
  Pool pool(memory);
  return pool.try_allocate<float>(4);
}
#else
std::optional<std::span<float>> carve(Pool& pool) { return pool.try_allocate<float>(4); }
#endif
