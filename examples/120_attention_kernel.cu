// SPDX-License-Identifier: MIT
// The attention sweep of 010_long_context as a CUDA kernel: the same description of the scratch, the same computation, in
// shared memory. A block of threads takes 16 rows; its scopes end with a barrier, and all threads copy what survives.
//
// It shows how the memory is managed, and is no fast attention: a row is computed by one thread, without tensor cores.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <scratchpad/core.hpp>

#include "support/attention.hpp"
#include "support/attention_figures.hpp"
#include "support/attention_reference.hpp"
#include "support/cuda_attention.hpp"
#include "support/cuda_program.hpp"
#include "support/embedding.hpp"

namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::SharedSpace>;

constexpr attention::Shape shape{16, 16, 128};
constexpr std::size_t tokens = 96;
constexpr std::size_t group = 4;
constexpr std::size_t rows = tokens * group;
constexpr unsigned threads = 64;

constexpr std::size_t shared_bytes = attention::group_bytes<Pool>(shape);
// The same as the demo's: the same skeleton carves it.
static_assert(attention::figures[0].queries == 16 && attention::figures[0].keys == 16);
static_assert(shared_bytes == attention::figures[0].peak);
static_assert(shared_bytes <= 227 * 1'024, "what a block may have on sm_90 and sm_100");

/// cooperative_groups::thread_block is no literal type, and attention::sweep carries no device marker.
struct Block {
  __device__ std::size_t thread_rank() const { return threadIdx.x; }
  __device__ std::size_t size() const { return blockDim.x; }
  __device__ void sync() const { __syncthreads(); }
};

__global__ void attend(attention::Shape tile, attention::Head head) {
  extern __shared__ __align__(16) std::byte memory[];
  Pool pool(memory, shared_bytes);
  attention::attend_by_group(Block{}, pool, tile, head, blockIdx.x);
}

/// By one host thread, in ordinary memory.
std::vector<float> on_the_host(const attention::Head& head) {
  using HostPool = sp::BumpAllocator<sp::HostSpace>;
  alignas(16) static std::byte memory[shared_bytes];
  std::vector<float> output(rows * shape.head_dim);
  HostPool pool(memory);
  for (std::size_t i = 0; i < attention::query_blocks(shape, tokens, group); ++i) {
    const sp::ScratchScope scope(pool);
    const attention::QueryBlock block = attention::query_block(shape, tokens, group, i);
    const std::size_t first = block.first_row * shape.head_dim;
    const std::size_t size = std::min(shape.queries * shape.head_dim, output.size() - first);
    const attention::Inputs inputs{head.queries.subspan(first, size), head.keys, head.values, block.first_row, group};
    attention::sweep(pool, shape, block.tiles, attention::Compute<>(inputs, std::span(output).subspan(first, size)));
  }
  return output;
}

}  // namespace

int main() {
  std::printf("shared memory of a block: %zu bytes\n", shared_bytes);
  if (!cuda_program::has_device()) return cuda_program::not_run;
  if (cuda_program::shared_memory_limit() < shared_bytes) {
    std::printf("not run: a block on this device may have %zu bytes of shared memory\n",
                cuda_program::shared_memory_limit());
    return cuda_program::not_run;
  }

  std::string text(tokens, ' ');
  for (std::size_t i = 0; i < tokens; ++i) text[i] = static_cast<char>('a' + embedding::mix(i) % 7);
  const embedding::GroupedHeads heads(group, shape.head_dim);
  const std::vector<Bf16> keys = heads.keys(text);
  const std::vector<Bf16> values = heads.values(text);
  std::vector<Bf16> queries(rows * shape.head_dim);
  for (std::size_t r = 0; r < rows; ++r) {
    heads.query(text, r, std::span(queries).subspan(r * shape.head_dim, shape.head_dim));
  }
  const std::vector<float> host = on_the_host({queries, keys, values, {}, tokens, group});

  const cuda_program::DeviceArray<Bf16> device_queries(queries);
  const cuda_program::DeviceArray<Bf16> device_keys(keys);
  const cuda_program::DeviceArray<Bf16> device_values(values);
  const cuda_program::DeviceArray<float> device_output(queries.size());
  cuda_program::allow_shared_memory(attend, shared_bytes);
  attend<<<static_cast<unsigned>(attention::query_blocks(shape, tokens, group)), threads, shared_bytes>>>(
      shape, {device_queries.span(), device_keys.span(), device_values.span(), device_output.span(), tokens, group});
  cuda_program::wait("attend");
  const std::vector<float> device = device_output.values();

  // Each is at most `tolerance` away from the exact result, so they are at most twice that apart.
  cuda_program::Checks checks;
  double worst = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t visible = r / group + 1;
    const std::size_t first = r * shape.head_dim;
    const attention::Reference exact =
        attention::reference_row(std::span(queries).subspan(first, shape.head_dim), keys, values, visible);
    const double tolerance = attention::tolerance(exact, shape.head_dim, visible, 1 + (visible - 1) / shape.keys);
    const double of_device = attention::largest_difference(std::span(device).subspan(first, shape.head_dim), exact);
    const double of_host = attention::largest_difference(std::span(host).subspan(first, shape.head_dim), exact);
    checks.holds("the host's row " + std::to_string(r) + " is within the tolerance", of_host <= tolerance);
    checks.holds("the device's row " + std::to_string(r) + " is within the tolerance", of_device <= tolerance);
    worst = std::max(worst, of_device / tolerance);
    for (std::size_t c = 0; c < shape.head_dim; ++c) {
      const double apart = std::abs(static_cast<double>(device[first + c]) - static_cast<double>(host[first + c]));
      checks.holds("host and device are within twice the tolerance", apart <= 2 * tolerance);
    }
  }
  std::printf("ran: %zu rows, largest difference from float64 %.3f of the tolerance\n", rows, worst);
  return checks.result();
}
