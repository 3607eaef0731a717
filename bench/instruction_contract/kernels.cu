// SPDX-License-Identifier: MIT
// Pairs of kernels that differ in one thing: whether a pool carves the shared memory or the author does, by hand. Both
// carve spans, and the work on them is the same functions over plain pointers. ptx_contract.py compiles and compares.
#include <cstddef>
#include <span>

#include <scratchpad/core.hpp>

namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::SharedSpace>;
// For a launch with exactly the measured bytes.
using ExactPool = sp::BumpAllocator<sp::UncheckedSharedSpace>;

constexpr int rows = 16;
constexpr int columns = 32;
constexpr std::size_t elements = std::size_t{rows} * columns;
constexpr std::size_t tile_bytes = elements * sizeof(float);

struct Barrier {
  __device__ void operator()() const { __syncthreads(); }
};

// ---- the work -------------------------------------------------------------------------------------------------------

__device__ void clear(float* tile) { tile[threadIdx.x] = 0.0f; }
__device__ void load(float* tile, const float* in, int at) {
  tile[threadIdx.x] = in[at * static_cast<int>(elements) + static_cast<int>(threadIdx.x)];
  __syncthreads();
}
__device__ void combine(float* to, const float* from, float factor) {
  to[threadIdx.x] = from[threadIdx.x ^ 1u] * factor;
  __syncthreads();
}
__device__ void accumulate(float* sum, const float* a, const float* b) {
  sum[threadIdx.x] += a[threadIdx.x] * b[threadIdx.x];
}
__device__ void store(float* out, const float* tile) { out[threadIdx.x] = tile[threadIdx.x]; }

// What a careful author does where a block may not fit.
[[noreturn]] __device__ void fail() {
  __trap();
  __builtin_unreachable();
}

}  // namespace

// ---- straight: constant shapes, no scope ----------------------------------------------------------------------------

extern "C" __global__ void straight_pool(const float* in, float* out) {
  alignas(16) __shared__ std::byte memory[2 * tile_bytes];
  Pool pool(memory, sizeof memory);
  const auto a = sp::tensor<float>(pool, "a", rows, columns);
  const auto b = sp::tensor<float>(pool, "b", rows, columns);
  load(a.data(), in, 0);
  combine(b.data(), a.data(), 2.0f);
  store(out, b.data());
}
extern "C" __global__ void straight_hand(const float* in, float* out) {
  alignas(16) __shared__ std::byte memory[2 * tile_bytes];
  const std::span<float> a(reinterpret_cast<float*>(memory), elements);
  const std::span<float> b(reinterpret_cast<float*>(memory + tile_bytes), elements);
  load(a.data(), in, 0);
  combine(b.data(), a.data(), 2.0f);
  store(out, b.data());
}

// ---- looped: a scope per tile ---------------------------------------------------------------------------------------

extern "C" __global__ void looped_pool(const float* in, float* out, int tiles) {
  alignas(16) __shared__ std::byte memory[3 * tile_bytes];
  Pool pool(memory, sizeof memory);
  const auto sum = sp::tensor<float>(pool, "sum", rows, columns);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const sp::ScratchScope scope(pool, sp::NoFence{});
    const auto a = sp::tensor<float>(pool, "a", rows, columns);
    const auto b = sp::tensor<float>(pool, "b", rows, columns);
    load(a.data(), in, tile);
    combine(b.data(), a.data(), 2.0f);
    accumulate(sum.data(), a.data(), b.data());
  }
  store(out, sum.data());
}
extern "C" __global__ void looped_hand(const float* in, float* out, int tiles) {
  alignas(16) __shared__ std::byte memory[3 * tile_bytes];
  const std::span<float> sum(reinterpret_cast<float*>(memory), elements);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const std::span<float> a(reinterpret_cast<float*>(memory + tile_bytes), elements);
    const std::span<float> b(reinterpret_cast<float*>(memory + 2 * tile_bytes), elements);
    load(a.data(), in, tile);
    combine(b.data(), a.data(), 2.0f);
    accumulate(sum.data(), a.data(), b.data());
  }
  store(out, sum.data());
}

