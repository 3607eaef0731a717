// SPDX-License-Identifier: MIT
/// \file
/// The rules of a pool once more, written from their description and as dumbly as possible: a list of live blocks,
/// searched from end to end whenever anything is asked. It shares no line with the library and includes none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

namespace naive {

using Bytes = std::uint64_t;

/// `elements` of `element_bytes` each, at an address that `alignment` divides (0 or 1: anywhere).
struct Request {
  Bytes elements = 0;
  Bytes element_bytes = 1;
  Bytes alignment = 1;
};

struct Block {
  Bytes begin = 0;  ///< offset
  Bytes bytes = 0;  ///< asked for
  Bytes end = 0;    ///< where the bytes set aside for it end
};

inline bool is_power_of_two(Bytes n) {
  for (Bytes power = 1; power != 0; power *= 2) {
    if (n == power) return true;
  }
  return false;
}

/// No real request is that large, and sums of numbers below it are far from wrapping.
inline constexpr Bytes huge = Bytes{1} << 60;

class Model {
 public:
  static Model serving(Bytes base, Bytes bytes, Bytes quantum, std::size_t max_depth) {
    return Model(base, bytes, quantum, max_depth, false);
  }
  static Model measuring(Bytes quantum, std::size_t max_depth) {
    const Bytes region = sizeof(void*) >= 8 ? Bytes{1} << 54 : Bytes{1} << 31;
    return Model(0, region, quantum, max_depth, true);
  }

  // ---- what can be asked ----------------------------------------------------------------------------------------------

  bool is_measuring() const { return measuring_; }
  Bytes quantum() const { return quantum_; }
  Bytes capacity() const { return capacity_; }
  Bytes used() const { return end_of(blocks_.size()); }
  Bytes peak() const { return peak_; }
  Bytes coarsest() const { return coarsest_; }
  Bytes required_bytes() const { return peak_ + (coarsest_ - quantum_); }
  std::size_t depth() const { return levels_.size() - 1; }
  const std::vector<Block>& blocks() const { return blocks_; }

  /// The offsets of the open save-points, the outermost first.
  std::vector<Bytes> save_points() const {
    std::vector<Bytes> offsets;
    for (std::size_t level = 1; level < levels_.size(); ++level) offsets.push_back(end_of(levels_[level].blocks));
    return offsets;
  }

  /// The life that a block handed out now would be born in: a number that no other life of any level ever has.
  Bytes here() const { return levels_.back().life; }
  std::optional<std::size_t> level_of(Bytes life) const {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      if (levels_[level].life == life) return level;
    }
    return std::nullopt;
  }
  bool is_live(Bytes life) const { return level_of(life).has_value(); }
  Bytes offset_of_level(std::size_t level) const { return end_of(levels_.at(level).blocks); }

  // ---- blocks ---------------------------------------------------------------------------------------------------------

  /// The alignment that such a request gets.
  Bytes alignment_of(const Request& request) const {
    return request.alignment > quantum_ ? request.alignment : quantum_;
  }

  /// Bytes between the end of what is in use and the first address that the request's alignment divides.
  Bytes padding_of(const Request& request) const {
    const Bytes alignment = alignment_of(request);
    const Bytes from = base_ + used();
    if (alignment > 4096) return from % alignment == 0 ? 0 : alignment - from % alignment;  // too far to walk
    Bytes to = from;
    while (to % alignment != 0) ++to;
    return to - from;
  }

  /// Whether the request is for more bytes than the model counts with.
  static bool is_huge(const Request& request) {
    return static_cast<long double>(request.elements) * static_cast<long double>(request.element_bytes) >=
           static_cast<long double>(huge);
  }

  /// The bytes set aside for it. Not for huge ones.
  Bytes reserved_for(const Request& request) const {
    Bytes reserved = request.elements * request.element_bytes;
    while (reserved % quantum_ != 0) ++reserved;
    return reserved;
  }

  /// Where the request would lie; nothing if it does not fit. No elements fit everywhere and take nothing.
  std::optional<Block> place(const Request& request) const {
    if (request.elements == 0) return Block{used(), 0, used()};
    if (is_huge(request)) return std::nullopt;
    const Bytes padding = padding_of(request);
    if (padding >= huge) return std::nullopt;
    const Bytes begin = used() + padding;
    const Bytes end = begin + reserved_for(request);
    if (end > capacity_) return std::nullopt;
    return Block{begin, request.elements * request.element_bytes, end};
  }

  std::optional<Block> allocate(const Request& request) {
    const std::optional<Block> block = place(request);
    if (!block || request.elements == 0) return block;
    for (const Block& other : blocks_) {
      if (block->begin < other.end && other.begin < block->end) throw std::logic_error("the model is wrong: overlap");
    }
    blocks_.push_back(*block);
    if (used() > peak_) peak_ = used();
    if (alignment_of(request) > coarsest_) coarsest_ = alignment_of(request);
    return block;
  }

  // ---- save-points: each false (or nothing) where it is refused, and then nothing has changed ----------------------------

  std::optional<Bytes> save() {
    if (depth() == max_depth_) return std::nullopt;
    levels_.push_back({fresh(), blocks_.size()});
    return here();
  }
  bool may_rewind(Bytes life) const { return depth() > 0 && levels_.back().life == life; }
  bool rewind(Bytes life) { return may_rewind(life) && unwind(life); }
  bool unwind(Bytes life) {
    const auto level = level_of(life);
    if (!level || *level == 0) return false;
    blocks_.resize(levels_[*level].blocks);
    levels_.resize(*level);
    return true;
  }
  std::optional<Bytes> renew(Bytes life) {
    const auto level = level_of(life);
    if (!level) return std::nullopt;
    blocks_.resize(levels_[*level].blocks);
    levels_.resize(*level + 1);
    levels_.back().life = fresh();
    return here();
  }
  bool reset() {
    if (depth() != 0) return false;
    blocks_.clear();
    levels_.back().life = fresh();
    peak_ = 0;
    coarsest_ = quantum_;
    return true;
  }

 private:
  struct Level {
    Bytes life;
    std::size_t blocks;  // that were live when it was opened
  };

  Model(Bytes base, Bytes bytes, Bytes quantum, std::size_t max_depth, bool measuring)
      : base_(base),
        capacity_(bytes),
        quantum_(quantum),
        coarsest_(quantum),
        max_depth_(max_depth),
        measuring_(measuring) {
    while (capacity_ % quantum_ != 0) --capacity_;
    levels_.push_back({fresh(), 0});
  }

  Bytes fresh() { return ++lives_; }

  // Where the first `count` live blocks end.
  Bytes end_of(std::size_t count) const {
    Bytes end = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (blocks_[i].end > end) end = blocks_[i].end;
    }
    return end;
  }

  Bytes base_;
  Bytes capacity_;
  Bytes quantum_;
  Bytes coarsest_;
  std::size_t max_depth_;
  bool measuring_;
  Bytes lives_ = 0;
  Bytes peak_ = 0;
  std::vector<Block> blocks_;
  std::vector<Level> levels_;
};

}  // namespace naive
