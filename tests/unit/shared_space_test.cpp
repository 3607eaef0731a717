// SPDX-License-Identifier: MIT
#include <scratchpad/shared_space.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <scratchpad/scratch_scope.hpp>
#include <scratchpad/tensor.hpp>
#include <scratchpad/thread_group.hpp>
#include <scratchpad/workspace_bytes.hpp>

#include "support/catch.hpp"
#include "support/emulated_block.hpp"
#include "support/spaces.hpp"

namespace sp = scratchpad;
using test::EmulatedBlock;
using test::EmulatedGroup;
using Pool = sp::BumpAllocator<sp::SharedSpace>;

namespace {

struct Private : sp::SharedSpace {
  static constexpr bool shared_by_threads = false;
};
struct SharedOfAnotherMaker : sp::HostSpace {
  static constexpr bool shared_by_threads = true;
};

}  // namespace

TEST_CASE("a space is shared by threads only if it says so") {
  STATIC_REQUIRE(sp::shared_by_threads<sp::SharedSpace>);
  STATIC_REQUIRE(sp::shared_by_threads<sp::UncheckedSharedSpace>);
  STATIC_REQUIRE(sp::shared_by_threads<SharedOfAnotherMaker>);
  STATIC_REQUIRE(!sp::shared_by_threads<sp::HostSpace>);
  STATIC_REQUIRE(!sp::shared_by_threads<test::Tcm>);
  STATIC_REQUIRE(!sp::shared_by_threads<Private>);
}

TEST_CASE("nobody watches a pool in shared memory unless told to") {
  // In a checked build the default observer of ordinary memory would fill it with 0xFF.
  alignas(16) std::byte memory[64] = {};
  Pool pool(memory);
  {
    const sp::ScratchScope scope(pool, sp::NoFence{});
    (void)pool.allocate<int>(4);
  }
  CHECK(std::all_of(memory, memory + 64, [](std::byte b) { return b == std::byte{0}; }));
}

TEST_CASE("a pool in shared memory holds eight save-points") {
  alignas(16) std::byte memory[64];
  Pool pool(memory);
  for (int i = 0; i < 8; ++i) (void)pool.save();
  CHECK_THROWS_AS(pool.save(), sp::ApiMisuse);
}

TEST_CASE("an unchecked shared space serves a layout of the measured size, and no overflow is found") {
  using Unchecked = sp::BumpAllocator<sp::UncheckedSharedSpace>;
  const auto layout = [](auto& pool) {
    auto a = sp::tensor<int>(pool, "a", 5);  // 20 bytes, rounded up to 32
    const sp::ScratchScope scope(pool, sp::NoFence{});
    auto b = sp::tensor<int>(pool, "b", 9);  // 36 bytes, rounded up to 48
    a(4) = 1;
    b(8) = 2;
  };
  const auto size = [](auto& pool) {
    (void)sp::tensor<int>(pool, "a", 5);
    const sp::ScratchScope scope(pool, sp::NoFence{});
    (void)sp::tensor<int>(pool, "b", 9);
  };
  CHECK(sp::workspace_bytes<Unchecked>(size) == 80);
  CHECK(sp::workspace_bytes<Pool>(size) == 80);
  alignas(16) std::byte memory[96] = {};
  Unchecked unchecked(memory, 80);
  layout(unchecked);
  CHECK(unchecked.used() == 32);
  // One quantum less: the checked pool says so, the unchecked one hands the bytes out.
  Pool checked(memory, 64);
  CHECK_THROWS_AS(layout(checked), sp::ScratchOverflow);
  Unchecked too_small(memory, 64);
  CHECK(too_small.allocate<std::byte>(80).size() == 80);
}

TEST_CASE("every thread of a block computes the same offsets from a pool of its own") {
  EmulatedBlock block(4, 256);
  std::vector<std::ptrdiff_t> offsets(4);
  block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
    Pool pool(shared);
    (void)sp::tensor<float>(pool, "a", 5);  // 32 bytes
    const sp::ScratchScope scope(pool, sp::group_fence(group));
    (void)sp::tensor<float>(pool, "b", 1);  // 16 bytes
    const auto c = sp::tensor<float>(pool, "c", 4);
    offsets[group.thread_rank()] = reinterpret_cast<std::byte*>(c.data()) - shared.data();
  });
  CHECK(offsets == std::vector<std::ptrdiff_t>{48, 48, 48, 48});
}

TEST_CASE("threads carve pools of their own from the block's, and scopes in these need no fence") {
  using Own = sp::BumpAllocator<Private>;
  struct OtherPrivate : Private {};
  using OtherOwn = sp::BumpAllocator<OtherPrivate>;
  constexpr std::size_t threads = 4;
  constexpr std::size_t own_bytes = 48;
  constexpr std::size_t other_bytes = 16;
  EmulatedBlock block(threads, 16 + threads * (own_bytes + other_bytes));
  std::vector<int> sums(threads);
  block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
    const std::size_t r = group.thread_rank();
    Pool pool(shared);
    const auto together = sp::tensor<int>(pool, "together", threads);
    const auto all = pool.allocate<std::byte>(threads * own_bytes, "own");
    const auto others = pool.allocate<std::byte>(threads * other_bytes, "other");
    Own own(all.subspan(r * own_bytes, own_bytes));
    OtherOwn other(others.subspan(r * other_bytes, other_bytes));
    const auto total = sp::tensor<int>(other, "total", 1);
    total(0) = 0;
    // A different number of scopes in each thread: nobody waits for anybody.
    for (std::size_t i = 0; i <= r; ++i) {
      const sp::ScratchScope scope(own);
      const auto x = sp::tensor<int>(own, "x", 12);
      std::fill_n(x.data(), 12, static_cast<int>(r + 1));
      for (int value : x.span()) total(0) += value;
    }
    together(r) = total(0);
    group.sync();
    int sum = 0;
    for (int value : together.span()) sum += value;
    sums[r] = sum;
  });
  CHECK(!block.any_error());
  // Thread r adds up r + 1 twelve times, r + 1 times: 12 (1 + 4 + 9 + 16).
  CHECK(sums == std::vector<int>{360, 360, 360, 360});
}
