// SPDX-License-Identifier: MIT
// A kernel with too little shared memory traps, and leaves a record that the host reads. The trap ends the CUDA context, so
// the launch that fails is this program's last.
#include <cstddef>
#include <cstdio>
#include <new>

#include <cooperative_groups.h>

#include <scratchpad/core.hpp>

#include "support/cuda_program.hpp"

namespace cg = cooperative_groups;
namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::SharedSpace>;
constexpr unsigned threads = 64;

template <class Fence, class Body>
SCRATCHPAD_HD constexpr void layout(Pool& pool, const Fence& fence, const Body& body) {
  const auto sum = sp::tensor<float>(pool, "sum", threads);  // block 0, 256 B
  for (int j = 0; j < 3; ++j) {
    const sp::ScratchScope scope(pool, fence);
    const auto x = sp::tensor<float>(pool, "x", threads);                         // blocks 1, 3, 5, 256 B
    const auto y = sp::tensor<float>(pool, "y", j == 1 ? 2 * threads : threads);  // blocks 2, 4, 6; block 4: 512 B
    body(sum, x, y);
  }
}
constexpr std::size_t need = sp::workspace_bytes([](Pool& pool) { layout(pool, sp::NoFence{}, sp::no_work); });
static_assert(need == 256 + 256 + 512);

__global__ void run(std::size_t bytes, sp::DeviceFailure* record, float* out) {
  extern __shared__ __align__(16) std::byte memory[];
  Pool pool(memory, bytes);
  pool.report_failures_to(record);
  const cg::thread_block block = cg::this_thread_block();
  layout(pool, sp::group_fence(block), [&](const auto& sum, const auto& x, const auto& y) {
    const unsigned r = threadIdx.x;
    x(r) = 1;
    y(r) = 2;
    sum(r) = x(r) + y(r);
    out[r] = sum(r);
  });
}

}  // namespace

int main() {
  if (!cuda_program::has_device()) return cuda_program::not_run;
  cuda_program::Checks checks;

  // Memory of the host that the device writes to directly: it can still be read when the context is lost.
  void* mapped = nullptr;
  cuda_program::check(cudaHostAlloc(&mapped, sizeof(sp::DeviceFailure), cudaHostAllocMapped), "cudaHostAlloc");
  auto* const record = new (mapped) sp::DeviceFailure;
  sp::DeviceFailure* on_device = nullptr;
  cuda_program::check(cudaHostGetDevicePointer(reinterpret_cast<void**>(&on_device), mapped, 0),
                      "cudaHostGetDevicePointer");
  const cuda_program::DeviceArray<float> out(threads);

  run<<<1, threads, need>>>(need, on_device, out.span().data());
  cuda_program::wait("run, with enough memory");
  checks.equal("no failure with enough memory", record->what, sp::DeviceFailure::none);
  checks.holds("it computes", out.values()[threads - 1] == 3.0F);

  // 16 bytes less: block 4 asks for 512 where 1,008 - 512 are left.
  run<<<1, threads, need - 16>>>(need - 16, on_device, out.span().data());
  const cudaError_t error = cudaDeviceSynchronize();
  checks.holds("the kernel traps", error != cudaSuccess);
  const volatile sp::DeviceFailure* const left = record;
  checks.equal("what", left->what, sp::DeviceFailure::overflow);
  checks.equal("the block asked for", left->block, 4);
  checks.equal("bytes asked for", left->requested, 512);
  checks.equal("bytes used", left->used, 512);
  checks.equal("bytes in all", left->capacity, 1'008);
  std::printf("ran: trapped with '%s', block %u asked for %llu bytes\n", cudaGetErrorString(error), left->block,
              static_cast<unsigned long long>(left->requested));
  return checks.result();
}
