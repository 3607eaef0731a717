// SPDX-License-Identifier: MIT
/// \file
/// BumpAllocator<Space>: a bump over a fixed pool that can also measure.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include <scratchpad/bump.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/fwd.hpp>
#include <scratchpad/memory_space.hpp>
#include <scratchpad/observe/default_observer.hpp>
#include <scratchpad/pool_observer.hpp>
#include <scratchpad/requirement.hpp>
#include <scratchpad/save_points.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// What a block can hold: its bytes are handed out as they are and given back without a destructor.
template <class T>
concept ScratchElement = std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T> &&
                         std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>;

namespace detail {

/// A quantum known at compile time takes no storage.
template <std::size_t Static>
class Quantum {
 public:
  constexpr explicit Quantum(std::size_t) {}
  static constexpr std::size_t bytes() { return Static; }
};
template <>
class Quantum<dynamic_quantum> {
 public:
  constexpr explicit Quantum(std::size_t quantum) : bytes_(quantum) {}
  constexpr std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
};

/// The region that a measuring pool pretends to bump over: 2^54 bytes, more than any machine has, at a base that every
/// alignment divides. Its pointers have bits 63 and 55 set: not canonical on x86-64 and the kernel's half on aarch64,
/// also where the top byte is ignored, so that using one faults. (A 32-bit size_t: half the address space; there the
/// pointers look like any other.)
inline constexpr bool wide = std::numeric_limits<std::size_t>::digits >= 64;
inline constexpr std::size_t measuring_capacity = std::size_t{1} << (wide ? 54 : 31);
inline constexpr std::uintptr_t measuring_base =
    static_cast<std::uintptr_t>(wide ? 0x8080'0000'0000'0000 : 0x8000'0000);

}  // namespace detail

/// Hands out blocks of a fixed region in order and takes them back by rewinding. Neither copyable nor movable, because
/// scopes refer to it; one thread (on a device: one thread, or one block in lockstep) uses it at a time.
///
/// | task | call |
/// |---|---|
/// | serve from memory you have | `BumpAllocator pool(buffer)`, `pool(pointer, bytes)` |
/// | ask how much a layout needs | `measuring()`, then `required_bytes()`; or `workspace_bytes(layout)` |
/// | get a block | `allocate<T>(n, "label")`, `allocate<T>(n, align(a), "label")`, `try_allocate<T>(n)` |
/// | get a tensor | `tensor<T>(pool, "label", m, n)` |
/// | give blocks back | a `ScratchScope`; without RAII `save()` and `rewind(at)`; everything: `reset()` |
/// | look | `used() remaining() capacity() peak() depth() save_points() is_live(handle)` |
/// | watch | `watch(observer)` |
///
/// Every size, offset and alignment is in bytes. A call that fails changes nothing.
///
/// *Device*: the same type and the same functions. There a pool has no observers and no stamps, its base is not checked,
/// failures trap, and `peak()` counts only while measuring, because loop-carried bookkeeping stops nvcc from unrolling.
template <class Space>
class BumpAllocator {
  static_assert(
      MemorySpace<Space>,
      "scratchpad: Space must model MemorySpace: name, quantum (a power of two or dynamic_quantum), max_depth "
      "(1 to 65535), host_accessible, bounds_checked and copy(dst, src, bytes); derive from HostSpace");

 public:
  using space_type = Space;
  static constexpr bool has_dynamic_quantum = Space::quantum == dynamic_quantum;

  /// Serves from `bytes` bytes at `memory`; the capacity is rounded down to the quantum. (nullptr, 0) is an empty pool.
  ///
  /// \param observer watches the pool from the start; by default the build's (observe/default_observer.hpp), which is
  ///        nobody in a release build; nullptr: nobody
  ///
  /// *On failure*: `ApiMisuse` if `memory` is not a multiple of the quantum (a shifted base would lose bytes in silence),
  /// is null with bytes > 0, or `bytes` is larger than any object can be.
  /// *Device*: the base is not checked, and there is no observer.
  constexpr BumpAllocator(void* memory, std::size_t bytes,
                          PoolObserver* observer = default_observer<Space>()) requires(!has_dynamic_quantum)
      : BumpAllocator(memory, bytes, Space::quantum, observer, Serving{}) {}

