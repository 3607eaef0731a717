// SPDX-License-Identifier: MIT
// The CUDA adapter, instantiated. It is compiled only: nothing here runs.
#include <cstddef>
#include <type_traits>
#include <utility>

#include <scratchpad/core.hpp>
#include <scratchpad/workspace/cuda.hpp>
#include <scratchpad/workspace/workspace_arena.hpp>

namespace sp = scratchpad;

namespace {

struct DeviceSpace : sp::HostSpace {
  static constexpr std::string_view name = "device";
  static constexpr bool host_accessible = false;
};
using Pool = sp::BumpAllocator<DeviceSpace>;

__global__ void twice(float* scratch, std::size_t n) {
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) scratch[i] *= 2;
}

// A pool over leased device memory, inside the kernel.
__global__ void carve(std::byte* memory, std::size_t bytes) {
  Pool pool(memory, bytes);
  sp::ScratchScope scope(pool, [] { __syncthreads(); });
  const auto block = pool.allocate<float>(32);
  block[threadIdx.x % 32] = 0;
}

}  // namespace

static_assert(sp::Queue<sp::CudaStream> && sp::Event<sp::CudaEvent>);
static_assert(std::is_nothrow_move_constructible_v<sp::CudaEvent> && !std::is_copy_constructible_v<sp::CudaEvent>);

void leases(cudaStream_t stream) {
  sp::CudaStream queue(stream);
  sp::CudaResource device_memory;
  sp::CudaStreamResource stream_memory(stream);
  sp::WorkspaceArena arena(queue, &device_memory);
  sp::WorkspaceArena ordered(queue, &stream_memory);
  arena.reserve(1 << 20, "all");
  arena.freeze();
  auto lease = arena.lease(4096, sp::align(256), "scratch");
  auto other = ordered.lease(sp::Requirement{4096, 128});
  Pool pool(lease);
  {
    sp::ScratchScope scope(pool, sp::drain(queue));
    twice<<<1, 32, 0, queue.get()>>>(pool.allocate<float>(32, "x").data(), 32);
  }
  carve<<<1, 32, 0, queue.get()>>>(lease.data(), lease.size());
  lease.replace(128);
  lease.release_after(sp::CudaEvent::record(queue.get()));
  other.release();
  static_cast<void>(arena.statistics().drains + ordered.stranded_bytes() + sp::device_alignment(queue));
}
