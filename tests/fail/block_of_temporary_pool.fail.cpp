// SPDX-License-Identifier: MIT
// expect: temporary.*will be destroyed
// flags: -Werror=dangling
// compiler: clang
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

std::size_t carve(std::span<std::byte> memory) {
#ifdef MUST_FAIL
  const std::span<float> block = Pool(memory).allocate<float>(4);
#else
  Pool pool(memory);
  const std::span<float> block = pool.allocate<float>(4);
#endif
  return block.size();
}
