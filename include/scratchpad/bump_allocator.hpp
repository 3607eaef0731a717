// SPDX-License-Identifier: MIT
/// \file
/// BumpAllocator<Space>: a bump over a fixed pool that can also measure.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include <scratchpad/bump.hpp>
#include <scratchpad/bump_cursor.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/device_failure.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/fwd.hpp>
#include <scratchpad/memory_space.hpp>
#include <scratchpad/observe/default_observer.hpp>
#include <scratchpad/pool_errors.hpp>
#include <scratchpad/pool_observer.hpp>
#include <scratchpad/requirement.hpp>
#include <scratchpad/save_points.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// What a block can hold: its bytes are handed out as they are and given back without a destructor.
template <class T>
concept ScratchElement = std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T> &&
                         std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>;

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
      if (!observers_.empty()) observers_.detach(view());
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
    static_assert(ScratchElement<T>,
                  "scratchpad: a block holds plain bytes: T must be a trivially copyable and trivially destructible "
                  "object type without const or volatile (std::string and std::vector are not; keep those outside)");
    if (cursor_.template hits<T>(n)) [[likely]] {
      if (n != 0) count_block();
      return cursor_.template take<T>(n);
    }
    return miss<T>(n, {1}, label);
  }

  /// The same, aligned to `alignment` bytes at least; met by address, and noted by a measuring pool.
  /// *On failure*: also `ApiMisuse` if the alignment is no power of two.
  template <class T>
  [[nodiscard]] constexpr std::span<T> allocate(std::size_t n, Alignment alignment,
                                                Label label = {}) SCRATCHPAD_LIFETIMEBOUND {
    if (bump::is_power_of_two(alignment.bytes) && alignment.bytes <= quantum()) return allocate<T>(n, label);
    return miss<T>(n, alignment, label);
  }

  /// The same as `allocate<T>(n)`, with std::nullopt where that would be a ScratchOverflow.
  /// A layout must not branch on it: measuring always succeeds.
  template <class T>
  [[nodiscard]] constexpr std::optional<std::span<T>> try_allocate(std::size_t n,
                                                                   Label label = {}) SCRATCHPAD_LIFETIMEBOUND {
    if (cursor_.template hits<T>(n)) [[likely]] {
      if (n != 0) count_block();
      return cursor_.template take<T>(n);
    }
    if (!fits<T>(n)) return std::nullopt;
    return miss<T>(n, {1}, label);
  }

  /// Opens a save-point, for callers that cannot use a ScratchScope.
  /// *Returns*: the handle for `rewind`. *On failure*: `ApiMisuse` if Space::max_depth are open.
  [[nodiscard]] SCRATCHPAD_INLINE constexpr SavePoint save() {
    if (save_points_.has_reached(save_limit_)) save_slowly();
    return save_points_.push(cursor_.used());
  }

  /// Gives back everything allocated since `at` was opened, and closes it.
  /// *On failure*: `ApiMisuse` if `at` is not the innermost open save-point of this pool (wrong order, twice, stale,
  /// another pool's). *Invalidates*: every block handed out since. *Device*: only the depth is checked.
  constexpr void rewind(SavePoint at) {
    if (at.depth == 0 || at.depth != save_points_.depth() || !is_live(at))
      detail::refuse_rewind(at, is_live(at), depth());
    give_back<false>(at);
    save_points_.pop(at.depth);
  }

  /// Empties the pool: all figures are those of a fresh one. Twice is as good as once.
  /// *On failure*: `ApiMisuse` while a save-point is open. *Invalidates*: every block.
  /// *Measuring*: what was measured before is forgotten too, so a layout does not reset its pool.
  constexpr void reset() {
    if (save_points_.depth() != 0) detail::refuse_reset(Space::name, depth());
    give_back<true>(here());
    save_points_.renew(here());
    cursor_.forget_figures();
    serial_ = 0;
  }

  /// Bytes in use, padding and rounding included: the offset of the next block.
  constexpr std::size_t used() const { return cursor_.used(); }

  /// Bytes this pool can serve. *On failure*: `ApiMisuse` while measuring.
  constexpr std::size_t capacity() const {
    if (is_measuring()) detail::refuse_figure("capacity()", is_measuring(), used());
    return cursor_.capacity();
  }

  /// capacity() - used(). *On failure*: `ApiMisuse` while measuring.
  constexpr std::size_t remaining() const {
    if (is_measuring()) detail::refuse_figure("remaining()", is_measuring(), used());
    return cursor_.capacity() - used();
  }

  /// The most bytes in use at one time since the pool was made or reset.
  constexpr std::size_t peak() const { return cursor_.peak(); }

  /// Open save-points.
  constexpr std::uint32_t depth() const { return save_points_.depth(); }

  /// Where the open save-points stand, the outermost first: offsets in bytes.
  constexpr std::span<const std::size_t> save_points() const { return save_points_.offsets(); }

  /// The innermost open save-point, or the pool itself: where a block handed out now lives.
  constexpr SavePoint here() const { return save_points_.top(); }

  /// Whether the save-point that `handle` was born in is still open, in the same life. Exact, also after the bytes were
  /// handed out again. A span carries no such mark and cannot be asked. \pre the pool that `handle` came from exists.
  /// *Device*: only the depth is looked at.
  SCRATCHPAD_INLINE constexpr bool is_live(const SavePoint& handle) const { return save_points_.is_live(handle); }
  template <class Handle>
    requires requires(const Handle& handle) {
      { handle.birth() } -> std::convertible_to<SavePoint>;
    }
  constexpr bool is_live(const Handle& handle) const { return save_points_.is_live(handle.birth()); }

  /// Whether `handle` came from this pool, alive or not.
  constexpr bool is_origin_of(const SavePoint& handle) const { return handle.owner == here().owner; }

  constexpr bool is_measuring() const { return cursor_.is_measuring(); }

  /// The quantum: the alignment of every block, size and offset, in bytes.
  constexpr std::size_t quantum() const { return cursor_.quantum(); }

  /// The bytes that serve everything measured so far, at every base that is a multiple of the quantum; also when they
  /// are handed on as plain bytes. See bump::required_bytes for the proof.
  /// *On failure*: `ApiMisuse` on a pool that serves.
  constexpr std::size_t required_bytes() const {
    if (!is_measuring()) detail::refuse_figure("required_bytes()", is_measuring(), used());
    return bump::required_bytes(peak(), cursor_.requirement().alignment, quantum());
  }

  /// The same, exactly, for a base with the alignment it names. *On failure*: `ApiMisuse` on a pool that serves.
  constexpr Requirement requirement() const {
    if (!is_measuring()) detail::refuse_figure("requirement()", is_measuring(), used());
    return cursor_.requirement();
  }

  /// Adds an observer; nullptr takes all of them away. Several are called in the order in which they came.
  /// *On failure*: `ApiMisuse` if the pool is not empty, or has ObserverChain::max_observers already.
  constexpr void watch(PoolObserver* observer) {
    if (used() != 0 || depth() != 0) detail::refuse_watch("the pool is not empty", used(), depth());
    if (observer == nullptr) {
      observers_.detach(view());
      observers_.clear();
    } else {
      if (observers_.full()) {
        detail::refuse_watch("it has as many observers as it can hold", used(), depth());
      }
      observer->on_attach(view());
      observers_.add(observer);
    }
    cursor_.set_watched(!observers_.empty());
    save_limit_ = observers_.empty() ? Space::max_depth : 0;
  }

  /// Device code: where a failure is recorded before the trap; nullptr: nowhere, which costs nothing. On the host, which
  /// throws instead, it does nothing.
  constexpr void report_failures_to(DeviceFailure* record) { failure_ = record; }

  /// Tells the observers of a copy between two blocks; called by copy_to.
  constexpr void note_copy(const CopyEvent& event) const {
    if constexpr (!detail::in_device_code) {
      observers_.copy(view(), event);
    }
  }

 private:
  struct Serving {};
  struct Measuring {};
  using Cursor = detail::BumpCursor<Space>;
  using Placement = typename Cursor::Placement;

  constexpr BumpAllocator(void* memory, std::size_t bytes, std::size_t quantum, PoolObserver* observer, Serving)
      : cursor_(memory, bytes, checked_quantum(quantum)) {
    if constexpr (!detail::in_device_code) {
      if (!std::is_constant_evaluated()) detail::check_memory(memory, bytes, quantum, Space::name);
      if (observer != nullptr) watch(observer);
    }
  }

  constexpr BumpAllocator(std::size_t quantum, Measuring) : cursor_(checked_quantum(quantum)) {}

  static constexpr std::size_t checked_quantum(std::size_t quantum) {
    if constexpr (has_dynamic_quantum) detail::check_quantum(quantum);
    return quantum;
  }

  // ---- what a scope needs: it may end with raw save()s left open above it, and it can stay open --------------------

  template <class, class>
  friend class ScratchScope;

  // Closes `at` and everything opened after it. False, with nothing changed, if `at` is not open. \pre at.depth >= 1
  SCRATCHPAD_INLINE constexpr bool unwind(SavePoint at) {
    if (!is_live(at)) return false;
    give_back<false>(at);
    save_points_.pop(at.depth);
    return true;
  }

  // The same, but `at` stays open, for a new life, whose handle it becomes.
  SCRATCHPAD_INLINE constexpr bool renew(SavePoint& at) {
    if (!is_live(at)) return false;
    give_back<true>(at);
    at = save_points_.renew(at);
    return true;
  }

  // What closing or renewing `at` would give back.
  constexpr std::span<std::byte> bytes_since(const SavePoint& at) const {
    const std::size_t offset = save_points_.offset(at);
    return cursor_.template span_at<std::byte>(offset, used() - offset);
  }

  // ---- what leaves the path that hits: measuring, watched, over-aligned, or too large --------------------------------

  template <class T>
  SCRATCHPAD_COLD constexpr std::span<T> miss(std::size_t n, Alignment asked, Label label) {
    static_assert(ScratchElement<T>, "scratchpad: T must be trivially copyable and trivially destructible");
    if (!bump::is_power_of_two(asked.bytes)) detail::refuse_alignment(asked.bytes, label.text);
    const std::size_t alignment = detail::larger(detail::larger(alignof(T), asked.bytes), quantum());
    // A kernel's pool is here because the request does not fit. Without this line nvcc would keep the code that places a
    // block; it asks for the base's address, and then nvcc no longer knows that the blocks are in shared memory.
    if constexpr (detail::in_device_code) {
      if (!cursor_.is_slow() && alignment <= quantum()) overflow(n, sizeof(T), alignment, label);
    }
    const Placement at = cursor_.find(n, sizeof(T), alignment);
    if (!at.fits) overflow(n, sizeof(T), alignment, label);
    take(at, n, sizeof(T), alignment, label);
    return cursor_.template span_at<T>(at.start, n);
  }

  template <class T>
  SCRATCHPAD_COLD constexpr bool fits(std::size_t n) const {
    return cursor_.find(n, sizeof(T), detail::larger(alignof(T), quantum())).fits;
  }

  constexpr void take(const Placement& at, std::size_t n, std::size_t size, std::size_t alignment, Label label) {
    if (n == 0) return;
    if constexpr (!detail::in_device_code) {
      if (!observers_.empty()) {
        const Block block{label.text, at.start, n * size, at.end - at.start, alignment, depth(), serial_};
        observers_.allocate(view(), block);
        ++serial_;
      }
    }
    count_block();
    cursor_.take(at, alignment);
  }

  // Everything handed out since the level `at` was opened is free again.
  template <bool StaysOpen>
  SCRATCHPAD_INLINE constexpr void give_back(const SavePoint& at) {
    if (cursor_.is_slow()) [[unlikely]] {
      give_back_slowly<StaysOpen>(at.depth, at.stamp);
    } else {
      cursor_.template fall_to<false>(save_points_.offset(at));
    }
  }
  // Two numbers and not the handle they are from: a struct would be passed through memory, on every path.
  template <bool StaysOpen>
  SCRATCHPAD_COLD constexpr void give_back_slowly(std::uint32_t depth, std::uint64_t stamp) {
    const std::size_t offset = save_points_.offset({nullptr, stamp, depth});
    if constexpr (!detail::in_device_code) {
      observers_.rewind(view(), {offset, used(), depth, StaysOpen});
    }
    cursor_.template fall_to<true>(offset);
  }

  // A watched pool has a save_limit_ of 0.
  SCRATCHPAD_COLD constexpr void save_slowly() const {
    if (depth() == Space::max_depth) detail::refuse_save(Space::name, Space::max_depth);
    if constexpr (!detail::in_device_code) {
      observers_.save(view(), {used(), used(), depth() + 1, false});
    }
  }

  // ---- observers ----------------------------------------------------------------------------------------------------

  constexpr PoolView view() const {
    return {this, Space::name, cursor_.base(), cursor_.capacity(), quantum(), is_measuring(), Space::host_accessible};
  }

  [[noreturn]] SCRATCHPAD_COLD constexpr void overflow(std::size_t n, std::size_t size, std::size_t alignment,
                                                       Label label) const {
    if constexpr (detail::in_device_code) {
      report(DeviceFailure::overflow, bump::saturating_product(n, size));
      detail::trap();
    } else {
      Overflow o;
      o.space = Space::name;
      o.label = label.text;
      o.elements = n;
      o.element_bytes = size;
      o.bytes = bump::saturating_product(n, size);
      o.reserved = bump::saturating_round_up(o.bytes, quantum());
      o.padding = cursor_.padding(alignment);
      o.used = used();
      o.capacity = cursor_.capacity();
      o.missing = bump::saturating_sum(o.reserved, o.padding) - (o.capacity - o.used);
      o.peak = peak();
      o.depth = depth();
      o.measuring = is_measuring();
      observers_.overflow(view(), o);
      detail::raise<ScratchOverflow>(o);
    }
  }

  // Device code only: nothing is counted, and nothing carried round a loop, where the kernel gave no record.
  constexpr void count_block() {
    if constexpr (detail::in_device_code) {
      if (failure_ != nullptr) ++serial_;
    }
  }

  // Device code only: leaves the one record there may be.
  constexpr void report(DeviceFailure::What what, std::size_t requested) const {
    if (failure_ == nullptr) return;
    *failure_ = {what, static_cast<std::uint32_t>(serial_), requested, used(), cursor_.capacity()};
    detail::publish_to_host();
  }

  Cursor cursor_;
  // Blocks that were handed out while somebody counted: observers, or in device code a failure record.
  std::uint64_t serial_ = 0;
  DeviceFailure* failure_ = nullptr;
  // Space::max_depth, or 0 where watched: every save then leaves the fast path, by the one comparison that is there anyway.
  std::uint32_t save_limit_ = Space::max_depth;
  ObserverChain observers_;
  SavePoints<Space::max_depth> save_points_;
};

static_assert(!std::is_copy_constructible_v<BumpAllocator<HostSpace>> &&
                  !std::is_move_constructible_v<BumpAllocator<HostSpace>>,
              "scopes keep a reference to their pool");

}  // namespace SCRATCHPAD_NAMESPACE
