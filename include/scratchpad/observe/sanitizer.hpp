// SPDX-License-Identifier: MIT
/// \file
/// Sanitizer: tells AddressSanitizer, MemorySanitizer or Valgrind's Memcheck which bytes of a pool may be used.
#pragma once

#include <cstddef>

#include <scratchpad/config.hpp>
#include <scratchpad/pool_observer.hpp>

#if SCRATCHPAD_ASAN
#include <sanitizer/asan_interface.h>
#endif
#if SCRATCHPAD_MSAN
#include <sanitizer/msan_interface.h>
#endif
#if SCRATCHPAD_VALGRIND
#include <valgrind/memcheck.h>
#endif

namespace SCRATCHPAD_NAMESPACE {
inline namespace SCRATCHPAD_WATCHED_BY {

/// While it watches a pool:
///
/// | bytes | AddressSanitizer | MemorySanitizer | Memcheck |
/// |---|---|---|---|
/// | free: never handed out, or rewound; and the padding behind a block | not addressable | undefined | not addressable |
/// | handed out | addressable, exactly | undefined until written | addressable, undefined until written |
/// | after the pool's end | addressable | defined | defined |
///
/// AddressSanitizer keeps one mark for 8 bytes, so with a quantum below 8 the padding behind a block is caught only up to
/// the next multiple of 8. In a build without any of the three it does nothing. It has no state; one serves any number of
/// pools on any number of threads. It leaves measuring pools and memory that the host cannot reach alone.
class Sanitizer final : public PoolObserver {
 public:
  constexpr Sanitizer() = default;

  void on_attach(const PoolView& pool) override {
    if (watches(pool)) forbid(pool.base, pool.capacity);
  }
  void on_allocate(const PoolView& pool, const Block& block) override {
    if (watches(pool)) hand_out(pool.base + block.offset, block.bytes);
  }
  void on_rewind(const PoolView& pool, const SavePointEvent& event) override {
    if (watches(pool)) forbid(pool.base + event.offset, event.used_before - event.offset);
  }
  void on_detach(const PoolView& pool) override {
    if (watches(pool)) release(pool.base, pool.capacity);
  }

 private:
  static bool watches(const PoolView& pool) { return !pool.measuring && pool.host_accessible; }

  static void forbid([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t bytes) {
#if SCRATCHPAD_ASAN
    __asan_poison_memory_region(data, bytes);
#endif
#if SCRATCHPAD_MSAN
    __msan_poison(data, bytes);
#endif
#if SCRATCHPAD_VALGRIND
    (void)VALGRIND_MAKE_MEM_NOACCESS(data, bytes);
#endif
  }

  static void hand_out([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t bytes) {
#if SCRATCHPAD_ASAN
    __asan_unpoison_memory_region(data, bytes);
#endif
#if SCRATCHPAD_MSAN
    __msan_poison(data, bytes);
#endif
#if SCRATCHPAD_VALGRIND
    (void)VALGRIND_MAKE_MEM_UNDEFINED(data, bytes);
#endif
  }

  static void release([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t bytes) {
#if SCRATCHPAD_ASAN
    __asan_unpoison_memory_region(data, bytes);
#endif
#if SCRATCHPAD_MSAN
    __msan_unpoison(data, bytes);
#endif
#if SCRATCHPAD_VALGRIND
    (void)VALGRIND_MAKE_MEM_DEFINED(data, bytes);
#endif
  }
};

}  // namespace SCRATCHPAD_WATCHED_BY
}  // namespace SCRATCHPAD_NAMESPACE
