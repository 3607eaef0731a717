// SPDX-License-Identifier: MIT
/// \file
/// A block of threads streams an array through a ring of stages in shared memory, and sums it up. How many stages there are
/// is an argument: the more, the more loads are in flight.
#pragma once

#include <cstddef>
#include <span>

#include <scratchpad/core.hpp>

namespace pipeline {

namespace sp = scratchpad;

inline constexpr std::size_t threads = 256;
inline constexpr std::size_t tile = 4'096;  ///< elements of a stage

/// The only description of the scratch.
template <class Space, class Body>
SCRATCHPAD_HD constexpr void stream(sp::BumpAllocator<Space>& pool, std::size_t stages, const Body& body) {
  const auto sums = sp::tensor<float>(pool, "sums", threads);
  const auto ring = sp::tensor<float>(pool, "stages", stages, tile);
  body(sums, ring);
}

/// Sums `in` up into *out, by all threads of a group.
///
/// \tparam Copy one thread's asynchronous copies: `start(to, from)` begins one of four floats, `commit()` closes a batch,
///         `wait(n)` returns when all batches but the last n have arrived
template <sp::ThreadGroup Group, class Copy>
class Sum {
 public:
  /// \pre in.size() is a multiple of tile
  SCRATCHPAD_HD Sum(const Group& group, const Copy& copy, std::span<const float> in, float* out)
      : group_(group), copy_(copy), in_(in), out_(out) {}

  template <class Vector, class Ring>
  SCRATCHPAD_HD void operator()(const Vector& sums, const Ring& ring) const {
    const std::size_t stages = ring.extent(0);
    const std::size_t rank = group_.thread_rank();
    for (std::size_t t = 0; t + 1 < stages; ++t) load(ring, t);
    float sum = 0;
    for (std::size_t t = 0; t < in_.size() / tile; ++t) {
      // Into the stage of tile t - 1: all threads are through with it since the barrier at the end of that round.
      load(ring, t + stages - 1);
      copy_.wait(stages - 1);
      group_.sync();
      for (std::size_t i = rank; i < tile; i += group_.size()) sum += ring(t % stages, tile - 1 - i);
      group_.sync();
    }
    sums(rank) = sum;
    group_.sync();
    if (rank != 0) return;
    float total = 0;
    for (std::size_t r = 0; r < group_.size(); ++r) total += sums(r);
    *out_ = total;
  }

 private:
  // Behind the last tile there is an empty batch, so that batches are counted the same everywhere.
  template <class Ring>
  SCRATCHPAD_HD void load(const Ring& ring, std::size_t t) const {
    if (t < in_.size() / tile) {
      for (std::size_t i = 4 * group_.thread_rank(); i < tile; i += 4 * group_.size()) {
        copy_.start(&ring(t % ring.extent(0), i), &in_[t * tile + i]);
      }
    }
    copy_.commit();
  }

  Group group_;
  Copy copy_;
  std::span<const float> in_;
  float* out_;
};

}  // namespace pipeline