// The same by hand without spans: what passing a pointer through one more function costs. Reported, held to nothing.
extern "C" __global__ void looped_bare(const float* in, float* out, int tiles) {
  alignas(16) __shared__ std::byte memory[3 * tile_bytes];
  float* const sum = reinterpret_cast<float*>(memory);
  clear(sum);
  for (int tile = 0; tile < tiles; ++tile) {
    float* const a = reinterpret_cast<float*>(memory + tile_bytes);
    float* const b = reinterpret_cast<float*>(memory + 2 * tile_bytes);
    load(a, in, tile);
    combine(b, a, 2.0f);
    accumulate(sum, a, b);
  }
  store(out, sum);
}

// ---- looped with a barrier before every rewind ----------------------------------------------------------------------

extern "C" __global__ void fenced_pool(const float* in, float* out, int tiles) {
  alignas(16) __shared__ std::byte memory[3 * tile_bytes];
  Pool pool(memory, sizeof memory);
  const auto sum = sp::tensor<float>(pool, "sum", rows, columns);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const sp::ScratchScope scope(pool, Barrier{});
    const auto a = sp::tensor<float>(pool, "a", rows, columns);
    const auto b = sp::tensor<float>(pool, "b", rows, columns);
    load(a.data(), in, tile);
    combine(b.data(), a.data(), 2.0f);
    accumulate(sum.data(), a.data(), b.data());
  }
  store(out, sum.data());
}
extern "C" __global__ void fenced_hand(const float* in, float* out, int tiles) {
  alignas(16) __shared__ std::byte memory[3 * tile_bytes];
  const std::span<float> sum(reinterpret_cast<float*>(memory), elements);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const std::span<float> a(reinterpret_cast<float*>(memory + tile_bytes), elements);
    const std::span<float> b(reinterpret_cast<float*>(memory + 2 * tile_bytes), elements);
    load(a.data(), in, tile);
    combine(b.data(), a.data(), 2.0f);
    accumulate(sum.data(), a.data(), b.data());
    __syncthreads();
  }
  store(out, sum.data());
}

// ---- nested: two scopes in a tile's scope share their bytes ---------------------------------------------------------

extern "C" __global__ void nested_pool(const float* in, float* out, int tiles) {
  alignas(16) __shared__ std::byte memory[3 * tile_bytes];
  Pool pool(memory, sizeof memory);
  const auto sum = sp::tensor<float>(pool, "sum", rows, columns);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const sp::ScratchScope outer(pool, sp::NoFence{});
    const auto a = sp::tensor<float>(pool, "a", rows, columns);
    load(a.data(), in, tile);
    {
      const sp::ScratchScope inner(pool, sp::NoFence{});
      const auto b = sp::tensor<float>(pool, "b", rows, columns);
      combine(b.data(), a.data(), 2.0f);
      accumulate(sum.data(), a.data(), b.data());
    }
    {
      const sp::ScratchScope inner(pool, sp::NoFence{});
      const auto c = sp::tensor<float>(pool, "c", rows, columns);
      combine(c.data(), a.data(), 3.0f);
      accumulate(sum.data(), a.data(), c.data());
    }
  }
  store(out, sum.data());
}
extern "C" __global__ void nested_hand(const float* in, float* out, int tiles) {
  alignas(16) __shared__ std::byte memory[3 * tile_bytes];
  const std::span<float> sum(reinterpret_cast<float*>(memory), elements);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const std::span<float> a(reinterpret_cast<float*>(memory + tile_bytes), elements);
    load(a.data(), in, tile);
    {
      const std::span<float> b(reinterpret_cast<float*>(memory + 2 * tile_bytes), elements);
      combine(b.data(), a.data(), 2.0f);
      accumulate(sum.data(), a.data(), b.data());
    }
    {
      const std::span<float> c(reinterpret_cast<float*>(memory + 2 * tile_bytes), elements);
      combine(c.data(), a.data(), 3.0f);
      accumulate(sum.data(), a.data(), c.data());
    }
  }
  store(out, sum.data());
}

// ---- nested loops, a scope in each, with and without fences ---------------------------------------------------------

