// SPDX-License-Identifier: MIT
// Two kinds of pools in one kernel: the block's, whose scopes end with a barrier, and one per thread, carved from it, whose
// scopes are the thread's own business. One layout sizes both.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

#include <cooperative_groups.h>

#include <scratchpad/core.hpp>

#include "support/cuda_medians.hpp"
#include "support/cuda_program.hpp"

namespace cg = cooperative_groups;
namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::SharedSpace>;

constexpr std::size_t threads = 128;
constexpr std::size_t rows = 32;
constexpr std::size_t row_length = threads + medians::window - 1;

constexpr std::size_t shared_bytes =
    sp::workspace_bytes([](Pool& pool) { medians::rows(pool, threads, rows, sp::NoFence{}, sp::no_work); });
// A window of 9 floats: 36 B, rounded up to 48. 128 threads have 6,144 B; a row of 136 floats has 544.
static_assert(medians::own_bytes == 48);
static_assert(shared_bytes == 6'144 + 544);

__global__ void filter(std::span<const float> in, std::span<float> out) {
  extern __shared__ __align__(16) std::byte memory[];
  Pool pool(memory, shared_bytes);
  const cg::thread_block block = cg::this_thread_block();
  medians::rows(pool, threads, rows, sp::group_fence(block), medians::Compute(block, in, out));
}

}  // namespace

int main() {
  std::printf("shared memory of a block: %zu bytes, of which %zu per thread\n", shared_bytes, medians::own_bytes);
  if (!cuda_program::has_device()) return cuda_program::not_run;

  std::vector<float> in(rows * row_length);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 7'919 % 1'009);
  std::vector<float> expected;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t r = 0; r < threads; ++r) {
      std::vector<float> sorted(&in[row * row_length + r], &in[row * row_length + r] + medians::window);
      std::sort(sorted.begin(), sorted.end());
      expected.push_back(sorted[medians::window / 2]);
    }
  }

  cuda_program::Checks checks;
  const cuda_program::DeviceArray<float> device_in(in);
  const cuda_program::DeviceArray<float> device_out(rows * threads);
  filter<<<1, threads, shared_bytes>>>(device_in.span(), device_out.span());
  cuda_program::wait("filter");
  checks.holds("the medians are the host's", device_out.values() == expected);
  std::printf("ran: %zu medians, %s\n", expected.size(), checks.result() == 0 ? "as expected" : "wrong");
  return checks.result();
}
