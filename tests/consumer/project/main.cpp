// SPDX-License-Identifier: MIT
// The include is spelled the same way however the library got here.
#include <scratchpad/scratchpad.hpp>

#include <cstddef>

int main() {
  using Pool = scratchpad::BumpAllocator<scratchpad::HostSpace>;
  constexpr std::size_t need =
      scratchpad::workspace_bytes([](Pool& pool) { (void)scratchpad::tensor<float>(pool, "t", 3, 5); });
  static_assert(need == 64, "60 bytes, rounded up to the quantum of 16");
  alignas(16) std::byte memory[need];
  Pool pool(memory);
  auto t = scratchpad::tensor<float>(pool, "t", 3, 5);
  t(2, 4) = 7.0F;
  return pool.used() == 64 && t(2, 4) == 7.0F ? 0 : 1;
}
