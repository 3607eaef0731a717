// SPDX-License-Identifier: MIT
/// \file
/// copy_to(pool, dst, src): keeps the bytes of a scoped tensor by copying them into one that outlives the scope.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/save_points.hpp>
#include <scratchpad/tensor.hpp>
#include <scratchpad/thread_group.hpp>

namespace SCRATCHPAD_NAMESPACE {
namespace detail {

/// The shape of a tensor in a message: "128 x 64".
template <std::size_t Rank>
struct Shape {
  std::array<std::size_t, Rank> extents;
  template <class Sink>
  void append_to(Sink& sink) const {
    for (std::size_t i = 0; i < Rank; ++i) sink.append(i == 0 ? "" : " x ").append(extents[i]);
  }
};

// Not ==, which clang makes a memcmp of, and a kernel has none.
template <std::size_t Rank, std::size_t... Dimension>
constexpr bool same_extents(const std::array<std::size_t, Rank>& a, const std::array<std::size_t, Rank>& b,
                            std::index_sequence<Dimension...>) {
  return ((a[Dimension] == b[Dimension]) && ...);
}

/// Bytes [data, data + bytes) of two tensors share some, but are not the same ones.
SCRATCHPAD_HD inline bool overlap_in_part(const void* a, const void* b, std::size_t bytes) {
  const auto x = reinterpret_cast<std::uintptr_t>(a);
  const auto y = reinterpret_cast<std::uintptr_t>(b);
  return x != y && (x < y ? y - x : x - y) < bytes;
}

template <class Space>
constexpr void check_live(const BumpAllocator<Space>& pool, const SavePoint& birth, const char* which) {
  if (pool.is_origin_of(birth) && !pool.is_live(birth)) {
    raise<ApiMisuse>("copy_to: ", which, " is not live: its scope at depth ", birth.depth, " (stamp ", birth.stamp,
                     ") has ended; the pool's depth is ", pool.depth());
  }
}

/// Everything that copy_to checks; on failure nothing has been done. Returns whether there is anything to copy.
template <class Space, class T, std::size_t Rank, class DstSpace, class U, std::size_t SrcRank, class SrcSpace>
constexpr bool check_copy(const BumpAllocator<Space>& pool, const Tensor<T, Rank, DstSpace>& dst,
                          const Tensor<U, SrcRank, SrcSpace>& src) {
  static_assert(!std::is_const_v<T>, "scratchpad: copy_to: the elements of dst are const");
  static_assert(std::is_same_v<std::remove_const_t<T>, std::remove_const_t<U>>,
                "scratchpad: copy_to: dst and src have different element types");
  static_assert(Rank == SrcRank, "scratchpad: copy_to: dst and src have different ranks");
  static_assert(std::is_same_v<Space, SrcSpace>, "scratchpad: copy_to: src is not of the pool's memory space");
  static_assert(std::is_same_v<Space, DstSpace>,
                "scratchpad: copy_to: dst and src are in different memory spaces; moving data between spaces is a "
                "transfer, which this is not");
  if constexpr (Rank == SrcRank) {
    if (!same_extents(dst.extents(), src.extents(), std::make_index_sequence<Rank>())) {
      raise<ShapeMismatch>("copy_to: dst is ", Shape<Rank>{dst.extents()}, ", src is ", Shape<Rank>{src.extents()});
    }
  }
  if constexpr (!in_device_code) {
    if (src.birth().owner != nullptr && !pool.is_origin_of(src.birth())) {
      raise<ApiMisuse>("copy_to: src was carved from another pool than the one given");
    }
    check_live(pool, src.birth(), "src");
    check_live(pool, dst.birth(), "dst");
  }
  if (std::is_constant_evaluated()) return false;
  // The pointers of two measuring pools say nothing about each other.
  if (pool.is_measuring() && dst.birth().owner != src.birth().owner) return true;
  if (static_cast<const void*>(dst.data()) == src.data()) return false;
  if (overlap_in_part(dst.data(), src.data(), src.size_bytes())) {
    raise<ApiMisuse>("copy_to: dst at ", Address{dst.data()}, " and src at ", Address{src.data()},
                     " overlap in part; both have ", src.size_bytes(), " bytes");
  }
  return true;
}

}  // namespace detail

/// Copies the elements of `src` into `dst`, which may live further out in the same pool, in another pool of the same
/// space, or in memory of the caller's. It is a copy within the space: on-chip write-back, never a transfer from outside.
///
/// `pool` is the pool that `src` was carved from. Type, rank and space must agree at compile time. A copy onto itself
/// does nothing.
///
/// *On failure*, before a byte moves: `ShapeMismatch` if the extents differ (the message names both); `ApiMisuse` if
/// `src` is another pool's, if a handle of `pool` is not live, or if the two overlap in part.
/// *Measuring*: checks all of this and copies nothing, so it may stand in a layout, and a mistake surfaces before there is
/// any data. *Observers*: see a CopyEvent. *Complexity*: one `Space::copy` of size_bytes().
/// *Device*: yes, by the calling thread alone; handles are not checked for life there.
template <class Space, class T, std::size_t Rank, class DstSpace, class U, std::size_t SrcRank, class SrcSpace>
constexpr void copy_to(BumpAllocator<Space>& pool, const Tensor<T, Rank, DstSpace>& dst,
                       const Tensor<U, SrcRank, SrcSpace>& src) {
  if (!detail::check_copy(pool, dst, src)) return;
  pool.note_copy({dst.data(), src.data(), src.size(), src.size_bytes()});
  if (!pool.is_measuring() && !src.empty()) Space::copy(dst.data(), src.data(), src.size_bytes());
}

/// The same by all threads of `group` together, each with its own pool object over the shared bytes: thread r copies
/// elements r, r + size, ..., and all wait for one another before it returns. All must call it, and all must have waited
/// (`group.sync()`) after the last write to `src`. The first thread's pool tells its observers.
SCRATCHPAD_CALLS_EITHER_SIDE
template <ThreadGroup Group, class Space, class T, std::size_t Rank, class DstSpace, class U, std::size_t SrcRank,
          class SrcSpace>
SCRATCHPAD_HD constexpr void copy_to(const Group& group, BumpAllocator<Space>& pool,
                                     const Tensor<T, Rank, DstSpace>& dst, const Tensor<U, SrcRank, SrcSpace>& src) {
  if (!detail::check_copy(pool, dst, src)) return;
  const std::size_t rank = group.thread_rank();
  if (rank == 0) pool.note_copy({dst.data(), src.data(), src.size(), src.size_bytes()});
  if (pool.is_measuring()) return;
  for (std::size_t i = rank; i < src.size(); i += group.size()) dst.data()[i] = src.data()[i];
  group.sync();
}

}  // namespace SCRATCHPAD_NAMESPACE
