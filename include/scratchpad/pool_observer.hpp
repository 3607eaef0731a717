// SPDX-License-Identifier: MIT
/// \file
/// PoolObserver: the interface through which a pool is watched. Host only; a pool in device code has no observers.
///
/// A watched pool takes its slow path for every request, so an observer sees everything and an unwatched pool pays
/// nothing. No observer can change an offset, a size or the layout of a class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// The name of a block: a string literal, because it is kept by address for as long as anybody may print it.
struct Label {
  const char* text = "";
  Label() = default;
  template <std::size_t Size>
  consteval Label(const char (&literal)[Size]) : text(literal) {}
};

/// What an observer is told of the pool that an event belongs to.
struct PoolView {
  const void* pool = nullptr;    ///< identity only
  std::string_view space;        ///< name of its memory space
  std::byte* base = nullptr;     ///< not to be dereferenced while measuring
  std::size_t capacity = 0;      ///< bytes
  std::size_t quantum = 0;       ///< bytes
  bool measuring = false;        ///< there is no memory behind base
  bool host_accessible = false;  ///< the host may read and write the bytes
};

/// One allocation. All sizes in bytes, offsets from the pool's base.
struct Block {
  const char* label = "";     ///< "" where it has none
  std::size_t offset = 0;     ///< from the pool's base
  std::size_t bytes = 0;      ///< asked for
  std::size_t reserved = 0;   ///< bytes, rounded up to the quantum
  std::size_t alignment = 0;  ///< the quantum, or what was asked for above it
  std::uint32_t depth = 0;    ///< open save-points
  std::uint64_t serial = 0;   ///< 0, 1, 2, ... over the pool's watched blocks
};

/// A save or a rewind. `offset` is where the save-point stands.
struct SavePointEvent {
  std::size_t offset = 0;       ///< bytes from the pool's base
  std::size_t used_before = 0;  ///< rewind: [offset, used_before) has just been given back
  std::uint32_t depth = 0;      ///< of the save-point; 0 is the empty pool (`reset`)
  bool stays_open = false;      ///< rewind: a `ScratchScope::rewind()` or a reset, not the end of the scope
};

/// A `copy_to`: on-chip write-back, a computation on scratch bytes and never a transfer from outside.
struct CopyEvent {
  const void* destination = nullptr;  ///< address of the first element
  const void* source = nullptr;       ///< address of the first element
  std::size_t elements = 0;           ///< to copy
  std::size_t bytes = 0;              ///< to copy
};

/// Override what you want to see. Nobody deletes an observer through this interface, and an observer outlives its pools.
///
/// A call comes before its effect is visible in the pool, so what throws leaves the pool as it was. To refuse a block, throw
/// from `before_allocate`: no `on_allocate` has been called yet. `on_rewind` and `on_detach` must not throw.
class PoolObserver {
 public:
  /// The pool is empty and begins to be watched.
  virtual void on_attach(const PoolView&) {}
  /// A block is about to be handed out; may refuse it by throwing.
  virtual void before_allocate(const PoolView&, const Block&) {}
  /// A block is handed out: every observer has let it pass.
  virtual void on_allocate(const PoolView&, const Block&) {}
  /// A save-point is opened.
  virtual void on_save(const PoolView&, const SavePointEvent&) {}
  /// Everything above a save-point is given back.
  virtual void on_rewind(const PoolView&, const SavePointEvent&) {}
  /// A `copy_to` is about to move bytes; while measuring it moves none.
  virtual void on_copy(const PoolView&, const CopyEvent&) {}
  /// A request does not fit. May add what it knows (`layout_bytes`, `largest`) before the error leaves.
  virtual void on_overflow(const PoolView&, Overflow&) {}
  /// The pool ends, or is watched no longer; blocks may still be handed out.
  virtual void on_detach(const PoolView&) {}

 protected:
  constexpr PoolObserver() = default;
  PoolObserver(const PoolObserver&) = default;
  PoolObserver& operator=(const PoolObserver&) = default;
  ~PoolObserver() = default;
};

/// The observers of one pool, called in the order in which they came.
class ObserverChain {
  template <class Call>
  constexpr void each(Call call) const {
    for (std::uint32_t i = 0; i < count_; ++i) call(*observers_[i]);
  }

 public:
  static constexpr std::uint32_t max_observers = 4;

  constexpr bool empty() const { return count_ == 0; }
  constexpr bool full() const { return count_ == max_observers; }
  /// \pre !full()
  constexpr void add(PoolObserver* observer) { observers_[count_++] = observer; }
  constexpr void clear() { count_ = 0; }

  /// Nobody is told of a block before everybody has let it pass.
  constexpr void allocate(const PoolView& pool, const Block& block) const {
    each([&](PoolObserver& observer) { observer.before_allocate(pool, block); });
    each([&](PoolObserver& observer) { observer.on_allocate(pool, block); });
  }
  constexpr void save(const PoolView& pool, const SavePointEvent& event) const {
    each([&](PoolObserver& observer) { observer.on_save(pool, event); });
  }
  constexpr void rewind(const PoolView& pool, const SavePointEvent& event) const {
    each([&](PoolObserver& observer) { observer.on_rewind(pool, event); });
  }
  constexpr void copy(const PoolView& pool, const CopyEvent& event) const {
    each([&](PoolObserver& observer) { observer.on_copy(pool, event); });
  }
  constexpr void overflow(const PoolView& pool, Overflow& overflow) const {
    each([&](PoolObserver& observer) { observer.on_overflow(pool, overflow); });
  }
  constexpr void detach(const PoolView& pool) const {
    each([&](PoolObserver& observer) { observer.on_detach(pool); });
  }

 private:
  PoolObserver* observers_[max_observers] = {};
  std::uint32_t count_ = 0;
};

}  // namespace SCRATCHPAD_NAMESPACE