  /// The same with the quantum that the device asked for. *On failure*: also `ApiMisuse` if it is no power of two.
  constexpr BumpAllocator(void* memory, std::size_t bytes, std::size_t quantum,
                          PoolObserver* observer = default_observer<Space>()) requires has_dynamic_quantum
      : BumpAllocator(memory, bytes, quantum, observer, Serving{}) {}

  /// The same from an array, a ScratchBuffer, a lease, ...: any lvalue that converts to a span of bytes.
  constexpr explicit BumpAllocator(std::span<std::byte> memory,
                                   PoolObserver* observer = default_observer<Space>()) requires(!has_dynamic_quantum)
      : BumpAllocator(memory.data(), memory.size(), Space::quantum, observer, Serving{}) {}
  constexpr BumpAllocator(std::span<std::byte> memory, std::size_t quantum,
                          PoolObserver* observer = default_observer<Space>()) requires has_dynamic_quantum
      : BumpAllocator(memory.data(), memory.size(), quantum, observer, Serving{}) {}

  BumpAllocator(const BumpAllocator&) = delete;
  BumpAllocator& operator=(const BumpAllocator&) = delete;

  constexpr ~BumpAllocator() {
    if constexpr (!detail::in_device_code) {
      if (slow_) detach();
    }
  }

  /// A pool that serves nothing and measures: the same arithmetic over a fictitious region of 2^54 bytes.
  /// Its pointers are not null, aligned, and fault when they are used (in a constant expression they are null).
  static constexpr BumpAllocator measuring() requires(!has_dynamic_quantum) {
    return BumpAllocator(Space::quantum, Measuring{});
  }
  /// *On failure*: `ApiMisuse` if `quantum` is no power of two.
  static constexpr BumpAllocator measuring(std::size_t quantum) requires has_dynamic_quantum {
    return BumpAllocator(quantum, Measuring{});
  }

  /// A block of `n` elements; uninitialised. No elements: an empty span (aligned to the quantum), nothing is consumed.
  ///
  /// *Returns*: n elements aligned to the quantum, or to T where that is coarser.
  /// *On failure*: `ScratchOverflow`, with all the numbers.
  /// *Invalidated by*: the rewind of a save-point that was open when it was handed out, `reset()`, the end of the memory.
  /// *Measuring*: counts; the span must not be looked into, and its data() never says whether there is a workspace.
  /// *Complexity*: constant; one comparison and no call on the path that hits.
  template <class T>
  [[nodiscard]] constexpr std::span<T> allocate(std::size_t n, Label label = {}) SCRATCHPAD_LIFETIMEBOUND {
    if (hits<T>(n)) [[likely]]
      return hit<T>(n);
    return miss<T>(n, {1}, label);
  }

  /// The same, aligned to `alignment` bytes at least; met by address, and noted by a measuring pool.
  /// *On failure*: also `ApiMisuse` if the alignment is no power of two.
  template <class T>
  [[nodiscard]] constexpr std::span<T> allocate(std::size_t n, Alignment alignment,
                                                Label label = {}) SCRATCHPAD_LIFETIMEBOUND {
    return miss<T>(n, alignment, label);
  }

  /// The same as `allocate<T>(n)`, with std::nullopt where that would be a ScratchOverflow.
  /// A layout must not branch on it: measuring always succeeds.
  template <class T>
  [[nodiscard]] constexpr std::optional<std::span<T>> try_allocate(std::size_t n,
                                                                   Label label = {}) SCRATCHPAD_LIFETIMEBOUND {
    if (hits<T>(n)) [[likely]]
      return hit<T>(n);
    const std::size_t alignment = larger(alignof(T), quantum());
    const Placement at = find(n, sizeof(T), alignment);
    if (!at.fits) return std::nullopt;
    take(at, n, sizeof(T), alignment, label);
    return span_at<T>(at.start, n);
  }

  /// Opens a save-point, for callers that cannot use a ScratchScope.
  /// *Returns*: the handle for `rewind`. *On failure*: `ApiMisuse` if Space::max_depth are open.
  [[nodiscard]] SCRATCHPAD_INLINE constexpr SavePoint save() {
    if (save_points_.has_reached(save_limit_)) [[unlikely]]
      save_slowly();
    return save_points_.push(cursor_);
  }

