// SPDX-License-Identifier: MIT
// The trap that detail::forget_origin is the cure for: an access at a constant offset into a static buffer, which
// AddressSanitizer takes as proven and does not instrument. With -DFORGET it must be reported.
#include <sanitizer/asan_interface.h>

#include <cstddef>
#include <scratchpad/config.hpp>

alignas(16) static std::byte memory[256];
volatile float sink;

int main() {
  std::byte* base = memory;
#ifdef FORGET
  base = scratchpad::detail::forget_origin(base);
#endif
  __asan_poison_memory_region(base, sizeof memory);
  sink = *reinterpret_cast<float*>(base + 12);
}
