// SPDX-License-Identifier: MIT
/// \file
/// SavePoints: the explicit stack of save-points inside a pool. SavePoint: the handle to one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <scratchpad/config.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Names one level of one pool's stack during one of its lives. It is what `save()` hands out, what a scope keeps, and
/// what a tensor remembers of the scope it was born in.
struct SavePoint {
  const void* owner = nullptr;  ///< the stack it belongs to; identity only
  std::uint64_t stamp = 0;      ///< which life of that level; in device code the offset that it stands at
  std::uint32_t depth = 0;      ///< the level; 0 is the pool itself
  friend constexpr bool operator==(const SavePoint&, const SavePoint&) = default;
};

/// A stack of {offset, stamp}, kept as two arrays inside the object. Level 0 is always there: it is the pool itself, at
/// offset 0.
///
/// A stamp is fresh at every push, renewal and reset, and 64 bits wide, because 32 bits wrap in under a minute of scopes.
///
/// In device code there are no stamps (nobody there could be told of a stale handle, and the counter would be carried
/// round every loop), and the handle itself carries the offset: an array indexed by a number that a loop carries keeps
/// nvcc from holding the pool in registers, and from unrolling the loop.
template <std::uint32_t MaxDepth>
class SavePoints {
 public:
  /// \param first_stamp the stamp of level 0
  constexpr explicit SavePoints(std::uint64_t first_stamp = 1) : last_stamp_(first_stamp) {
    offsets_[0] = 0;
    stamps_[0] = first_stamp;
  }

  constexpr std::uint32_t depth() const { return levels_ - 1; }
  constexpr bool has_reached(std::uint32_t depth) const { return levels_ > depth; }

  /// The offsets of the open save-points, the outermost first.
  constexpr std::span<const std::size_t> offsets() const { return {offsets_ + 1, depth()}; }

  /// The innermost open level.
  constexpr SavePoint top() const {
    if constexpr (detail::in_device_code) return {nullptr, 0, depth()};
    return {this, stamps_[depth()], depth()};
  }

  /// Whether `at` names a level that is open and has been open without a break since the handle was made.
  /// In device code only whether there is such a level now.
  SCRATCHPAD_INLINE constexpr bool is_live(const SavePoint& at) const {
    if constexpr (detail::in_device_code) return at.depth < levels_;
    return at.owner == this && at.depth < levels_ && stamps_[at.depth] == at.stamp;
  }

  /// The offset of an open level.
  constexpr std::size_t offset(const SavePoint& at) const {
    if constexpr (detail::in_device_code) return static_cast<std::size_t>(at.stamp);
    return offsets_[at.depth];
  }

  /// Opens a level. \pre depth() < MaxDepth
  constexpr SavePoint push(std::size_t offset) {
    const std::uint32_t depth = levels_;
    levels_ = depth + 1;
    if constexpr (detail::in_device_code) return {nullptr, offset, depth};
    offsets_[depth] = offset;
    stamps_[depth] = ++last_stamp_;
    return {this, last_stamp_, depth};
  }

  /// Closes level `depth` and all above it. \pre 1 <= depth <= this->depth()
  constexpr void pop(std::uint32_t depth) { levels_ = depth; }

  /// Closes all above the level `at` and begins a new life of it: handles made before are stale. \pre it is open
  constexpr SavePoint renew(const SavePoint& at) {
    levels_ = at.depth + 1;
    if constexpr (detail::in_device_code) return at;
    stamps_[at.depth] = ++last_stamp_;
    return {this, last_stamp_, at.depth};
  }

 private:
  // Open levels, level 0 included, so 1 <= levels_ <= MaxDepth + 1. Counted with level 0 so that one number, a level's
  // depth, is at once its index and what levels_ falls back to when it is closed: a scope keeps one register less.
  std::uint32_t levels_ = 1;
  std::uint64_t last_stamp_;
  // Not initialised: what is at or above levels_ is never read.
  std::uint64_t stamps_[MaxDepth + std::size_t{1}];
  std::size_t offsets_[MaxDepth + std::size_t{1}];
};

}  // namespace SCRATCHPAD_NAMESPACE