  /// Gives back everything allocated since `at` was opened, and closes it.
  /// *On failure*: `ApiMisuse` if `at` is not the innermost open save-point of this pool (wrong order, twice, stale,
  /// another pool's). *Invalidates*: every block handed out since. *Device*: only the depth is checked.
  constexpr void rewind(SavePoint at) {
    if (at.depth == 0 || at.depth != save_points_.depth() || !is_live(at)) [[unlikely]]
      refuse_rewind(at);
    give_back<false>(at);
    save_points_.pop(at.depth);
  }

  /// Empties the pool: all figures are those of a fresh one. Twice is as good as once.
  /// *On failure*: `ApiMisuse` while a save-point is open. *Invalidates*: every block.
  constexpr void reset() {
    if (save_points_.depth() != 0) [[unlikely]]
      refuse_reset();
    give_back<true>(here());
    save_points_.renew(here());
    peak_ = 0;
    coarsest_ = quantum();
    serial_ = 0;
  }

  /// Bytes in use, padding and rounding included: the offset of the next block.
  constexpr std::size_t used() const { return cursor_; }

  /// Bytes this pool can serve. *On failure*: `ApiMisuse` while measuring.
  constexpr std::size_t capacity() const {
    if (measuring_) [[unlikely]]
      refuse_figure("capacity()");
    return capacity_;
  }

  /// capacity() - used(). *On failure*: `ApiMisuse` while measuring.
  constexpr std::size_t remaining() const {
    if (measuring_) [[unlikely]]
      refuse_figure("remaining()");
    return capacity_ - cursor_;
  }

  /// The most bytes in use at one time since the pool was made or reset.
  constexpr std::size_t peak() const { return larger(peak_, cursor_); }

  /// Open save-points.
  constexpr std::uint32_t depth() const { return save_points_.depth(); }

  /// Where the open save-points stand, the outermost first: offsets in bytes.
  constexpr std::span<const std::size_t> save_points() const { return save_points_.offsets(); }

  /// The innermost open save-point, or the pool itself: where a block handed out now lives.
  constexpr SavePoint here() const { return save_points_.top(); }

  /// Whether the save-point that `handle` was born in is still open, in the same life. Exact, also after the bytes were
  /// handed out again. A span carries no such mark and cannot be asked. \pre the pool that `handle` came from exists.
  /// *Device*: only the depth is looked at.
  constexpr bool is_live(const SavePoint& handle) const { return save_points_.is_live(handle); }
  template <class Handle>
    requires requires(const Handle& handle) {
      { handle.birth() } -> std::convertible_to<SavePoint>;
    }
  constexpr bool is_live(const Handle& handle) const { return save_points_.is_live(handle.birth()); }

  /// Whether `handle` came from this pool, alive or not.
  constexpr bool is_origin_of(const SavePoint& handle) const { return handle.owner == here().owner; }

  constexpr bool is_measuring() const { return measuring_; }

  /// The quantum: the alignment of every block, size and offset, in bytes.
  constexpr std::size_t quantum() const { return quantum_.bytes(); }

  /// The bytes that serve everything measured so far, at every base that is a multiple of the quantum; also when they
  /// are handed on as plain bytes. See bump::required_bytes for the proof.
  /// *On failure*: `ApiMisuse` on a pool that serves.
  constexpr std::size_t required_bytes() const {
    if (!measuring_) [[unlikely]]
      refuse_figure("required_bytes()");
    return bump::required_bytes(peak(), coarsest_, quantum());
  }

  /// The same, exactly, for a base with the alignment it names. *On failure*: `ApiMisuse` on a pool that serves.
  constexpr Requirement requirement() const {
    if (!measuring_) [[unlikely]]
      refuse_figure("requirement()");
    return {peak(), coarsest_};
  }

  /// Adds an observer; nullptr takes all of them away. Several are called in the order in which they came.
  /// *On failure*: `ApiMisuse` if the pool is not empty, or has ObserverChain::max_observers already.
  constexpr void watch(PoolObserver* observer) {
    if (cursor_ != 0 || depth() != 0) [[unlikely]]
      refuse_watch("the pool is not empty");
    if (observer == nullptr) {
      detach();
      observers_.clear();
    } else {
      if (observers_.full()) [[unlikely]]
        refuse_watch("it has as many observers as it can hold");
      if (!std::is_constant_evaluated()) base_ = detail::forget_origin(base_);
      observer->on_attach(view());
      observers_.add(observer);
    }
    slow_ = measuring_ || !observers_.empty();
    fast_limit_ = slow_ ? cursor_ : capacity_;
    save_limit_ = observers_.empty() ? Space::max_depth : 0;
  }

