// SPDX-License-Identifier: MIT
// One out-of-line function per thing whose instructions are counted. contract.py compiles this file with its own flags,
// whatever the build's are, and reads the machine code.
#include "counted.hpp"

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <span>

#include <scratchpad/core.hpp>

namespace counted {

namespace {
[[noreturn, gnu::cold, gnu::noinline]] void stop() { std::abort(); }
}  // namespace

// ---- blocks ---------------------------------------------------------------------------------------------------------

float* allocate_constant(Pool& pool) { return pool.allocate<float>(128).data(); }
std::span<float> allocate_constant_span(Pool& pool) { return pool.allocate<float>(128); }
float* allocate_n(Pool& pool, std::size_t n) { return pool.allocate<float>(n).data(); }
std::span<float> allocate_n_span(Pool& pool, std::size_t n) { return pool.allocate<float>(n); }
float* allocate_n_label(Pool& pool, std::size_t n) { return pool.allocate<float>(n, "x").data(); }
std::byte* allocate_bytes(Pool& pool, std::size_t n) { return pool.allocate<std::byte>(n).data(); }
Particle* allocate_particles(Pool& pool, std::size_t n) { return pool.allocate<Particle>(n).data(); }

float* allocate_constant_unchecked(UncheckedPool& pool) { return pool.allocate<float>(128).data(); }
float* allocate_n_unchecked(UncheckedPool& pool, std::size_t n) { return pool.allocate<float>(n).data(); }
float* allocate_constant_dynamic(DynamicPool& pool) { return pool.allocate<float>(128).data(); }
float* allocate_n_dynamic(DynamicPool& pool, std::size_t n) { return pool.allocate<float>(n).data(); }

float* try_allocate_constant(Pool& pool) {
  const auto block = pool.try_allocate<float>(128);
  return block ? block->data() : nullptr;
}
float* try_allocate_n(Pool& pool, std::size_t n) {
  const auto block = pool.try_allocate<float>(n);
  return block ? block->data() : nullptr;
}
std::optional<std::span<float>> try_allocate_n_span(Pool& pool, std::size_t n) { return pool.try_allocate<float>(n); }

// ---- tensors --------------------------------------------------------------------------------------------------------

float* tensor_constant(Pool& pool) { return sp::tensor<float>(pool, 128, 64).data(); }
float* tensor_constant_label(Pool& pool) { return sp::tensor<float>(pool, "x", 128, 64).data(); }
Matrix tensor_constant_handle(Pool& pool) { return sp::tensor<float>(pool, "x", 128, 64); }
float* tensor_m_n(Pool& pool, int m, int n) { return sp::tensor<float>(pool, "x", m, n).data(); }
Matrix tensor_m_n_handle(Pool& pool, int m, int n) { return sp::tensor<float>(pool, "x", m, n); }
float* tensor_m_n_size_t(Pool& pool, std::size_t m, std::size_t n) { return sp::tensor<float>(pool, "x", m, n).data(); }

// ---- save-points ----------------------------------------------------------------------------------------------------

void scope(Pool& pool) {
  const sp::ScratchScope tile(pool);
  work(&pool);
}
void scope_with_block(Pool& pool) {
  const sp::ScratchScope tile(pool);
  work(pool.allocate<float>(128).data());
}
void scope_in_scope(Pool& pool) {
  const sp::ScratchScope outer(pool);
  work(&pool);
  const sp::ScratchScope inner(pool);
  work(&pool);
}
void scope_with_fence(Pool& pool) {
  const sp::ScratchScope tile(pool, [] { work(nullptr); });
  work(&pool);
}
void scope_rewind(Scope& scope) { scope.rewind(); }
void save_rewind(Pool& pool) {
  const sp::SavePoint at = pool.save();
  work(&pool);
  pool.rewind(at);
}
void check_live(const Pool& pool, const Matrix& matrix) {
  if (!pool.is_live(matrix)) [[unlikely]]
    stop();
}

// ---- the same by hand, for comparison -------------------------------------------------------------------------------

float* hand_constant(Carver& carver) {
  constexpr std::size_t bytes = 128 * sizeof(float);
  if (bytes > carver.capacity - carver.used) [[unlikely]]
    stop();
  std::byte* const block = carver.base + carver.used;
  carver.used += bytes;
  return reinterpret_cast<float*>(block);
}
float* hand_n(Carver& carver, std::size_t n) {
  if (n > (carver.capacity - carver.used) / sizeof(float)) [[unlikely]]
    stop();
  return hand_n_unchecked(carver, n);
}
float* hand_n_unchecked(Carver& carver, std::size_t n) {
  std::byte* const block = carver.base + carver.used;
  carver.used += (n * sizeof(float) + 15) & ~std::size_t{15};
  return reinterpret_cast<float*>(block);
}
void hand_scope(Carver& carver) {
  const std::size_t used = carver.used;
  work(&carver);
  carver.used = used;
}

}  // namespace counted
