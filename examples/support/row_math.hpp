// SPDX-License-Identifier: MIT
/// \file
/// The arithmetic of one attention tile, operation by operation. Each writes a buffer of its own and touches only the
/// rows it is told to, so that the threads of a block can share the rows out and need no barrier between operations.
///
/// Plain loops; no operation needs its sums reordered to be vectorised. All matrices are row-major tensors.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include <scratchpad/core.hpp>

#include "bf16.hpp"

namespace row_math {

/// Rows [first, last).
struct Rows {
  std::size_t first;
  std::size_t last;
};

/// Share `index` of `count` of 0, ..., size - 1.
constexpr Rows share_of(std::size_t size, std::size_t index, std::size_t count) {
  return {size * index / count, size * (index + 1) / count};
}

template <class Space>
using Vector = scratchpad::Tensor<float, 1, Space>;
template <class Space>
using Matrix = scratchpad::Tensor<float, 2, Space>;
template <class Space>
using Bf16Matrix = scratchpad::Tensor<Bf16, 2, Space>;

// Four rows of c += a b for four columns of a. A step of b is converted once and used four times, and a step of c is
// loaded and stored once for four of them: that, and not the multiplications, is what the time goes into.
SCRATCHPAD_HD inline void accumulate_4x4(float* c, const Bf16* a, const Bf16* b, std::size_t depth, std::size_t width) {
  const float a00 = to_float(a[0]), a01 = to_float(a[1]), a02 = to_float(a[2]), a03 = to_float(a[3]);
  a += depth;
  const float a10 = to_float(a[0]), a11 = to_float(a[1]), a12 = to_float(a[2]), a13 = to_float(a[3]);
  a += depth;
  const float a20 = to_float(a[0]), a21 = to_float(a[1]), a22 = to_float(a[2]), a23 = to_float(a[3]);
  a += depth;
  const float a30 = to_float(a[0]), a31 = to_float(a[1]), a32 = to_float(a[2]), a33 = to_float(a[3]);
  float* __restrict c0 = c;
  float* __restrict c1 = c + width;
  float* __restrict c2 = c + 2 * width;
  float* __restrict c3 = c + 3 * width;
  for (std::size_t j = 0; j < width; ++j) {
    const float b0 = to_float(b[j]);
    const float b1 = to_float(b[width + j]);
    const float b2 = to_float(b[2 * width + j]);
    const float b3 = to_float(b[3 * width + j]);
    c0[j] += a00 * b0 + a01 * b1 + a02 * b2 + a03 * b3;
    c1[j] += a10 * b0 + a11 * b1 + a12 * b2 + a13 * b3;
    c2[j] += a20 * b0 + a21 * b1 + a22 * b2 + a23 * b3;
    c3[j] += a30 * b0 + a31 * b1 + a32 * b2 + a33 * b3;
  }
}

// The same for one row and `steps` columns of a: what is left over at the edges.
SCRATCHPAD_HD inline void accumulate_row(float* c, const Bf16* a, const Bf16* b, std::size_t steps, std::size_t width) {
  for (std::size_t k = 0; k < steps; ++k) {
    const float weight = to_float(a[k]);
    for (std::size_t j = 0; j < width; ++j) c[j] += weight * to_float(b[k * width + j]);
  }
}

/// c = a b: (rows x depth) (depth x width), summed in float32.
template <class Space>
SCRATCHPAD_HD void multiply(Rows rows, Matrix<Space> c, Bf16Matrix<Space> a, Bf16Matrix<Space> b) {
  const std::size_t depth = b.extent(0);
  const std::size_t width = b.extent(1);
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    for (float& x : c.row(i)) x = 0;
  }
  std::size_t i = rows.first;
  for (; rows.last - i >= 4; i += 4) {
    std::size_t k = 0;
    for (; depth - k >= 4; k += 4) accumulate_4x4(&c(i, 0), &a(i, k), b.data() + k * width, depth, width);
    for (std::size_t r = i; k < depth && r < i + 4; ++r) {
      accumulate_row(&c(r, 0), &a(r, k), b.data() + k * width, depth - k, width);
    }
  }
  for (; i < rows.last; ++i) accumulate_row(&c(i, 0), &a(i, 0), b.data(), depth, width);
}

/// The scores that row i may see, scaled; -infinity for the rest.
/// \param visible how many of this tile's keys, from its first one on, row i may see
template <class Space, class Visible>
SCRATCHPAD_HD void scale_and_mask(Rows rows, Matrix<Space> s, float scale, Visible visible) {
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    const std::size_t seen = visible(i);
    const auto row = s.row(i);
    for (std::size_t j = 0; j < seen; ++j) row[j] *= scale;
    for (std::size_t j = seen; j < row.size(); ++j) row[j] = -std::numeric_limits<float>::infinity();
  }
}

template <class Space>
SCRATCHPAD_HD void row_max(Rows rows, Vector<Space> out, Matrix<Space> x) {
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    float largest = -std::numeric_limits<float>::infinity();
    for (const float value : x.row(i)) largest = value > largest ? value : largest;
    out(i) = largest;
  }
}

template <class Space>
SCRATCHPAD_HD void row_sum(Rows rows, Vector<Space> out, Matrix<Space> x) {
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    float sum = 0;
    for (const float value : x.row(i)) sum += value;
    out(i) = sum;
  }
}

/// out(i) = f(a(i), b(i))
template <class Space, class F>
SCRATCHPAD_HD void combine(Rows rows, Vector<Space> out, Vector<Space> a, Vector<Space> b, F f) {
  for (std::size_t i = rows.first; i < rows.last; ++i) out(i) = f(a(i), b(i));
}

/// out(i, j) = f(a(i, j), b(i))
template <class Space, class F>
SCRATCHPAD_HD void combine_rows(Rows rows, Matrix<Space> out, Matrix<Space> a, Vector<Space> b, F f) {
  const std::size_t width = a.extent(1);
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    float* __restrict to = &out(i, 0);
    const float* from = &a(i, 0);
    const float with = b(i);
    for (std::size_t j = 0; j < width; ++j) to[j] = f(from[j], with);
  }
}

/// out = a + b
template <class Space>
SCRATCHPAD_HD void add(Rows rows, Matrix<Space> out, Matrix<Space> a, Matrix<Space> b) {
  const std::size_t width = a.extent(1);
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    float* __restrict to = &out(i, 0);
    const float* x = &a(i, 0);
    const float* y = &b(i, 0);
    for (std::size_t j = 0; j < width; ++j) to[j] = x[j] + y[j];
  }
}

template <class Space>
SCRATCHPAD_HD void exponential(Rows rows, Matrix<Space> out, Matrix<Space> x) {
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    for (std::size_t j = 0; j < x.extent(1); ++j) out(i, j) = std::exp(x(i, j));
  }
}
template <class Space>
SCRATCHPAD_HD void exponential(Rows rows, Vector<Space> out, Vector<Space> x) {
  for (std::size_t i = rows.first; i < rows.last; ++i) out(i) = std::exp(x(i));
}

template <class Space>
SCRATCHPAD_HD void round_to_bf16(Rows rows, Bf16Matrix<Space> out, Matrix<Space> x) {
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    for (std::size_t j = 0; j < x.extent(1); ++j) out(i, j) = to_bf16(x(i, j));
  }
}

}  // namespace row_math
