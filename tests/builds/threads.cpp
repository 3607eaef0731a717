// SPDX-License-Identifier: MIT
// One pool per thread, nothing shared: ThreadSanitizer must have nothing to say, which includes what the library itself
// keeps in statics (the default observers, the failure handler).
//
//   threads           each thread has a pool of its own; exit status 0
//   threads shared    the control: two threads use one pool, which ThreadSanitizer must report
#include <cstddef>
#include <cstdio>
#include <scratchpad/scratchpad.hpp>
#include <string_view>
#include <thread>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

namespace {

constexpr std::size_t pool_bytes = 4096;
constexpr int rounds = 100'000;

struct alignas(64) Memory {
  std::byte bytes[pool_bytes];
};
Memory memories[2];

// The sum of what was written and read back, so that nothing can be left out.
float work(Pool& pool) {
  float sum = 0.0F;
  for (int round = 0; round < rounds; ++round) {
    sum += static_cast<float>(pool.allocate<float>(0).size());
  }
  for (int round = 0; round < 1'000; ++round) {
    sp::ScratchScope scope(pool);
    const auto outer = sp::tensor<float>(pool, "outer", 16);
    {
      sp::ScratchScope inner(pool);
      const auto made = sp::tensor<float>(pool, "made", 16);
      for (float& x : made.span()) x = 1.0F;
      (void)pool.allocate<char>(1, sp::align(64));
      sp::copy_to(pool, outer, made);
    }
    sum += outer(15);
    if (pool.try_allocate<char>(pool_bytes)) sum += 1.0F;
  }
  return sum;
}

void own_pool(std::byte* memory, float* sum) {
  const std::size_t need = sp::workspace_bytes([](Pool& pool) {
    (void)pool.allocate<float>(0);
    (void)pool.allocate<float>(16);
  });
  Pool empty(nullptr, 0);
  for (int round = 0; round < rounds; ++round) *sum += static_cast<float>(empty.allocate<float>(0).size());
  Pool pool(memory, pool_bytes);
  *sum += work(pool) + static_cast<float>(need);
}

}  // namespace

int main(int argc, char** argv) {
  float sums[2] = {};
  if (argc == 2 && std::string_view(argv[1]) == "shared") {
    Pool pool(memories[0].bytes);
    std::thread first([&] { (void)pool.try_allocate<char>(1); });
    std::thread second([&] { (void)pool.try_allocate<char>(1); });
    first.join();
    second.join();
    return 0;
  }
  {
    std::thread first(own_pool, memories[0].bytes, &sums[0]);
    std::thread second(own_pool, memories[1].bytes, &sums[1]);
    first.join();
    second.join();
  }
  // 16 floats measure as 64 bytes; every round adds the 1 that was copied out; the block of the whole pool never fits.
  const bool right = sums[0] == 1'064.0F && sums[1] == 1'064.0F;
  if (!right)
    std::printf("threads.cpp: sums %g and %g, expected 1064\n", static_cast<double>(sums[0]),
                static_cast<double>(sums[1]));
  return right ? 0 : 1;
}
