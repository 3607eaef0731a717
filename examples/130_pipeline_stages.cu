// SPDX-License-Identifier: MIT
// How deep may a pipeline be? largest_fit asks the kernel's own layout, against the limit of the device that is there, and
// the kernel is launched with the answer.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <vector>

#include <cuda_pipeline.h>

#include <cooperative_groups.h>

#include <scratchpad/core.hpp>

#include "support/cuda_pipeline.hpp"
#include "support/cuda_program.hpp"

namespace cg = cooperative_groups;
namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::SharedSpace>;

constexpr std::size_t fewest_stages = 2;
constexpr std::size_t most_stages = 16;
constexpr std::size_t tiles = 64;
// 227 KiB, of compute capability 9.0 and 10.0; taken where there is no device to ask.
constexpr std::size_t usual_limit = 232'448;

constexpr auto layout_of(std::size_t stages) {
  return [stages](Pool& pool) { pipeline::stream(pool, stages, sp::no_work); };
}
constexpr std::optional<std::size_t> stages_in(std::size_t limit) {
  return sp::largest_fit<Pool>(limit, fewest_stages, most_stages, 1, layout_of);
}

// 256 sums of 4 B, and 4,096 x 4 B = 16,384 B a stage: 1,024 + 14 x 16,384 = 230,400, a 15th does not fit.
static_assert(stages_in(usual_limit) == 14);
static_assert(sp::workspace_bytes(layout_of(14)) == 230'400);
static_assert(stages_in(48 * 1'024) == 2);
static_assert(stages_in(1'024 + 2 * 16'384 - 1) == std::nullopt);

/// A thread's asynchronous copies into shared memory.
struct AsyncCopy {
  __device__ void start(float* to, const float* from) const { __pipeline_memcpy_async(to, from, 4 * sizeof(float)); }
  __device__ void commit() const { __pipeline_commit(); }
  __device__ void wait(std::size_t in_flight) const { __pipeline_wait_prior(in_flight); }
};

__global__ void sum(std::size_t stages, std::size_t bytes, std::span<const float> in, float* out) {
  extern __shared__ __align__(16) std::byte memory[];
  Pool pool(memory, bytes);
  pipeline::stream(pool, stages, pipeline::Sum(cg::this_thread_block(), AsyncCopy{}, in, out));
}

}  // namespace

int main() {
  cuda_program::Checks checks;
  const bool has_device = cuda_program::has_device();
  const std::size_t limit = has_device ? cuda_program::shared_memory_limit() : usual_limit;
  const std::size_t stages = stages_in(limit).value_or(0);
  checks.equal("stages, by division", stages, std::min(most_stages, (limit - 1'024) / 16'384));
  const std::size_t bytes = sp::workspace_bytes(layout_of(stages));
  std::printf("%zu bytes of shared memory (%s): %zu stages, %zu bytes\n", limit,
              has_device ? "asked of the device" : "assumed, as there is no device to ask", stages, bytes);
  if (!has_device) return checks.result_without_device();

  std::vector<float> in(tiles * pipeline::tile);
  // -3 to 3 in turn: every partial sum is a small integer, exact in every order.
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 7) - 3;
  float expected = 0;
  for (float x : in) expected += x;

  const cuda_program::DeviceArray<float> device_in(in);
  const cuda_program::DeviceArray<float> device_out(1);
  cuda_program::allow_shared_memory(sum, bytes);
  sum<<<1, pipeline::threads, bytes>>>(stages, bytes, device_in.span(), device_out.span().data());
  cuda_program::wait("sum");
  checks.holds("the sum is the host's", device_out.values()[0] == expected);
  std::printf("ran: %zu tiles through %zu stages, sum %g, expected %g\n", tiles, stages,
              static_cast<double>(device_out.values()[0]), static_cast<double>(expected));
  return checks.result();
}
