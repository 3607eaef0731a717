// SPDX-License-Identifier: MIT
/// \file
/// A product of matrices of 4-bit numbers, by one block of threads per tile of the result: its shared memory, and the
/// threads' work in it. Nothing here is CUDA's: the group of threads is a template parameter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <scratchpad/core.hpp>

namespace matrix_product {

namespace sp = scratchpad;

/// C = A B. A (rows x depth) and B (depth x columns) are row-major, two numbers from -8 to 7 in a byte, the first one in
/// the lower half, 8 added. The sizes are multiples of the tile's.
struct Problem {
  std::size_t rows;
  std::size_t columns;
  std::size_t depth;
};

/// A block computes `rows` x `columns` elements of C, `depth` of each sum at a time.
struct Tile {
  std::size_t rows = 64;
  std::size_t columns = 64;
  std::size_t depth = 64;
};

struct Start {};
struct UnpackA {};
struct UnpackB {};
struct Multiply {};
struct Finish {};

/// The only description of the scratch. What is packed lives while it is unpacked: B's takes the place of A's.
template <class Space, class Fence, class Body>
SCRATCHPAD_HD constexpr void product(sp::BumpAllocator<Space>& pool, const Tile& tile, std::size_t steps,
                                     const Fence& fence, const Body& body) {
  const auto c = sp::tensor<float>(pool, "C", tile.rows, tile.columns);
  body(Start{}, c);
  for (std::size_t step = 0; step < steps; ++step) {
    const sp::ScratchScope scope(pool, fence);
    const auto a = sp::tensor<float>(pool, "A", tile.rows, tile.depth);
    const auto b = sp::tensor<float>(pool, "B", tile.depth, tile.columns);
    {
      const sp::ScratchScope unpacking(pool, fence);
      const auto packed = sp::tensor<std::uint8_t>(pool, "A, packed", tile.rows, tile.depth / 2);
      body(UnpackA{}, step, packed, a);
    }
    {
      const sp::ScratchScope unpacking(pool, fence);
      const auto packed = sp::tensor<std::uint8_t>(pool, "B, packed", tile.depth, tile.columns / 2);
      body(UnpackB{}, step, packed, b);
    }
    body(Multiply{}, a, b, c);
  }
  body(Finish{}, c);
}

constexpr float unpacked(std::uint8_t byte, std::size_t index) {
  return static_cast<float>((index % 2 == 0 ? byte & 15 : byte >> 4) - 8);
}

/// The body that computes, called by all threads of a group.
template <sp::ThreadGroup Group>
class Compute {
 public:
  /// \param tile_row, tile_column which tile of C
  SCRATCHPAD_HD Compute(const Group& group, const Problem& problem, std::span<const std::uint8_t> a,
                        std::span<const std::uint8_t> b, std::span<float> c, std::size_t tile_row,
                        std::size_t tile_column)
      : group_(group), problem_(problem), a_(a), b_(b), c_(c), tile_row_(tile_row), tile_column_(tile_column) {}

  template <class Matrix>
  SCRATCHPAD_HD void operator()(Start, const Matrix& c) const {
    for_my_share_of(c.size(), [&](std::size_t i) { c.data()[i] = 0; });
  }

  // The fence at the end of the scope around it is also the barrier behind which all threads see what was unpacked.
  template <class Bytes, class Matrix>
  SCRATCHPAD_HD void operator()(UnpackA, std::size_t step, const Bytes& packed, const Matrix& a) const {
    load(packed, a_, problem_.depth / 2, tile_row_ * a.extent(0), step * packed.extent(1));
    unpack(packed, a);
  }
  template <class Bytes, class Matrix>
  SCRATCHPAD_HD void operator()(UnpackB, std::size_t step, const Bytes& packed, const Matrix& b) const {
    load(packed, b_, problem_.columns / 2, step * b.extent(0), tile_column_ * packed.extent(1));
    unpack(packed, b);
  }

  template <class Matrix>
  SCRATCHPAD_HD void operator()(Multiply, const Matrix& a, const Matrix& b, const Matrix& c) const {
    for_my_share_of(c.size(), [&](std::size_t at) {
      const std::size_t i = at / c.extent(1);
      const std::size_t j = at % c.extent(1);
      float sum = c(i, j);
      for (std::size_t k = 0; k < a.extent(1); ++k) sum += a(i, k) * b(k, j);
      c(i, j) = sum;
    });
  }

  // An element of C is the same thread's from beginning to end.
  template <class Matrix>
  SCRATCHPAD_HD void operator()(Finish, const Matrix& c) const {
    for_my_share_of(c.size(), [&](std::size_t at) {
      const std::size_t i = tile_row_ * c.extent(0) + at / c.extent(1);
      const std::size_t j = tile_column_ * c.extent(1) + at % c.extent(1);
      c_[i * problem_.columns + j] = c.data()[at];
    });
  }

 private:
  template <class Do>
  SCRATCHPAD_HD void for_my_share_of(std::size_t size, Do each) const {
    for (std::size_t i = group_.thread_rank(); i < size; i += group_.size()) each(i);
  }

  template <class Bytes>
  SCRATCHPAD_HD void load(const Bytes& packed, std::span<const std::uint8_t> from, std::size_t stride, std::size_t row,
                          std::size_t column) const {
    for_my_share_of(packed.size(), [&](std::size_t at) {
      const std::size_t i = at / packed.extent(1);
      const std::size_t j = at % packed.extent(1);
      packed(i, j) = from[(row + i) * stride + column + j];
    });
  }

  template <class Bytes, class Matrix>
  SCRATCHPAD_HD void unpack(const Bytes& packed, const Matrix& to) const {
    group_.sync();  // a thread unpacks what others have loaded
    for_my_share_of(to.size(), [&](std::size_t i) { to.data()[i] = unpacked(packed.data()[i / 2], i); });
  }

  Group group_;
  Problem problem_;
  std::span<const std::uint8_t> a_;
  std::span<const std::uint8_t> b_;
  std::span<float> c_;
  std::size_t tile_row_;
  std::size_t tile_column_;
};

/// C as it is defined. Exact, and so is every order of summation in float: the sums are integers below 2^24.
inline std::vector<float> reference(const Problem& problem, std::span<const std::uint8_t> a,
                                    std::span<const std::uint8_t> b) {
  std::vector<float> c;
  for (std::size_t i = 0; i < problem.rows; ++i) {
    for (std::size_t j = 0; j < problem.columns; ++j) {
      int sum = 0;
      for (std::size_t k = 0; k < problem.depth; ++k) {
        const std::uint8_t in_a = a[(i * problem.depth + k) / 2];
        const std::uint8_t in_b = b[(k * problem.columns + j) / 2];
        sum += ((k % 2 == 0 ? in_a & 15 : in_a >> 4) - 8) * ((j % 2 == 0 ? in_b & 15 : in_b >> 4) - 8);
      }
      c.push_back(static_cast<float>(sum));
    }
  }
  return c;
}

/// Bytes without a pattern that tiles could share.
inline std::vector<std::uint8_t> some_bytes(std::size_t size, std::uint32_t seed) {
  std::vector<std::uint8_t> result(size);
  for (std::uint8_t& byte : result) {
    seed = seed * 1'664'525U + 1'013'904'223U;
    byte = static_cast<std::uint8_t>(seed >> 24);
  }
  return result;
}

}  // namespace matrix_product