extern "C" __global__ void nested_loops_pool(const float* in, float* out, int tiles, int steps) {
  alignas(16) __shared__ std::byte memory[3 * tile_bytes];
  Pool pool(memory, sizeof memory);
  const auto sum = sp::tensor<float>(pool, "sum", rows, columns);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const sp::ScratchScope outer(pool, sp::NoFence{});
    const auto a = sp::tensor<float>(pool, "a", rows, columns);
    load(a.data(), in, tile);
    for (int step = 0; step < steps; ++step) {
      const sp::ScratchScope inner(pool, sp::NoFence{});
      const auto b = sp::tensor<float>(pool, "b", rows, columns);
      combine(b.data(), a.data(), static_cast<float>(step));
      accumulate(sum.data(), a.data(), b.data());
    }
  }
  store(out, sum.data());
}
extern "C" __global__ void nested_loops_hand(const float* in, float* out, int tiles, int steps) {
  alignas(16) __shared__ std::byte memory[3 * tile_bytes];
  const std::span<float> sum(reinterpret_cast<float*>(memory), elements);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const std::span<float> a(reinterpret_cast<float*>(memory + tile_bytes), elements);
    load(a.data(), in, tile);
    for (int step = 0; step < steps; ++step) {
      const std::span<float> b(reinterpret_cast<float*>(memory + 2 * tile_bytes), elements);
      combine(b.data(), a.data(), static_cast<float>(step));
      accumulate(sum.data(), a.data(), b.data());
    }
  }
  store(out, sum.data());
}

extern "C" __global__ void nested_loops_fenced_pool(const float* in, float* out, int tiles, int steps) {
  alignas(16) __shared__ std::byte memory[3 * tile_bytes];
  Pool pool(memory, sizeof memory);
  const auto sum = sp::tensor<float>(pool, "sum", rows, columns);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const sp::ScratchScope outer(pool, Barrier{});
    const auto a = sp::tensor<float>(pool, "a", rows, columns);
    load(a.data(), in, tile);
    for (int step = 0; step < steps; ++step) {
      const sp::ScratchScope inner(pool, Barrier{});
      const auto b = sp::tensor<float>(pool, "b", rows, columns);
      combine(b.data(), a.data(), static_cast<float>(step));
      accumulate(sum.data(), a.data(), b.data());
    }
  }
  store(out, sum.data());
}
extern "C" __global__ void nested_loops_fenced_hand(const float* in, float* out, int tiles, int steps) {
  alignas(16) __shared__ std::byte memory[3 * tile_bytes];
  const std::span<float> sum(reinterpret_cast<float*>(memory), elements);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const std::span<float> a(reinterpret_cast<float*>(memory + tile_bytes), elements);
    load(a.data(), in, tile);
    for (int step = 0; step < steps; ++step) {
      const std::span<float> b(reinterpret_cast<float*>(memory + 2 * tile_bytes), elements);
      combine(b.data(), a.data(), static_cast<float>(step));
      accumulate(sum.data(), a.data(), b.data());
      __syncthreads();
    }
    __syncthreads();
  }
  store(out, sum.data());
}

// ---- constant shapes in a buffer whose size is only known at the launch: both sides check. Registers are held equal,
// opcodes are reported: compilers fold the two ways of asking the same differently.

extern "C" __global__ void launched_size_pool(const float* in, float* out, unsigned int bytes) {
  extern __shared__ __align__(16) std::byte launched[];
  Pool pool(launched, bytes);
  const auto a = sp::tensor<float>(pool, "a", rows, columns);
  const auto b = sp::tensor<float>(pool, "b", rows, columns);
  load(a.data(), in, 0);
  combine(b.data(), a.data(), 2.0f);
  store(out, b.data());
}
extern "C" __global__ void launched_size_hand(const float* in, float* out, unsigned int bytes) {
  extern __shared__ __align__(16) std::byte launched[];
  const std::size_t capacity = bytes & ~std::size_t{15};
  if (capacity < tile_bytes) fail();
  const std::span<float> a(reinterpret_cast<float*>(launched), elements);
  if (capacity - tile_bytes < tile_bytes) fail();
  const std::span<float> b(reinterpret_cast<float*>(launched + tile_bytes), elements);
  load(a.data(), in, 0);
  combine(b.data(), a.data(), 2.0f);
  store(out, b.data());
}

// ---- shapes that are only known at run time, launched with the measured size ----------------------------------------

