// SPDX-License-Identifier: MIT
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/scratch_scope.hpp>
#include <scratchpad/workspace/workspace_arena.hpp>
#include <support/catch.hpp>
#include <support/mock_queue.hpp>
#include <support/thrown.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;
using Arena = sp::WorkspaceArena<mock::Queue>;

TEST_CASE("one queue, arena and pool per thread need no lock", "[case-41]") {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &right] {
      mock::Queue queue(mock::Order::out_of_order);
      Arena arena(queue);
      bool mine = true;
      for (int i = 0; i < 1000; ++i) {
        auto lease = arena.lease(1024);
        Pool pool(lease);
        sp::ScratchScope scope(pool);
        const auto block = pool.allocate<int>(64);
        for (int& x : block) x = t;
        for (const int x : block) mine = mine && x == t;
      }
      right += mine ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 4);
}

TEST_CASE("an arena that checks refuses another thread", "[case-41]") {
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue, std::pmr::get_default_resource(), true);
  auto lease = arena.lease(64);
  std::string texts[3];
  std::thread([&] {
    texts[0] = test::text_of<sp::ApiMisuse>([&] { static_cast<void>(arena.lease(64)); });
    texts[1] = test::text_of<sp::ApiMisuse>([&] { arena.reserve(64); });
    texts[2] = test::text_of<sp::ApiMisuse>([&] { lease.replace(128); });
  }).join();
  CHECK(test::missing_from(texts[0], {"lease", "another thread"}) == "");
  CHECK(test::missing_from(texts[1], {"reserve", "another thread"}) == "");
  CHECK(test::missing_from(texts[2], {"replace", "another thread"}) == "");
  CHECK(lease.size() == 64);
  CHECK(arena.statistics().live == 1);
}

TEST_CASE("an arena that does not check may be handed to another thread") {
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue, std::pmr::get_default_resource(), false);
  std::size_t bytes = 0;
  std::thread([&] { bytes = arena.lease(64).size(); }).join();
  CHECK(bytes == 64);
}
