// SPDX-License-Identifier: MIT
// Every core header and the umbrella, used on the host and in kernels of one .cu file; compiled with
// -Werror all-warnings, which makes an error of a host function that is called on the device. The control, -DCONTROL, has
// one and must not compile.
#include <cstddef>
#include <scratchpad/scratchpad.hpp>
#include <string_view>

namespace sp = scratchpad;

namespace {

struct SharedMemory : sp::HostSpace {
  static constexpr std::string_view name = "shared memory";
  static constexpr std::uint32_t max_depth = 4;
};
using Pool = sp::BumpAllocator<SharedMemory>;

struct Unchecked : SharedMemory {
  static constexpr bool bounds_checked = false;
};

struct Device : sp::HostSpace {
  static constexpr std::size_t quantum = sp::dynamic_quantum;
  static constexpr bool host_accessible = false;
};

struct alignas(64) Line {
  std::byte bytes[64];
};

// The one description, for both sides.
template <class AnyPool, class Body>
constexpr void sweep(AnyPool& pool, int n, Body body) {
  auto o = sp::tensor<float>(pool, "O", n, 8);
  for (int j = 0; j < 4; ++j) {
    sp::ScratchScope scope(pool, [] {});
    auto s = sp::tensor<float>(pool, "s", n, 8);
    body(pool, o, s, j);
    scope.rewind();
    (void)pool.template allocate<Line>(1, sp::align(64), "line");
    (void)pool.template try_allocate<double>(3, "maybe");
  }
  const auto at = pool.save();
  (void)pool.template allocate<std::byte>(3);
  pool.rewind(at);
}

struct Kernel {
  template <class AnyPool, class Tensor>
  constexpr void operator()(AnyPool& pool, Tensor& o, Tensor& s, int j) const {
    s(0, j) = 1.0F;
    sp::copy_to(pool, o, s);
    o.row(1)[0] = pool.is_live(o) ? static_cast<float>(pool.used() + pool.remaining() + pool.capacity()) : 0.0F;
    o(0, 1) = static_cast<float>(pool.peak() + pool.depth() + pool.quantum() + o.size());
  }
};

constexpr std::size_t need = sp::workspace_bytes<Pool>([](auto& pool) { sweep(pool, 8, sp::no_work); });

}  // namespace

__global__ void in_shared_memory(int n, float* out) {
  __shared__ alignas(64) std::byte memory[need];
  Pool pool(memory, sizeof memory);
  sweep(pool, n, Kernel{});
  pool.reset();
  out[threadIdx.x] = reinterpret_cast<float*>(memory)[0];
}

__global__ void in_global_memory(std::byte* memory, std::size_t bytes, std::size_t quantum, int n, float* out) {
  sp::BumpAllocator<Device> pool(memory, bytes, quantum);
  sweep(pool, n, Kernel{});
  sp::BumpAllocator<Unchecked> unchecked(memory, bytes);
  sweep(unchecked, n, Kernel{});
  out[threadIdx.x] = reinterpret_cast<float*>(memory)[0];
}

__global__ void measured_on_the_device(int n, std::size_t* bytes) {
  *bytes = sp::workspace_bytes<Pool>([n](Pool& pool) { sweep(pool, n, sp::no_work); });
  const auto layout_of = [](int m) { return [m](Pool& pool) { sweep(pool, m, sp::no_work); }; };
  const auto fit = sp::largest_fit<Pool>(*bytes, 1, n, 1, layout_of);
  bytes[1] = fit ? static_cast<std::size_t>(*fit) : 0;
}

#if defined(CONTROL)
void host_only();
__global__ void calls_the_host() { host_only(); }
#endif

int main() {
  sp::ScratchBuffer buffer(sp::workspace_requirement<Pool>([](auto& pool) { sweep(pool, 8, sp::no_work); }));
  sp::Recorder recorder;
  Pool pool(buffer, &recorder);
  sweep(pool, 8, Kernel{});
  pool.reset();
  return pool.used() == 0 ? 0 : 1;
}
