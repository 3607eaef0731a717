// SPDX-License-Identifier: MIT
// The functions that are counted: host.cpp defines them, trace.cpp runs them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <scratchpad/core.hpp>

namespace counted {

namespace sp = scratchpad;

struct Unchecked : sp::HostSpace {
  static constexpr std::string_view name = "unchecked";
  static constexpr bool bounds_checked = false;
};
struct Dynamic : sp::HostSpace {
  static constexpr std::string_view name = "dynamic";
  static constexpr std::size_t quantum = sp::dynamic_quantum;
};

using Pool = sp::BumpAllocator<sp::HostSpace>;
using UncheckedPool = sp::BumpAllocator<Unchecked>;
using DynamicPool = sp::BumpAllocator<Dynamic>;
using Scope = sp::ScratchScope<sp::HostSpace>;
using Matrix = sp::Tensor<float, 2, sp::HostSpace>;

struct Particle {
  float x, y, z, vx, vy, vz;
};

// What a careful author writes instead of a pool: one offset, one check, blocks that start at multiples of 16 bytes.
struct Carver {
  std::byte* base;
  std::size_t used;
  std::size_t capacity;
};

// Defined in trace.cpp, where the compiler of host.cpp cannot look into it.
void work(void* pool);

float* allocate_constant(Pool& pool);
std::span<float> allocate_constant_span(Pool& pool);
float* allocate_n(Pool& pool, std::size_t n);
std::span<float> allocate_n_span(Pool& pool, std::size_t n);
float* allocate_n_label(Pool& pool, std::size_t n);
std::byte* allocate_bytes(Pool& pool, std::size_t n);
Particle* allocate_particles(Pool& pool, std::size_t n);
float* allocate_constant_unchecked(UncheckedPool& pool);
float* allocate_n_unchecked(UncheckedPool& pool, std::size_t n);
float* allocate_constant_dynamic(DynamicPool& pool);
float* allocate_n_dynamic(DynamicPool& pool, std::size_t n);
float* try_allocate_constant(Pool& pool);
float* try_allocate_n(Pool& pool, std::size_t n);
std::optional<std::span<float>> try_allocate_n_span(Pool& pool, std::size_t n);

float* tensor_constant(Pool& pool);
float* tensor_constant_label(Pool& pool);
Matrix tensor_constant_handle(Pool& pool);
float* tensor_m_n(Pool& pool, int m, int n);
Matrix tensor_m_n_handle(Pool& pool, int m, int n);
float* tensor_m_n_size_t(Pool& pool, std::size_t m, std::size_t n);

void scope(Pool& pool);
void scope_with_block(Pool& pool);
void scope_in_scope(Pool& pool);
void scope_with_fence(Pool& pool);
void scope_rewind(Scope& scope);
void save_rewind(Pool& pool);
void check_live(const Pool& pool, const Matrix& matrix);

float* hand_constant(Carver& carver);
float* hand_n(Carver& carver, std::size_t n);
float* hand_n_unchecked(Carver& carver, std::size_t n);
void hand_scope(Carver& carver);

}  // namespace counted
