// SPDX-License-Identifier: MIT
// A function that needs scratch takes its caller's pool and opens a scope of its own. No byte count is passed, so none
// can be wrong, and callees that run one after another share their bytes. One that only knows byte counts is served too.
//
// Computed: the median of the column norms of a matrix.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <fmt/core.h>

#include <scratchpad/core.hpp>

#include "support/check.hpp"

namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::HostSpace>;

// ---- somebody else's library: it knows of no pool, only of bytes ----------------------------------------------------

constexpr std::size_t legacy_alignment = 64;
constexpr std::size_t legacy_sort_bytes(std::size_t n) { return 256 * 16 + 8 + n * sizeof(double); }

// *Returns*: whether it was content with `work`, which must have legacy_sort_bytes(n) bytes.
bool legacy_sort(std::span<double> values, void* work, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(work) % legacy_alignment != 0) return false;
  if (bytes < legacy_sort_bytes(values.size())) return false;
  auto* sorted = reinterpret_cast<double*>(static_cast<std::byte*>(work) + 256 * 16 + 8);
  std::partial_sort_copy(values.begin(), values.end(), sorted, sorted + values.size());
  std::copy_n(sorted, values.size(), values.begin());
  return true;
}

// ---- a callee with a layout: its skeleton is all that a caller must know --------------------------------------------

template <class Body>
constexpr void column_norms(Pool& pool, int rows, int columns, Body body) {
  sp::ScratchScope scope(pool);  // whatever this function takes is given back when it returns
  auto squares = sp::tensor<double>(pool, "squares", rows, columns);
  body(squares);
}

// ---- the caller -----------------------------------------------------------------------------------------------------

template <class NormsBody, class SortBody>
constexpr void median_norm(Pool& pool, int rows, int columns, NormsBody norms_body, SortBody sort_body) {
  auto norms = sp::tensor<double>(pool, "norms", columns);
  column_norms(pool, rows, columns, [&](auto& squares) { norms_body(norms, squares); });
  {
    sp::ScratchScope scope(pool);
    auto work = pool.allocate<std::byte>(legacy_sort_bytes(norms.size()), sp::align(legacy_alignment), "legacy sort");
    sort_body(norms, work);
  }
}

constexpr int rows = 8;
constexpr int columns = 32;
constexpr auto layout = [](Pool& pool) { median_norm(pool, rows, columns, sp::no_work, sp::no_work); };

// norms        32 x 8           = 256                 [0, 256)
// squares      8 x 32 x 8       = 2,048               [256, 2,304)
// legacy sort  4,096 + 8 + 256  = 4,360 -> 4,368      [256, 4,624): it starts where squares did
// The peak is 4,624. The sort's alignment is 64; at a base that is aligned to 16 only, up to 64 - 16 = 48 bytes go into
// padding in front of it.
static_assert(sp::workspace_requirement(layout) == sp::Requirement{4'624, 64});
static_assert(sp::workspace_bytes(layout) == 4'672);

}  // namespace

int main() {
  examples::Checks checks;

  // 16 bytes past a multiple of 64: the sort's bytes start 48 bytes later than measured.
  constexpr std::size_t need = sp::workspace_bytes(layout);
  alignas(64) static std::byte memory[16 + need];
  Pool pool(memory + 16, need);

  double median = 0.0;
  bool content = false;
  median_norm(
      pool, rows, columns,
      [](auto& norms, auto& squares) {
        // Column j holds the number 32 - j in each of its 8 places.
        for (int i = 0; i < rows; ++i) {
          for (int j = 0; j < columns; ++j) squares(i, j) = static_cast<double>((columns - j) * (columns - j));
        }
        for (int j = 0; j < columns; ++j) {
          double sum = 0.0;
          for (int i = 0; i < rows; ++i) sum += squares(i, j);
          norms(j) = std::sqrt(sum);
        }
      },
      [&](auto& norms, std::span<std::byte> work) {
        content = legacy_sort(norms.span(), work.data(), work.size());
        median = norms(columns / 2);
      });

  checks.holds("the byte-counting callee got what it asked for", content);
  // The norms are 1 ... 32 times sqrt(8); the one at index 16 is 17 times that, 17 x 2.8284271247461903.
  checks.near("the median is right", median, 48.08326112068524, 1e-12);
  checks.equal("only the caller's own block is left", pool.used(), 256);
  checks.equal("at this base all of it was needed", pool.peak(), 4'672);
  Pool one_less(memory + 16, need - 16);
  checks.throws<sp::ScratchOverflow>("at this base 16 bytes less do not serve it", [&] { layout(one_less); });

  // At a base aligned to 64 the peak is enough.
  alignas(64) static std::byte aligned[4'624];
  Pool exact(aligned);
  layout(exact);
  checks.equal("4,624 bytes serve it at an aligned base", exact.peak(), 4'624);

  // 256 + 2,048 + 4,368, each as if all of them lived at once.
  constexpr std::size_t by_hand = 6'672;
  fmt::print("median norm {:.4f} in {} bytes; with every callee's bytes added up: {}\n", median, need, by_hand);
  return checks.result();
}