  /// Tells the observers of a copy between two blocks; called by copy_to.
  constexpr void note_copy(const CopyEvent& event) const {
    if constexpr (!detail::in_device_code) {
      if (slow_) observers_.each([&](PoolObserver& observer) { observer.on_copy(view(), event); });
    }
  }

 private:
  struct Serving {};
  struct Measuring {};
  using Placement = bump::Placement<std::size_t>;

  constexpr BumpAllocator(void* memory, std::size_t bytes, std::size_t quantum, PoolObserver* observer, Serving)
      : base_(static_cast<std::byte*>(memory)),
        fast_limit_(bump::round_down(bytes, checked_quantum(quantum))),
        capacity_(fast_limit_),
        coarsest_(quantum),
        quantum_(quantum) {
    if (!std::is_constant_evaluated()) check_memory(memory, bytes, quantum);
    if constexpr (!detail::in_device_code) {
      if (observer != nullptr) watch(observer);
    }
  }

  constexpr BumpAllocator(std::size_t quantum, Measuring)
      : capacity_(detail::measuring_capacity), coarsest_(checked_quantum(quantum)), quantum_(quantum) {
    measuring_ = true;
    slow_ = true;
    if (!std::is_constant_evaluated()) base_ = reinterpret_cast<std::byte*>(detail::measuring_base);
  }

  static constexpr std::size_t checked_quantum(std::size_t quantum) {
    if constexpr (has_dynamic_quantum) {
      if (!bump::is_power_of_two(quantum)) [[unlikely]] {
        detail::raise<ApiMisuse>("BumpAllocator: a quantum of ", quantum, " bytes is no power of two");
      }
    }
    return quantum;
  }

  static constexpr std::size_t larger(std::size_t a, std::size_t b) { return a < b ? b : a; }

  // ---- what a scope needs: it may end with raw save()s left open above it, and it can stay open --------------------

  template <class, class>
  friend class ScratchScope;

  // Closes `at` and everything opened after it. False, with nothing changed, if `at` is not open. \pre at.depth >= 1
  SCRATCHPAD_INLINE constexpr bool unwind(SavePoint at) {
    if (!is_live(at)) [[unlikely]]
      return false;
    give_back<false>(at);
    save_points_.pop(at.depth);
    return true;
  }

  // The same, but `at` stays open, for a new life, whose handle it becomes.
  constexpr bool renew(SavePoint& at) {
    if (!is_live(at)) [[unlikely]]
      return false;
    give_back<true>(at);
    at = save_points_.renew(at);
    return true;
  }

  // ---- the path that hits -------------------------------------------------------------------------------------------

  template <class T>
  constexpr bool hits(std::size_t n) const {
    static_assert(ScratchElement<T>,
                  "scratchpad: a block holds plain bytes: T must be a trivially copyable and trivially destructible "
                  "object type without const or volatile (std::string and std::vector are not; keep those outside)");
    if constexpr (has_dynamic_quantum) {
      if (alignof(T) > quantum()) return false;
    } else if constexpr (alignof(T) > Space::quantum) {
      return false;
    }
    if constexpr (!Space::bounds_checked) return !slow_;
    return bump::fits(cursor_, fast_limit_, n, sizeof(T));
  }

  template <class T>
  constexpr std::span<T> hit(std::size_t n) {
    const std::size_t offset = cursor_;
    cursor_ = offset + bump::reserved_bytes(n, sizeof(T), quantum());
    return span_at<T>(offset, n);
  }

  template <class T>
  constexpr std::span<T> span_at(std::size_t offset, std::size_t n) const {
    if (std::is_constant_evaluated()) return std::span<T>(static_cast<T*>(nullptr), n);
    return std::span<T>(reinterpret_cast<T*>(base_ + offset), n);
  }

  // ---- the slow path: measuring, watched, over-aligned, or too large ------------------------------------------------

  template <class T>
  SCRATCHPAD_COLD constexpr std::span<T> miss(std::size_t n, Alignment asked, Label label) {
    static_assert(ScratchElement<T>, "scratchpad: T must be trivially copyable and trivially destructible");
    if (!bump::is_power_of_two(asked.bytes)) [[unlikely]]
      refuse_alignment(asked, label);
    const std::size_t alignment = larger(larger(alignof(T), asked.bytes), quantum());
    const Placement at = find(n, sizeof(T), alignment);
    if (!at.fits) [[unlikely]]
      overflow(n, sizeof(T), alignment, label);
    take(at, n, sizeof(T), alignment, label);
    return span_at<T>(at.start, n);
  }