extern "C" __global__ void run_time_pool(const float* in, float* out, unsigned int bytes, int m, int n) {
  extern __shared__ __align__(16) std::byte launched[];
  ExactPool pool(launched, bytes);
  const auto a = sp::tensor<float>(pool, "a", m, n);
  const auto b = sp::tensor<float>(pool, "b", m, n);
  const auto c = sp::tensor<float>(pool, "c", m, n);
  load(a.data(), in, 0);
  combine(b.data(), a.data(), 2.0f);
  combine(c.data(), b.data(), 2.0f);
  store(out, c.data());
}
__device__ std::size_t reserved(std::size_t count) { return (count * sizeof(float) + 15) & ~std::size_t{15}; }
extern "C" __global__ void run_time_hand(const float* in, float* out, unsigned int, int m, int n) {
  extern __shared__ __align__(16) std::byte launched[];
  const std::size_t count = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  std::byte* free = launched;
  const std::span<float> a(reinterpret_cast<float*>(free), count);
  free += reserved(count);
  const std::span<float> b(reinterpret_cast<float*>(free), count);
  free += reserved(count);
  const std::span<float> c(reinterpret_cast<float*>(free), count);
  load(a.data(), in, 0);
  combine(b.data(), a.data(), 2.0f);
  combine(c.data(), b.data(), 2.0f);
  store(out, c.data());
}

extern "C" __global__ void run_time_looped_pool(const float* in, float* out, unsigned int bytes, int m, int n,
                                                int tiles) {
  extern __shared__ __align__(16) std::byte launched[];
  ExactPool pool(launched, bytes);
  const auto sum = sp::tensor<float>(pool, "sum", m, n);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const sp::ScratchScope scope(pool, Barrier{});
    const auto a = sp::tensor<float>(pool, "a", m, n);
    const auto b = sp::tensor<float>(pool, "b", m, n);
    load(a.data(), in, tile);
    combine(b.data(), a.data(), 2.0f);
    accumulate(sum.data(), a.data(), b.data());
  }
  store(out, sum.data());
}
extern "C" __global__ void run_time_looped_hand(const float* in, float* out, unsigned int, int m, int n, int tiles) {
  extern __shared__ __align__(16) std::byte launched[];
  const std::size_t count = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  const std::size_t bytes = reserved(count);
  const std::span<float> sum(reinterpret_cast<float*>(launched), count);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const std::span<float> a(reinterpret_cast<float*>(launched + bytes), count);
    const std::span<float> b(reinterpret_cast<float*>(launched + 2 * bytes), count);
    load(a.data(), in, tile);
    combine(b.data(), a.data(), 2.0f);
    accumulate(sum.data(), a.data(), b.data());
    __syncthreads();
  }
  store(out, sum.data());
}

extern "C" __global__ void run_time_nested_pool(const float* in, float* out, unsigned int bytes, int m, int n,
                                                int tiles, int steps) {
  extern __shared__ __align__(16) std::byte launched[];
  ExactPool pool(launched, bytes);
  const auto sum = sp::tensor<float>(pool, "sum", m, n);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const sp::ScratchScope outer(pool, Barrier{});
    const auto a = sp::tensor<float>(pool, "a", m, n);
    load(a.data(), in, tile);
    for (int step = 0; step < steps; ++step) {
      const sp::ScratchScope inner(pool, Barrier{});
      const auto b = sp::tensor<float>(pool, "b", m, n);
      combine(b.data(), a.data(), static_cast<float>(step));
      accumulate(sum.data(), a.data(), b.data());
    }
  }
  store(out, sum.data());
}
extern "C" __global__ void run_time_nested_hand(const float* in, float* out, unsigned int, int m, int n, int tiles,
                                                int steps) {
  extern __shared__ __align__(16) std::byte launched[];
  const std::size_t count = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  const std::size_t bytes = reserved(count);
  const std::span<float> sum(reinterpret_cast<float*>(launched), count);
  clear(sum.data());
  for (int tile = 0; tile < tiles; ++tile) {
    const std::span<float> a(reinterpret_cast<float*>(launched + bytes), count);
    load(a.data(), in, tile);
    for (int step = 0; step < steps; ++step) {
      const std::span<float> b(reinterpret_cast<float*>(launched + 2 * bytes), count);
      combine(b.data(), a.data(), static_cast<float>(step));
      accumulate(sum.data(), a.data(), b.data());
      __syncthreads();
    }
    __syncthreads();
  }
  store(out, sum.data());
}
