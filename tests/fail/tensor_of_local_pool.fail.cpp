// SPDX-License-Identifier: MIT
// expect: address of stack memory|return-stack-address
// flags: -Werror=return-stack-address
// compiler: clang
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;
using Matrix = sp::Tensor<float, 2, sp::HostSpace>;

#ifdef MUST_FAIL
Matrix carve(std::span<std::byte> memory) {
  Pool pool(memory);
  return sp::tensor<float>(pool, 2, 3);
}
#else
Matrix carve(Pool& pool) { return sp::tensor<float>(pool, 2, 3); }
#endif
