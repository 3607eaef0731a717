// SPDX-License-Identifier: MIT
/// \file
/// Poison: free bytes are filled with 0xFF.
#pragma once

#include <cstring>

#include <scratchpad/config.hpp>
#include <scratchpad/pool_observer.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Fills the free bytes of a pool with 0xFF, when it is attached and at every rewind. Every IEEE format, bf16 and the
/// 8-bit ones included, reads all ones as NaN, and a NaN reaches the output: a use after the end of a scope or before
/// the first write shows in the result instead of looking plausible.
///
/// It has no state; one serves any number of pools on any number of threads. It leaves measuring pools and memory that
/// the host cannot reach alone. Attaching it overwrites what the pool's memory held.
class Poison final : public PoolObserver {
 public:
  static constexpr int byte = 0xFF;

  constexpr Poison() = default;
  void on_attach(const PoolView& pool) override { fill(pool, 0, pool.capacity); }
  void on_rewind(const PoolView& pool, const SavePointEvent& event) override {
    fill(pool, event.offset, event.used_before);
  }

 private:
  static void fill(const PoolView& pool, std::size_t from, std::size_t to) {
    if (pool.measuring || !pool.host_accessible || from == to) return;
    std::memset(pool.base + from, byte, to - from);
  }
};

}  // namespace SCRATCHPAD_NAMESPACE
