// SPDX-License-Identifier: MIT
/// \file
/// BlockList: the memory of an arena. It knows blocks and their growth, but neither who has what nor queues.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <new>
#include <optional>
#include <vector>

#include <scratchpad/bump.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>

namespace SCRATCHPAD_NAMESPACE {
namespace detail {

/// Blocks from an upstream, in the order in which they came, over which an arena bumps. A block never moves.
class BlockList {
 public:
  static constexpr std::size_t smallest_block = 65'536;  // bytes

  /// Up to where the blocks are lent: all before `block`, and `offset` bytes of it.
  struct Cursor {
    std::size_t block = 0;
    std::size_t offset = 0;
  };
  /// A place for a loan, the cursor behind it, and the bytes that it takes from its block, padding and rounding included.
  struct Spot {
    std::byte* data;
    Cursor end;
    std::size_t taken;
  };

  /// \param quantum bytes; the least alignment of a block, and what every size is a multiple of
  BlockList(std::pmr::memory_resource* upstream, std::size_t quantum) : upstream_(upstream), quantum_(quantum) {}
  BlockList(const BlockList&) = delete;
  BlockList& operator=(const BlockList&) = delete;
  ~BlockList() { clear(); }

  bool empty() const { return blocks_.empty(); }
  std::size_t size() const { return blocks_.size(); }

  /// Bytes of all blocks.
  std::size_t capacity() const {
    std::size_t bytes = 0;
    for (const Block& block : blocks_) bytes += block.bytes;
    return bytes;
  }

  /// The first place at or after `from` for `bytes` bytes. The padding is worked out anew for every block.
  /// \pre bytes > 0; alignment is a power of two, at least the quantum
  std::optional<Spot> find(Cursor from, std::size_t bytes, std::size_t alignment) const {
    for (; from.block < blocks_.size(); from = {from.block + 1, 0}) {
      const auto at = place(from, bytes, alignment);
      if (at.fits) return Spot{blocks_[from.block].data + at.start, {from.block, at.end}, at.end - from.offset};
    }
    return std::nullopt;
  }

  /// By how many bytes the roomiest block from `from` on is too small; what `find` has just not found a place for.
  std::size_t missing(Cursor from, std::size_t bytes, std::size_t alignment) const {
    std::size_t least = bump::saturating_round_up(bytes, quantum_);
    for (; from.block < blocks_.size(); from = {from.block + 1, 0}) {
      const Block& block = blocks_[from.block];
      const std::size_t pad = bump::padding(address(block) + from.offset, alignment);
      const std::size_t need = bump::saturating_sum(bump::saturating_round_up(bytes, quantum_), pad);
      least = (std::min)(least, need - (block.bytes - from.offset));
    }
    return least;
  }

  /// Adds a block that holds `bytes` at `alignment`: twice the last one and 64 KiB at least, or just the bytes where the
  /// upstream refuses that. *Returns*: false, with nothing changed, if it refuses both.
  [[nodiscard]] bool grow(std::size_t bytes, std::size_t alignment) {
    const std::size_t last = blocks_.empty() ? 0 : blocks_.back().bytes;
    return add(bytes, (std::max)(bump::saturating_product<std::size_t>(2, last), smallest_block), alignment);
  }

  /// Puts one block of `peak` bytes, or `bytes` if that is more, in the place of all. The old ones go back only when the
  /// new one is there, so that a failure changes nothing. \pre nothing is lent, and no work reads the blocks any more
  [[nodiscard]] bool merge(std::size_t bytes, std::size_t alignment, std::size_t peak) {
    const std::size_t old = blocks_.size();
    if (!add(bytes, peak, alignment)) return false;
    for (std::size_t i = 0; i < old; ++i) give_back(blocks_[i]);
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(old));
    return true;
  }

  /// Gives every block back. \pre no work reads them any more
  void clear() noexcept {
    for (const Block& block : blocks_) give_back(block);
    blocks_.clear();
  }

  /// Forgets every block: work may read them for ever, so they are lost rather than freed under it.
  void abandon() noexcept { blocks_.clear(); }

 private:
  // bytes is a multiple of the quantum, data one of alignment, and alignment at least the quantum.
  struct Block {
    std::byte* data;
    std::size_t bytes;
    std::size_t alignment;
  };

  static std::size_t address(const Block& block) { return reinterpret_cast<std::uintptr_t>(block.data); }

  bump::Placement<std::size_t> place(Cursor at, std::size_t bytes, std::size_t alignment) const {
    const Block& block = blocks_[at.block];
    return bump::place<std::size_t>(address(block), at.offset, block.bytes, bytes, 1, alignment, quantum_);
  }

  bool add(std::size_t bytes, std::size_t preferred, std::size_t alignment) {
    blocks_.reserve(blocks_.size() + 1);
    const std::size_t needed = bump::saturating_round_up(bytes, quantum_);
    const std::size_t wanted = bump::saturating_round_up((std::max)(bytes, preferred), quantum_);
    return take(wanted, alignment) || (wanted != needed && take(needed, alignment));
  }

  bool take(std::size_t bytes, std::size_t alignment) {
    constexpr std::size_t most = (std::numeric_limits<std::ptrdiff_t>::max)();
    std::byte* const data = bytes <= most ? try_allocate(bytes, alignment) : nullptr;
    if (data == nullptr) return false;
    const Block block{data, bytes, alignment};
    if (bump::padding(address(block), alignment) != 0) [[unlikely]] {
      give_back(block);
      raise<ApiMisuse>("WorkspaceArena: the upstream was asked for ", bytes, " bytes aligned to ", alignment,
                       " and gave ", Address{data}, ", which is not");
    }
    blocks_.push_back(block);
    return true;
  }

  std::byte* try_allocate(std::size_t bytes, std::size_t alignment) {
    SCRATCHPAD_TRY { return static_cast<std::byte*>(upstream_->allocate(bytes, alignment)); }
    SCRATCHPAD_CATCH(const std::bad_alloc&) { return nullptr; }
  }

  void give_back(const Block& block) noexcept { upstream_->deallocate(block.data, block.bytes, block.alignment); }

  std::pmr::memory_resource* upstream_;
  std::size_t quantum_;
  std::vector<Block> blocks_;
};

}  // namespace detail
}  // namespace SCRATCHPAD_NAMESPACE
