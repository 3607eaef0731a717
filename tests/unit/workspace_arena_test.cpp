// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/workspace/workspace_arena.hpp>
#include <scratchpad/workspace_bytes.hpp>
#include <support/catch.hpp>
#include <support/lease_reports.hpp>
#include <support/limited_upstream.hpp>
#include <support/mock_queue.hpp>
#include <support/thrown.hpp>

namespace sp = scratchpad;
using Arena = sp::WorkspaceArena<mock::Queue>;
using Sizes = std::vector<std::size_t>;

TEST_CASE("a new block has the largest of the request, twice the last one and 64 KiB") {
  mock::Queue queue(mock::Order::in_order);
  LimitedUpstream upstream;
  Arena arena(queue, &upstream);
  auto a = arena.lease(1);
  auto b = arena.lease(65'520);  // fills the first block to its last byte: 16 + 65,520 = 65,536
  CHECK(upstream.asked == Sizes{65'536});
  auto c = arena.lease(1);
  CHECK(upstream.asked == Sizes{65'536, 131'072});
  auto d = arena.lease(300'001);
  CHECK(upstream.asked == Sizes{65'536, 131'072, 300'016});
  auto e = arena.lease(16);
  CHECK(upstream.asked == Sizes{65'536, 131'072, 300'016, 600'032});
  CHECK(arena.statistics().capacity == 65'536 + 131'072 + 300'016 + 600'032);
  CHECK(arena.statistics().blocks == 4);
  CHECK(arena.statistics().used == 16 + 65'520 + 16 + 300'016 + 16);
}

TEST_CASE("a new block has just the request if the upstream refuses more") {
  mock::Queue queue(mock::Order::in_order);
  LimitedUpstream upstream(1000);
  Arena arena(queue, &upstream);
  auto a = arena.lease(500);
  CHECK(upstream.asked == Sizes{65'536, 512});
  auto b = arena.lease(900);
  CHECK(upstream.asked == Sizes{65'536, 512, 65'536, 912});
  CHECK(arena.statistics().refused == 0);
}

TEST_CASE("what cannot be had is refused, and nothing changes") {
  mock::Queue queue(mock::Order::in_order);
  LimitedUpstream upstream(100'000);
  Arena arena(queue, &upstream);
  auto a = arena.lease(500);
  std::memset(a.data(), 7, 500);
  std::byte* const next = a.data() + 512;

  SECTION("more than the upstream has") {
    const std::string text = test::text_of<sp::ScratchOverflow>([&] { static_cast<void>(arena.lease(100'001, "Z")); });
    // 100,001 rounded up is 100,016; 65,024 of the block are free, so 34,992 are missing.
    CHECK(test::missing_from(text, {"Z", "100001", "100016", "512", "65536", "34992", "workspace arena"}) == "");
    CHECK_THROWS_AS(arena.lease(100'001), std::bad_alloc);
    CHECK(arena.statistics().refused == 2);
  }
  SECTION("more than there can be") {
    upstream.largest = std::numeric_limits<std::size_t>::max();
    const std::size_t asked = upstream.asked.size();
    const std::size_t most = std::numeric_limits<std::size_t>::max();
    for (const std::size_t bytes : {most, most - 14, most - 15, most / 2 + 1}) {
      CHECK_THROWS_AS(arena.lease(bytes), sp::ScratchOverflow);
      CHECK_THROWS_AS(arena.lease(bytes, sp::align(4096)), sp::ScratchOverflow);
    }
    CHECK(upstream.asked.size() == asked);
    CHECK(arena.statistics().refused == 8);
  }
  SECTION("an alignment that is no power of two") {
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{24}, (std::size_t{1} << 63) + 1}) {
      CHECK_THROWS_AS(arena.lease(16, sp::align(alignment)), sp::ApiMisuse);
    }
    CHECK(arena.statistics().refused == 0);
  }
  CHECK(arena.statistics().live == 1);
  CHECK(arena.statistics().used == 512);
  CHECK(arena.statistics().peak == 512);
  CHECK(arena.statistics().capacity == 65'536);
  CHECK(upstream.held == 65'536);
  auto b = arena.lease(16);
  CHECK(b.data() == next);
  for (int i = 0; i < 500; ++i) REQUIRE(a.data()[i] == std::byte{7});
}

TEST_CASE("a lease that a block's tail has no room for gets a second block and its own padding", "[case-07]") {
  mock::Queue queue(mock::Order::in_order);
  LimitedUpstream upstream(64);
  Arena arena(queue, &upstream);
  auto whole = arena.lease(32);  // the upstream refuses 64 KiB: a block of 32
  whole.replace(16);             // 16 of 32 used
  auto aligned = arena.lease(64, sp::align(64));
  CHECK(upstream.asked == Sizes{65'536, 32, 65'536, 64});
  CHECK(test::is_aligned(aligned.data(), 64));
  std::memset(aligned.data(), 1, 64);
  CHECK(arena.statistics().used == 16 + 64);
}

TEST_CASE("an over-aligned lease takes its padding from the block it lies in, and gives it back") {
  mock::Queue queue(mock::Order::in_order);
  LimitedUpstream upstream;
  Arena arena(queue, &upstream);
  auto first = arena.lease(16, sp::align(4096));  // the block itself is aligned
  std::byte* const base = first.data();
  auto second = arena.lease(100, sp::align(1024));
  CHECK(second.data() == base + 1024);
  CHECK(arena.statistics().used == 1024 + 112);
  second.release();
  CHECK(arena.statistics().used == 16);
  auto third = arena.lease(1, sp::align(2));  // lifted to the quantum
  CHECK(third.data() == base + 16);
}

TEST_CASE("a lease that skipped a block's tail gives the tail back", "[case-28]") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  auto first = arena.lease(16);
  std::byte* const tail = first.data() + 16;
  {
    auto large = arena.lease(65'536);
    CHECK(arena.statistics().blocks == 2);
    auto behind = arena.lease(16);
    CHECK(behind.data() == large.data() + 65'536);
  }
  auto small = arena.lease(16);
  CHECK(small.data() == tail);
  CHECK(arena.statistics().blocks == 2);
}

TEST_CASE("growth moves nothing that is lent", "[case-32]") {
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue);
  std::vector<sp::WorkspaceLease> leases;
  std::vector<std::byte*> addresses;
  for (std::size_t i = 0; i < 1000; ++i) {
    leases.push_back(arena.lease(16 * (i % 50) + 1));
    addresses.push_back(leases.back().data());
    std::memset(leases.back().data(), static_cast<int>(i % 251), leases.back().size());
  }
  CHECK(arena.statistics().blocks > 1);
  for (std::size_t i = 0; i < 1000; ++i) {
    REQUIRE(leases[i].data() == addresses[i]);
    const auto is_its_own = [i](std::byte byte) { return byte == static_cast<std::byte>(i % 251); };
    REQUIRE(std::all_of(leases[i].data(), leases[i].data() + leases[i].size(), is_its_own));
  }
  while (!leases.empty()) leases.pop_back();
  CHECK(arena.statistics().used == 0);
}

TEST_CASE("when nothing is lent, growth puts one block of the peak in the place of all") {
  mock::Queue queue(mock::Order::out_of_order);
  LimitedUpstream upstream;
  Arena arena(queue, &upstream);
  {
    auto a = arena.lease(60'000);
    auto b = arena.lease(100'000);
    auto c = arena.lease(200'000);
  }
  CHECK(upstream.asked == Sizes{65'536, 131'072, 262'144});
  CHECK(arena.statistics().peak == 360'000);
  SECTION("of the peak") {
    auto a = arena.lease(300'000);
    CHECK(upstream.asked == Sizes{65'536, 131'072, 262'144, 360'000});
    CHECK(arena.statistics().capacity == 360'000);
    CHECK(arena.statistics().blocks == 1);
    CHECK(upstream.held == 360'000);
    auto b = arena.lease(60'000);
    CHECK(arena.statistics().blocks == 1);  // it holds what the three held
  }
  SECTION("of the request, if that is more") {
    auto a = arena.lease(400'000);
    CHECK(arena.statistics().capacity == 400'000);
    CHECK(upstream.held == 400'000);
  }
  SECTION("of the request, if the upstream refuses the peak") {
    upstream.largest = 300'000;
    auto a = arena.lease(280'000);
    CHECK(arena.statistics().capacity == 280'000);
    CHECK(upstream.held == 280'000);
  }
  SECTION("or none, and then the old ones stay") {
    upstream.largest = 1000;
    CHECK_THROWS_AS(arena.lease(280'000), sp::ScratchOverflow);
    CHECK(arena.statistics().capacity == 65'536 + 131'072 + 262'144);
    auto a = arena.lease(262'144);
    CHECK(a.size() == 262'144);
  }
}

TEST_CASE("growth under a live lease, also a stranded or pending one, merges nothing") {
  mock::Queue queue(mock::Order::out_of_order);
  LimitedUpstream upstream;
  Arena arena(queue, &upstream, false);
  auto a = arena.lease(65'536);
  SECTION("live") {
    auto b = arena.lease(65'536);
    CHECK(arena.statistics().blocks == 2);
    CHECK(upstream.returned == 0);
  }
  SECTION("pending") {
    a.release_after(queue.submit("k", {[] {}}));
    auto b = arena.lease(65'536);
    CHECK(arena.statistics().blocks == 2);
    CHECK(upstream.returned == 0);
  }
}

TEST_CASE("reserve has the memory there before it is needed") {
  mock::Queue queue(mock::Order::in_order);
  LimitedUpstream upstream;
  Arena arena(queue, &upstream);
  arena.reserve(0);
  CHECK(upstream.given == 0);
  arena.reserve(1'000'000, "all of it");
  CHECK(arena.statistics().capacity == 1'000'000);
  CHECK(arena.statistics().used == 0);
  {
    auto a = arena.lease(600'000);
    auto b = arena.lease(400'000);
    CHECK(upstream.given == 1);
    arena.reserve(100);
    CHECK(upstream.given == 2);
    auto c = arena.lease(100);
    CHECK(upstream.given == 2);
  }
  arena.reserve(1'000'000);
  CHECK(upstream.given == 2);
}

TEST_CASE("a frozen arena refuses to grow and names who asked") {
  mock::Queue queue(mock::Order::in_order);
  LimitedUpstream upstream;
  Arena arena(queue, &upstream);
  arena.reserve(100'000);
  arena.freeze();
  CHECK(arena.is_frozen());
  std::byte* address = nullptr;
  for (int i = 0; i < 3; ++i) {
    auto a = arena.lease(60'000);
    auto b = arena.lease(40'000, "B");
    if (address == nullptr) address = b.data();
    CHECK(b.data() == address);
    const std::string text =
        test::text_of<sp::ScratchOverflow>([&] { static_cast<void>(arena.lease(100, "Q of ortho")); });
    CHECK(test::missing_from(
              text, {"frozen", "Q of ortho", "100 bytes", "112 rounded", "100000 of 100000", "112 are missing"}) == "");
  }
  CHECK_THROWS_AS(arena.reserve(100'001), sp::ScratchOverflow);  // not a merge either, although nothing is lent
  CHECK(upstream.given == 1);
  CHECK(arena.statistics().refused == 4);
}

TEST_CASE("the arena's quantum is what the queue's device asks for") {
  struct WideQueue {
    std::size_t alignment;
    bool is_in_order() const { return true; }
    void wait() {}
    std::size_t device_alignment() const { return alignment; }
  };
  WideQueue queue{128};
  sp::WorkspaceArena arena(queue);
  CHECK(arena.quantum() == 128);
  CHECK(&arena.queue() == &queue);
  auto a = arena.lease(1);
  auto b = arena.lease(1);
  CHECK(test::is_aligned(a.data(), 128));
  CHECK(b.data() == a.data() + 128);
  CHECK(arena.statistics().used == 256);

  WideQueue narrow{4};
  CHECK(sp::WorkspaceArena(narrow).quantum() == 16);
  WideQueue odd{48};
  CHECK_THROWS_AS(sp::WorkspaceArena(odd), sp::ApiMisuse);
}

TEST_CASE("an arena refuses an upstream that is none, or that does not align") {
  class Crooked : public std::pmr::memory_resource {
   public:
    std::size_t held = 0;

   private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
      ++held;
      return static_cast<std::byte*>(std::pmr::new_delete_resource()->allocate(bytes + 8, alignment)) + 8;
    }
    void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
      --held;
      std::pmr::new_delete_resource()->deallocate(static_cast<std::byte*>(data) - 8, bytes + 8, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
  };
  mock::Queue queue(mock::Order::in_order);
  CHECK_THROWS_AS(Arena(queue, nullptr), sp::ApiMisuse);
  Crooked crooked;
  Arena arena(queue, &crooked);
  CHECK_THROWS_AS(arena.lease(64), sp::ApiMisuse);
  CHECK(crooked.held == 0);
  CHECK(arena.statistics().blocks == 0);
}

TEST_CASE("the figures of an arena are those of its leases") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue, std::pmr::get_default_resource(), false);
  auto a = arena.lease(100);  // 112
  auto b = arena.lease(30);   // 32
  auto c = arena.lease(16);   // 16
  auto d = arena.lease(1);    // 16
  b.release();
  c.release_after(queue.submit("k", {[] {}}));
  const sp::WorkspaceStatistics now = arena.statistics();
  CHECK(now.live == 2);
  CHECK(now.used == 176);
  CHECK(now.stranded == 32);
  CHECK(now.pending == 16);
  CHECK(now.quarantined == 0);
  CHECK(now.capacity == 65'536);
  CHECK(now.peak == 176);
  CHECK(now.blocks == 1);
  CHECK(now.drains == 0);
  CHECK(now.refused == 0);
  d.release();
  CHECK(arena.statistics().drains == 1);
  CHECK(arena.statistics().used == 112);
  CHECK(arena.statistics().peak == 176);
}
