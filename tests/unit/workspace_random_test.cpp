// SPDX-License-Identifier: MIT
// Random programs of leases, on queues that run as late and in as bad an order as they may.
#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include <scratchpad/workspace/workspace_arena.hpp>
#include <support/catch.hpp>
#include <support/limited_upstream.hpp>
#include <support/mock_queue.hpp>

namespace sp = scratchpad;
using Arena = sp::WorkspaceArena<mock::Queue>;

namespace {

class Program {
 public:
  Program(mock::Order order, unsigned seed) : queue_(order), arena_(queue_, &upstream_, false), bits_(seed) {
    upstream_.on_return = [this] { all_idle_ = all_idle_ && queue_.is_idle(); };
  }

  void run(int operations) {
    for (int i = 0; i < operations; ++i) {
      step();
      overlaps_ += count_overlaps();
    }
    while (!leases_.empty()) {
      pick();
      leases_.pop_back();
    }
    queue_.run();
    static_cast<void>(arena_.lease(16));  // looks at the events
  }

  // Kernels that found other bytes than the ones written for them.
  std::size_t wrong() const { return wrong_; }
  std::size_t overlaps() const { return overlaps_; }
  bool is_clean() const { return arena_.statistics().used == 0 && arena_.statistics().live == 0; }
  // Whether memory went back only while the queue was idle.
  bool all_idle() const { return all_idle_; }
  std::size_t kernels() const { return kernels_; }

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(bits_); }

  struct Item {
    sp::WorkspaceLease lease;
    mock::Event event;  // of the one kernel that uses it
  };

  // Brings a random lease to the end.
  Item& pick() {
    std::swap(leases_[below(leases_.size())], leases_.back());
    return leases_.back();
  }

  // Work on a lease: writes a number into every byte, and a step later looks whether it is still there.
  mock::Event work_on(const sp::WorkspaceLease& lease) {
    std::byte* const data = lease.data();
    const std::size_t size = lease.size();
    const auto value = static_cast<std::byte>(++kernels_ % 251);
    const auto is_there = [=](std::byte b) { return b == value; };
    return queue_.submit("k", {[=] { std::fill(data, data + size, value); },
                               [=, this] { wrong_ += std::all_of(data, data + size, is_there) ? 0U : 1U; }});
  }

  void step() {
    const std::size_t bytes = below(10) == 0 ? below(100'000) : below(3'000);
    const sp::Alignment alignment = sp::align(std::size_t{1} << below(11));
    const std::size_t choice = leases_.empty() ? 0 : below(10);
    if (choice < 3) {
      auto lease = arena_.lease(bytes, alignment);
      const mock::Event event = work_on(lease);
      leases_.push_back({std::move(lease), event});
    } else if (choice < 5) {
      pick();
      leases_.pop_back();
    } else if (choice < 7) {
      Item& item = pick();
      if (choice == 5) {
        item.lease = arena_.lease(bytes, alignment);
      } else {
        item.lease.replace(bytes, alignment);
      }
      item.event = work_on(item.lease);
    } else if (choice < 9) {
      Item& item = pick();
      item.lease.release_after(item.event);
      leases_.pop_back();
    } else {
      queue_.run();
    }
  }

  std::size_t count_overlaps() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < leases_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const sp::WorkspaceLease& a = leases_[i].lease;
        const sp::WorkspaceLease& b = leases_[j].lease;
        count += !a.empty() && !b.empty() && a.data() < b.data() + b.size() && b.data() < a.data() + a.size() ? 1U : 0U;
      }
    }
    return count;
  }

  std::size_t wrong_ = 0;
  std::size_t overlaps_ = 0;
  std::size_t kernels_ = 0;
  bool all_idle_ = true;
  LimitedUpstream upstream_;
  mock::Queue queue_;
  Arena arena_;
  std::mt19937 bits_;
  std::vector<Item> leases_;
};

}  // namespace

TEST_CASE("random leases never share bytes with a live one or with work that still runs") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Program program(seed % 2 == 0 ? mock::Order::in_order : mock::Order::out_of_order, seed);
    program.run(200);
    CAPTURE(seed);
    REQUIRE(program.kernels() > 50);
    REQUIRE(program.wrong() == 0);
    REQUIRE(program.overlaps() == 0);
    REQUIRE(program.is_clean());
    REQUIRE(program.all_idle());
  }
}

TEST_CASE("random leases go wrong on a queue that lies about its order") {
  std::size_t wrong = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Program program(mock::Order::lies, seed);
    program.run(200);
    wrong += program.wrong() != 0 ? 1U : 0U;
  }
  CHECK(wrong == 20);
}