  // The address that alignments are counted from. While measuring every alignment divides the base; in a constant
  // expression there are no addresses.
  constexpr std::size_t base_address() const {
    if (measuring_ || std::is_constant_evaluated()) return 0;
    return reinterpret_cast<std::uintptr_t>(base_);
  }

  constexpr Placement find(std::size_t n, std::size_t size, std::size_t alignment) const {
    if (n == 0) return {true, cursor_, cursor_};
    if constexpr (!Space::bounds_checked) {
      const std::size_t start = cursor_ + bump::padding(base_address() + cursor_, alignment);
      if (!measuring_) return {true, start, start + bump::reserved_bytes(n, size, quantum())};
    }
    return bump::place(base_address(), cursor_, capacity_, n, size, alignment, quantum());
  }

  constexpr void take(const Placement& at, std::size_t n, std::size_t size, std::size_t alignment, Label label) {
    if (n == 0) return;
    if constexpr (!detail::in_device_code) {
      if (!observers_.empty()) {
        const Block block{label.text, at.start, n * size, at.end - at.start, alignment, depth(), serial_};
        observers_.each([&](PoolObserver& observer) { observer.before_allocate(view(), block); });
        observers_.each([&](PoolObserver& observer) { observer.on_allocate(view(), block); });
        ++serial_;
      }
    }
    cursor_ = at.end;
    if (slow_) fast_limit_ = cursor_;
    if (measuring_) coarsest_ = larger(coarsest_, alignment);
  }

  // Everything handed out since the level `at` was opened is free again. The cursor falls nowhere else, so
  // this is where the peak is sampled.
  template <bool StaysOpen>
  constexpr void give_back(const SavePoint& at) {
    if (!detail::in_device_code || measuring_) {
      if (cursor_ > peak_) [[unlikely]]
        peak_ = cursor_;
    }
    if (slow_) [[unlikely]] {
      give_back_slowly<StaysOpen>(at.depth, at.stamp);
    } else {
      cursor_ = save_points_.offset(at);
    }
  }
  // Two numbers and not the handle they are from: a struct would be passed through memory, on every path.
  template <bool StaysOpen>
  SCRATCHPAD_COLD constexpr void give_back_slowly(std::uint32_t depth, std::uint64_t stamp) {
    const std::size_t offset = save_points_.offset({nullptr, stamp, depth});
    if constexpr (!detail::in_device_code) {
      observers_.each([&](PoolObserver& observer) { observer.on_rewind(view(), {offset, cursor_, depth, StaysOpen}); });
    }
    cursor_ = offset;
    fast_limit_ = offset;
  }

  // A watched pool has a save_limit_ of 0.
  SCRATCHPAD_COLD constexpr void save_slowly() const {
    if (depth() == Space::max_depth) refuse_save();
    if constexpr (!detail::in_device_code) {
      observers_.each([&](PoolObserver& observer) {
        observer.on_save(view(), {cursor_, cursor_, depth() + 1, false});
      });
    }
  }

  // ---- observers ----------------------------------------------------------------------------------------------------

  constexpr PoolView view() const {
    return {this, Space::name, base_, capacity_, quantum(), measuring_, Space::host_accessible};
  }
  SCRATCHPAD_COLD constexpr void detach() const {
    observers_.each([&](PoolObserver& observer) { observer.on_detach(view()); });
  }

  // ---- what is refused ----------------------------------------------------------------------------------------------

  static constexpr void check_memory(const void* memory, std::size_t bytes, std::size_t quantum) {
    if constexpr (!detail::in_device_code) {
      const auto address = reinterpret_cast<std::uintptr_t>(memory);
      if ((address & (quantum - 1)) != 0) [[unlikely]] {
        detail::raise<ApiMisuse>("BumpAllocator: the base ", detail::Address{memory}, " of pool '", Space::name,
                                 "' is not a multiple of its quantum, ", quantum, " bytes; align the buffer (alignas(",
                                 quantum, "), ScratchBuffer) or pass a base ", quantum - (address & (quantum - 1)),
                                 " bytes further on");
      }
      if (memory == nullptr && bytes != 0) [[unlikely]] {
        detail::raise<ApiMisuse>("BumpAllocator: null memory with ", bytes, " bytes for pool '", Space::name,
                                 "'; only (nullptr, 0) is an empty pool");
      }
      if (bytes > static_cast<std::size_t>((std::numeric_limits<std::ptrdiff_t>::max)())) [[unlikely]] {
        detail::raise<ApiMisuse>("BumpAllocator: ", bytes, " bytes for pool '", Space::name,
                                 "' are more than any object can have");
      }
    }
  }

