// SPDX-License-Identifier: MIT
/// \file
/// BumpCursor: a region of memory and the place in it where the next block goes. The arithmetic of bump.hpp, applied to an
/// address; it knows no labels, no save-points, no observers and no errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include <scratchpad/bump.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/memory_space.hpp>
#include <scratchpad/requirement.hpp>

namespace SCRATCHPAD_NAMESPACE::detail {

/// The region that a measuring pool pretends to bump over: 2^54 bytes, more than any machine has, at a base that every
/// alignment divides. Its pointers have bits 63 and 55 set: not canonical on x86-64 and the kernel's half on aarch64,
/// also where the top byte is ignored, so that using one faults. (A 32-bit size_t: half the address space; there the
/// pointers look like any other.)
inline constexpr bool wide = std::numeric_limits<std::size_t>::digits >= 64;
inline constexpr std::size_t measuring_capacity = std::size_t{1} << (wide ? 54 : 31);
inline constexpr std::uintptr_t measuring_base =
    static_cast<std::uintptr_t>(wide ? 0x8080'0000'0000'0000 : 0x8000'0000);

constexpr std::size_t larger(std::size_t a, std::size_t b) { return a < b ? b : a; }

/// Offsets and not addresses are its state: base_ + offset keeps its provenance, lets a GPU compiler see which memory it
/// is, and lets everything run in a constant expression, where there are no addresses and all pointers are null.
template <class Space>
class BumpCursor {
 public:
  using Placement = bump::Placement<std::size_t>;

  /// Over `bytes` bytes at `memory`, rounded down to the quantum.
  /// \pre quantum is a power of two that divides the address; bytes is at most half the address space
  constexpr BumpCursor(void* memory, std::size_t bytes, std::size_t quantum)
      : fast_limit_(bump::round_down(bytes, quantum)), capacity_(fast_limit_), coarsest_(quantum), quantum_(quantum) {
    if (!std::is_constant_evaluated()) base_ = static_cast<std::byte*>(memory);
  }

  /// Over the region to measure in. \pre quantum is a power of two
  constexpr explicit BumpCursor(std::size_t quantum)
      : capacity_(bump::round_down(measuring_capacity, quantum)),
        coarsest_(quantum),
        quantum_(quantum),
        measuring_(true),
        slow_(true) {
    if (!std::is_constant_evaluated()) base_ = reinterpret_cast<std::byte*>(measuring_base);
  }

  // ---- the path that hits: one comparison ---------------------------------------------------------------------------

  template <class T>
  constexpr bool hits(std::size_t n) const {
    if constexpr (Space::quantum == dynamic_quantum) {
      if (alignof(T) > quantum()) return false;
    } else if constexpr (alignof(T) > Space::quantum) {
      return false;
    }
    // In device code nobody watches, so that such a pool can also measure on this path; were the other one reachable, nvcc
    // would see too late which memory a block lies in, and compute addresses in 64 bits.
    if constexpr (!Space::bounds_checked) return in_device_code || !slow_;
    return bump::fits(cursor_, fast_limit_, n, sizeof(T));
  }

  /// \pre hits<T>(n)
  template <class T>
  constexpr std::span<T> take(std::size_t n) {
    const std::size_t offset = cursor_;
    cursor_ = offset + bump::reserved_bytes(n, sizeof(T), quantum());
    return span_at<T>(offset, n);
  }

  // ---- the slow path: measuring, watched, over-aligned, or too large ------------------------------------------------

  /// Where the block would lie. \pre alignment is a power of two, at least the quantum
  constexpr Placement find(std::size_t n, std::size_t size, std::size_t alignment) const {
    if (n == 0) return {true, cursor_, cursor_};
    if constexpr (!Space::bounds_checked) {
      const std::size_t start = cursor_ + padding(alignment);
      if (!measuring_) return {true, start, start + bump::reserved_bytes(n, size, quantum())};
    }
    return bump::place(base_address(), cursor_, capacity_, n, size, alignment, quantum());
  }

  /// \pre at is what find(...) returned with this alignment, and fits
  constexpr void take(const Placement& at, std::size_t alignment) {
    cursor_ = at.end;
    if (slow_) fast_limit_ = cursor_;
    if (measuring_) coarsest_ = larger(coarsest_, alignment);
  }

  // ---- back ---------------------------------------------------------------------------------------------------------

  /// Everything at and above `offset` is free again. The cursor falls nowhere else, so this is where the peak is sampled.
  /// \pre offset <= used(); Slow is is_slow()
  template <bool Slow>
  SCRATCHPAD_INLINE constexpr void fall_to(std::size_t offset) {
    // In device code a figure that is carried round a loop would keep the loop from being unrolled.
    if (!in_device_code || measuring_) {
      if (cursor_ > peak_) [[unlikely]] {
        peak_ = cursor_;
      }
    }
    cursor_ = offset;
    if constexpr (Slow) fast_limit_ = offset;
  }

  /// All figures become those of a fresh one. \pre used() == 0
  constexpr void forget_figures() {
    peak_ = 0;
    coarsest_ = quantum();
  }

  constexpr void set_watched(bool watched) {
    slow_ = measuring_ || watched;
    fast_limit_ = slow_ ? cursor_ : capacity_;
    if (!std::is_constant_evaluated()) base_ = forget_origin(base_);
  }

  // ---- figures ------------------------------------------------------------------------------------------------------

  constexpr std::byte* base() const { return base_; }
  constexpr std::size_t used() const { return cursor_; }
  constexpr std::size_t capacity() const { return capacity_; }
  constexpr std::size_t peak() const { return larger(peak_, cursor_); }
  constexpr std::size_t quantum() const { return quantum_.bytes(); }
  constexpr Requirement requirement() const { return {peak(), coarsest_}; }
  constexpr bool is_measuring() const { return measuring_; }
  constexpr bool is_slow() const { return slow_; }

  /// What lies between the cursor and the next address that `alignment` divides. While measuring every alignment divides
  /// the base; in a constant expression there are no addresses.
  constexpr std::size_t padding(std::size_t alignment) const {
    return bump::padding(base_address() + cursor_, alignment);
  }

  template <class T>
  constexpr std::span<T> span_at(std::size_t offset, std::size_t n) const {
    if (std::is_constant_evaluated()) return std::span<T>(static_cast<T*>(nullptr), n);
    return std::span<T>(reinterpret_cast<T*>(base_ + offset), n);
  }

 private:
  constexpr std::size_t base_address() const {
    if (measuring_ || std::is_constant_evaluated()) return 0;
    return reinterpret_cast<std::uintptr_t>(base_);
  }

  // Invariant: cursor_, fast_limit_ and capacity_ are multiples of the quantum; cursor_ <= fast_limit_ <= capacity_.
  std::byte* base_ = nullptr;
  std::size_t cursor_ = 0;
  // capacity_, or cursor_ where slow_: every request then misses, which is how one comparison decides everything.
  std::size_t fast_limit_ = 0;
  std::size_t capacity_;
  // The most that was in use before the last rewind. peak() is the larger of this and cursor_.
  std::size_t peak_ = 0;
  // While measuring the coarsest alignment asked for, at least the quantum.
  std::size_t coarsest_;
  [[no_unique_address]] Quantum<Space::quantum> quantum_;
  bool measuring_ = false;
  bool slow_ = false;  // measuring_ or watched
};

}  // namespace SCRATCHPAD_NAMESPACE::detail
