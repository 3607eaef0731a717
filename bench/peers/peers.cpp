// SPDX-License-Identifier: MIT
// The same round with this library and with what people use instead: open a scope, carve a block of a constant size and one
// of a size known at run time, end the scope. It prints one table; ../README.md says what it does not show.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>

#include <scratchpad/scratchpad.hpp>

#if defined(PEERS_LLVM)
#include <llvm/Support/Allocator.h>
#endif
#if defined(PEERS_FOONATHAN)
#include <foonathan/memory/memory_stack.hpp>
#endif

namespace {

namespace sp = scratchpad;

constexpr std::size_t constant_count = 128;
constexpr int rounds = 1 << 21;
constexpr int repeats = 9;

alignas(64) std::byte memory[std::size_t{1} << 16];

// The compiler must take the block for used, and its memory for written to.
void use(const void* block) { asm volatile("" : : "r"(block) : "memory"); }

// Read at run time, so that no size can be folded.
std::size_t run_time_count() {
  static const volatile std::size_t count = 100;
  return count;
}

// The least of several repeats: what disturbs a measurement only ever adds to it.
template <class Round>
void measure(const char* name, const char* ends_by, Round round) {
  const std::size_t n = run_time_count();
  double best = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) round(n);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    const double each = took.count() / rounds;
    best = repeat == 0 ? each : std::min(best, each);
  }
  std::printf("%-34s %8.2f   %s\n", name, best, ends_by);
}

void with_scratchpad() {
  sp::BumpAllocator<sp::HostSpace> pool(memory);
  measure("scratchpad::BumpAllocator", "ScratchScope; nests", [&](std::size_t n) {
    const sp::ScratchScope scope(pool);
    use(pool.allocate<float>(constant_count).data());
    use(pool.allocate<float>(n).data());
  });
}

void by_hand() {
  struct Carver {
    std::byte* base;
    std::size_t used;
    std::size_t capacity;
    float* carve(std::size_t n) {
      if (n > (capacity - used) / sizeof(float)) std::abort();
      std::byte* const block = base + used;
      used += (n * sizeof(float) + 15) & ~std::size_t{15};
      return reinterpret_cast<float*>(block);
    }
  };
  Carver carver{memory, 0, sizeof memory};
  use(&carver);
  measure("one offset by hand", "the offset put back; nests; not if an exception leaves", [&](std::size_t n) {
    const std::size_t used = carver.used;
    use(carver.carve(constant_count));
    use(carver.carve(n));
    carver.used = used;
  });
}

void with_pmr() {
  std::pmr::monotonic_buffer_resource resource(memory, sizeof memory, std::pmr::null_memory_resource());
  measure("std::pmr::monotonic_buffer_resource", "release(): everything, no nesting", [&](std::size_t n) {
    use(resource.allocate(constant_count * sizeof(float), 16));
    use(resource.allocate(n * sizeof(float), 16));
    resource.release();
  });
}

void with_llvm() {
#if defined(PEERS_LLVM)
  llvm::BumpPtrAllocator allocator;
  measure("llvm::BumpPtrAllocator", "Reset(): everything, no nesting", [&](std::size_t n) {
    use(allocator.Allocate(constant_count * sizeof(float), llvm::Align(16)));
    use(allocator.Allocate(n * sizeof(float), llvm::Align(16)));
    allocator.Reset();
  });
#else
  std::printf("not run: llvm::BumpPtrAllocator, LLVM was not found\n");
#endif
}

void with_foonathan() {
#if defined(PEERS_FOONATHAN)
  foonathan::memory::memory_stack<> stack(sizeof memory);
  measure("foonathan::memory::memory_stack", "unwind(marker); nests", [&](std::size_t n) {
    const auto marker = stack.top();
    use(stack.allocate(constant_count * sizeof(float), 16));
    use(stack.allocate(n * sizeof(float), 16));
    stack.unwind(marker);
  });
#else
  std::printf("not run: foonathan::memory::memory_stack, foonathan_memory was not found\n");
#endif
}

}  // namespace

int main() {
  if (SCRATCHPAD_CHECKS) std::printf("This build checks: its pools are watched, and these figures say nothing.\n\n");
  std::printf("%-34s %8s   %s\n", "scope, two blocks, end", "ns", "how the scope ends");
  with_scratchpad();
  by_hand();
  with_pmr();
  with_llvm();
  with_foonathan();
}
