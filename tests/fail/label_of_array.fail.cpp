// SPDX-License-Identifier: MIT
// expect: constant expression|consteval
#include <scratchpad/core.hpp>

namespace sp = scratchpad;

// The text would be gone when somebody prints it.
void layout(sp::BumpAllocator<sp::HostSpace>& pool) {
  [[maybe_unused]] const char name[] = "gone";
#ifdef MUST_FAIL
  (void)pool.allocate<float>(4, name);
#else
  (void)pool.allocate<float>(4, "gone");
#endif
}
