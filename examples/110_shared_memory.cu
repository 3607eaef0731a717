// SPDX-License-Identifier: MIT
// A tiled CUDA kernel in dynamic shared memory. One function, matrix_product::product, sizes the launch on the host and
// carves the memory in the kernel; its scopes end with a barrier of the block.
//
// Per step a block holds C, A and B as float; in front of that A, and then B, comes packed as bytes, in a scope of its own,
// so that the two packed tiles take one place.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include <cooperative_groups.h>

#include <scratchpad/core.hpp>

#include "support/cuda_matrix_product.hpp"
#include "support/cuda_program.hpp"

namespace cg = cooperative_groups;
namespace sp = scratchpad;
using matrix_product::Problem;
using matrix_product::Tile;

namespace {

using Pool = sp::BumpAllocator<sp::SharedSpace>;

constexpr Problem problem{128, 128, 256};
constexpr Tile tile;
constexpr std::size_t steps = problem.depth / tile.depth;
constexpr unsigned threads = 256;

constexpr std::size_t shared_bytes =
    sp::workspace_bytes([](Pool& pool) { matrix_product::product(pool, tile, steps, sp::NoFence{}, sp::no_work); });
// C, A, B: 64 x 64 x 4 B each; one packed tile: 64 x 32 B. More than the 48 KiB that a kernel has without asking.
static_assert(shared_bytes == 3 * 16'384 + 2'048);
static_assert(shared_bytes > 48 * 1'024);

__global__ void multiply(Problem p, Tile t, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                         std::span<float> c) {
  extern __shared__ __align__(16) std::byte memory[];
  Pool pool(memory, shared_bytes);
  const cg::thread_block block = cg::this_thread_block();
  const std::size_t row = blockIdx.y;
  const std::size_t column = blockIdx.x;
  const matrix_product::Compute compute(block, p, a, b, c, row, column);
  matrix_product::product(pool, t, p.depth / t.depth, sp::group_fence(block), compute);
}

}  // namespace

int main() {
  std::printf("shared memory of a block: %zu bytes\n", shared_bytes);
  if (!cuda_program::has_device()) return cuda_program::not_run;

  cuda_program::Checks checks;
  const auto a = matrix_product::some_bytes(problem.rows * problem.depth / 2, 1);
  const auto b = matrix_product::some_bytes(problem.depth * problem.columns / 2, 2);
  const cuda_program::DeviceArray<std::uint8_t> device_a(a);
  const cuda_program::DeviceArray<std::uint8_t> device_b(b);
  const cuda_program::DeviceArray<float> device_c(problem.rows * problem.columns);

  cuda_program::allow_shared_memory(multiply, shared_bytes);
  const dim3 grid(problem.columns / tile.columns, problem.rows / tile.rows);
  multiply<<<grid, threads, shared_bytes>>>(problem, tile, device_a.span(), device_b.span(), device_c.span());
  cuda_program::wait("multiply");

  checks.holds("the product is exactly the host's", device_c.values() == matrix_product::reference(problem, a, b));
  std::printf("ran: C of %zu x %zu, %s\n", problem.rows, problem.columns,
              checks.result() == 0 ? "as expected" : "wrong");
  return checks.result();
}