  [[noreturn]] SCRATCHPAD_COLD constexpr void overflow(std::size_t n, std::size_t size, std::size_t alignment,
                                                       Label label) const {
    if constexpr (detail::in_device_code) {
      detail::trap();
    } else {
      Overflow o;
      o.space = Space::name;
      o.label = label.text;
      o.elements = n;
      o.element_bytes = size;
      o.bytes = bump::saturating_product(n, size);
      o.reserved = bump::saturating_round_up(o.bytes, quantum());
      o.padding = bump::padding(base_address() + cursor_, alignment);
      o.used = cursor_;
      o.capacity = capacity_;
      o.missing = bump::saturating_sum(o.reserved, o.padding) - (capacity_ - cursor_);
      o.peak = peak();
      o.depth = depth();
      o.measuring = measuring_;
      observers_.each([&](PoolObserver& observer) { observer.on_overflow(view(), o); });
      detail::raise<ScratchOverflow>(o);
    }
  }

  [[noreturn]] SCRATCHPAD_COLD constexpr void refuse_alignment(Alignment asked, Label label) const {
    detail::raise<ApiMisuse>("BumpAllocator::allocate: an alignment of ", asked.bytes, " bytes for '", label.text,
                             "' is no power of two");
  }
  [[noreturn]] SCRATCHPAD_COLD constexpr void refuse_save() const {
    detail::raise<ApiMisuse>("BumpAllocator: pool '", Space::name, "' cannot open another save-point: ", depth(),
                             " are open, and Space::max_depth is ", Space::max_depth);
  }
  [[noreturn]] SCRATCHPAD_COLD constexpr void refuse_rewind(const SavePoint& at) const {
    if (at.depth != 0 && save_points_.is_live(at)) {
      detail::raise<ApiMisuse>("BumpAllocator::rewind: the save-point at depth ", at.depth,
                               " is not the innermost one; ", depth() - at.depth, " opened after it are still open");
    }
    detail::raise<ApiMisuse>("BumpAllocator::rewind: the save-point at depth ", at.depth, " (stamp ", at.stamp,
                             ") is not open in this pool: rewound already, or another pool's; ", depth(), " are open");
  }
  [[noreturn]] SCRATCHPAD_COLD constexpr void refuse_reset() const {
    detail::raise<ApiMisuse>("BumpAllocator::reset: ", depth(), " save-points of pool '", Space::name,
                             "' are open; end their scopes first");
  }
  [[noreturn]] SCRATCHPAD_COLD constexpr void refuse_watch(const char* why) const {
    detail::raise<ApiMisuse>("BumpAllocator::watch: ", why, " (used ", cursor_, ", depth ", depth(), ")");
  }
  [[noreturn]] SCRATCHPAD_COLD constexpr void refuse_figure(const char* what) const {
    detail::raise<ApiMisuse>("BumpAllocator::", what,
                             measuring_ ? ": a measuring pool has none (used " : ": this pool serves (used ", cursor_,
                             measuring_ ? "); ask required_bytes()" : "); ask a measuring one");
  }

  // Offsets and not addresses are the state: base_ + offset keeps its provenance, lets a GPU compiler see which memory it
  // is, and lets everything run in a constant expression.
  //
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
  std::uint64_t serial_ = 0;
  [[no_unique_address]] detail::Quantum<Space::quantum> quantum_;
  bool measuring_ = false;
  bool slow_ = false;  // measuring_ or watched
  // Space::max_depth, or 0 where watched: the same one-comparison trick for save().
  std::uint32_t save_limit_ = Space::max_depth;
  ObserverChain observers_;
  SavePoints<Space::max_depth> save_points_;  // last: see there
};

static_assert(!std::is_copy_constructible_v<BumpAllocator<HostSpace>> &&
                  !std::is_move_constructible_v<BumpAllocator<HostSpace>>,
              "scopes keep a reference to their pool");

}  // namespace SCRATCHPAD_NAMESPACE
