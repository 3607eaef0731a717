// SPDX-License-Identifier: MIT
// When a release waits, and what it waits for. docs/leases.md names these tests.
#include <array>
#include <cstddef>
#include <exception>
#include <memory_resource>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <scratchpad/workspace/workspace_arena.hpp>
#include <support/catch.hpp>
#include <support/lease_reports.hpp>
#include <support/limited_upstream.hpp>
#include <support/mock_queue.hpp>
#include <support/thrown.hpp>

namespace sp = scratchpad;
using Arena = sp::WorkspaceArena<mock::Queue>;
using Log = std::vector<std::string>;

namespace {

// Ten kernels, one after another, on the same leased bytes: each writes its number there and a step later reads it back.
struct Rounds {
  int right = 0;
  std::size_t waits = 0;
  bool same_bytes = true;
  std::array<int, 10> out{};
};
Rounds ten_rounds(mock::Order order) {
  Rounds rounds;
  mock::Queue queue(order);
  Arena arena(queue);
  std::byte* first = nullptr;
  for (std::size_t i = 0; i < rounds.out.size(); ++i) {
    auto lease = arena.lease(sizeof(int));
    if (first == nullptr) first = lease.data();
    rounds.same_bytes = rounds.same_bytes && lease.data() == first;
    int* const scratch = reinterpret_cast<int*>(lease.data());
    int& out = rounds.out[i];
    queue.submit("k", {[=] { *scratch = static_cast<int>(i); }, [=, &out] { out = *scratch; }});
  }
  queue.run();
  rounds.waits = queue.waits;
  for (std::size_t i = 0; i < rounds.out.size(); ++i) rounds.right += rounds.out[i] == static_cast<int>(i) ? 1 : 0;
  return rounds;
}

}  // namespace

TEST_CASE("a release that hands bytes back waits on an out-of-order queue", "[case-37]") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  for (const char* name : {"k", "l"}) {
    auto lease = arena.lease(64);
    queue.log.emplace_back("lease");
    queue.submit(name, {[] {}});
  }
  CHECK(queue.log == Log{"lease", "submit k", "wait", "done k", "lease", "submit l", "wait", "done l"});
}

TEST_CASE("a release never waits on an in-order queue") {
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue);
  auto outer = arena.lease(64);
  for (int i = 0; i < 5; ++i) {
    auto lease = arena.lease(64);
    queue.submit("k", {[] {}});
  }
  outer.release();
  CHECK(queue.waits == 0);
  CHECK(arena.statistics().used == 0);
}

TEST_CASE("a release that hands nothing back does not wait") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue, std::pmr::get_default_resource(), false);
  auto a = arena.lease(64);
  auto b = arena.lease(64);
  auto c = arena.lease(64);
  auto nothing = arena.lease(0);
  queue.submit("k", {[] {}});
  a.release();
  b.release();
  nothing.release();
  b.release();
  CHECK(queue.waits == 0);
  CHECK_FALSE(queue.is_idle());
  c.release();
  CHECK(queue.waits == 1);
}

TEST_CASE("three scoped uses of the same bytes wait once each, and the results are those of an in-order queue",
          "[case-39]") {
  std::array<std::array<int, 3>, 2> results{};
  std::size_t waits[2] = {};
  for (const std::size_t k : {0U, 1U}) {
    mock::Queue queue(k == 0 ? mock::Order::in_order : mock::Order::out_of_order);
    Arena arena(queue, std::pmr::get_default_resource(), false);
    auto kept = arena.lease(16);
    for (std::size_t i = 0; i < 3; ++i) {
      auto early = arena.lease(32);
      auto inner = arena.lease(64);
      int* const scratch = reinterpret_cast<int*>(inner.data());
      int& out = results[k][i];
      queue.submit("k", {[=] { *scratch = static_cast<int>(10 + i); }, [=, &out] { out = *scratch; }});
      early.release();  // below the inner one: hands nothing back
      inner.release();  // the innermost: hands both back
    }
    waits[k] = queue.waits;
    CHECK(arena.statistics().used == 16);
  }
  CHECK(waits[0] == 0);
  CHECK(waits[1] == 3);
  CHECK(results[1] == std::array<int, 3>{10, 11, 12});
  CHECK(results[0] == results[1]);
}

TEST_CASE("work on leased bytes is right on every queue, and wrong every time on one that lies about its order") {
  const Rounds in_order = ten_rounds(mock::Order::in_order);
  CHECK(in_order.right == 10);
  CHECK(in_order.waits == 0);
  CHECK(in_order.same_bytes);
  const Rounds out_of_order = ten_rounds(mock::Order::out_of_order);
  CHECK(out_of_order.right == 10);
  CHECK(out_of_order.waits == 10);
  CHECK(out_of_order.same_bytes);
  // Nothing waits, so all ten write before the first reads, the oldest one last: all read its 0.
  const Rounds lies = ten_rounds(mock::Order::lies);
  CHECK(lies.right == 1);
  CHECK(lies.waits == 0);
  CHECK(lies.out == std::array<int, 10>{});
}

TEST_CASE("memory goes back to the upstream only when no work can read it, whatever the queue's order") {
  const auto order = GENERATE(mock::Order::in_order, mock::Order::out_of_order);
  mock::Queue queue(order);
  LimitedUpstream upstream;
  bool idle = true;
  upstream.on_return = [&] { idle = idle && queue.is_idle(); };
  {
    Arena arena(queue, &upstream);
    {
      auto a = arena.lease(100);
      queue.submit("k", {[] {}});
    }
    {
      auto merged = arena.lease(100'000);
      CHECK(upstream.returned == 1);
      CHECK(queue.is_idle());
      CHECK(queue.waits == 1);
      queue.submit("l", {[] {}});
    }
    // The out-of-order queue was waited for by each release, the in-order one before the merge only.
    CHECK(queue.waits == (order == mock::Order::in_order ? 1 : 2));
  }
  CHECK(upstream.returned == 2);
  CHECK(upstream.held == 0);
  CHECK(idle);
  CHECK(queue.waits == 2);  // the in-order one once more at the end, the other was known to be idle
}

TEST_CASE("an arena that lent nothing waits for nothing") {
  mock::Queue queue(mock::Order::in_order);
  {
    Arena arena(queue);
    arena.reserve(1000);
    auto nothing = arena.lease(0);
  }
  CHECK(queue.waits == 0);
}

// ---- release_after ------------------------------------------------------------------------------------------------------

TEST_CASE("release_after hands bytes back once the event is complete, and never waits") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  auto lease = arena.lease(64);
  std::byte* const base = lease.data();
  lease.release_after(queue.submit("k", {[] {}}));
  CHECK(lease.empty());
  CHECK(arena.statistics().live == 0);
  CHECK(arena.statistics().pending == 64);
  CHECK(arena.stranded_bytes() == 0);
  {
    auto other = arena.lease(16);
    CHECK(other.data() == base + 64);  // the event is not complete
    CHECK(arena.statistics().pending == 64);
    CHECK(queue.waits == 0);
    other.release_after(queue.submit("l", {[] {}}));
  }
  queue.run();  // of its own accord
  auto again = arena.lease(64);
  CHECK(again.data() == base);
  CHECK(arena.statistics().pending == 0);
  CHECK(queue.waits == 0);
  CHECK(queue.event_waits == 0);
  again.release_after(queue.submit("m", {[] {}}));
  queue.run();
}

TEST_CASE("an event is also looked at by the next release") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  auto below = arena.lease(32);
  auto lease = arena.lease(64);
  lease.release_after(queue.submit("k", {[] {}}));
  SECTION("complete: the release hands back both, and waits for its own bytes") {
    queue.run();
    below.release();
    CHECK(queue.waits == 1);
    CHECK(arena.statistics().used == 0);
  }
  SECTION("not complete: the release hands nothing back, and does not wait") {
    below.release();
    CHECK(queue.waits == 0);
    CHECK(arena.statistics().used == 96);
    CHECK(arena.statistics().stranded == 32);
    queue.run();
    auto next = arena.lease(16);
    CHECK(arena.statistics().used == 16);
    CHECK(queue.waits == 1);  // the one that the release of `below` has owed since
  }
}

TEST_CASE("bytes under a pending release are not out of order") {
  LeaseReports reports;
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue, std::pmr::get_default_resource(), true);
  auto a = arena.lease(32);
  auto b = arena.lease(32);
  b.release_after(queue.submit("k", {[] {}}));
  a.release();
  CHECK(reports.size() == 0);
  auto c = arena.lease(32);
  auto d = arena.lease(32);
  c.release_after(queue.submit("l", {[] {}}));
  CHECK(reports.size() == 1);
}

TEST_CASE("an arena that ends waits for the events it still has") {
  mock::Queue queue(mock::Order::in_order);
  mock::Queue other(mock::Order::out_of_order);
  LimitedUpstream upstream;
  bool idle = true;
  upstream.on_return = [&] { idle = idle && other.is_idle(); };
  {
    Arena arena(queue, &upstream);
    auto lease = arena.lease(64);
    lease.release_after(other.submit("k", {[] {}}));
  }
  CHECK(idle);
  CHECK(other.event_waits == 1);
  CHECK(upstream.held == 0);
}

TEST_CASE("release_after on a lease that outlived its arena waits for the event") {
  LeaseReports reports;
  mock::Queue queue(mock::Order::out_of_order);
  LimitedUpstream upstream;
  sp::WorkspaceLease kept;
  {
    Arena arena(queue, &upstream);
    kept = arena.lease(64);
  }
  kept.release_after(queue.submit("k", {[] {}}));
  CHECK(queue.event_waits == 1);
  CHECK(upstream.held == 0);
}

// ---- a queue that fails -------------------------------------------------------------------------------------------------

TEST_CASE("bytes that could not be waited for stay quarantined, and the next lease says so") {
  LeaseReports reports;
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  auto below = arena.lease(16);
  auto lease = arena.lease(100);
  std::byte* const base = lease.data();
  queue.submit("k", {[] {}});
  queue.failing_waits = 1;
  lease.release();
  CHECK(queue.waits == 1);
  CHECK(arena.statistics().quarantined == 112);
  CHECK(arena.statistics().live == 1);
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].kind == sp::LeaseReportKind::queue_failed);
  CHECK(reports[0].bytes == 112);

  try {
    static_cast<void>(arena.lease(16));
    FAIL("the next lease must say so");
  } catch (const sp::ApiMisuse& error) {
    CHECK(test::missing_from(error.what(), {"112", "lease", "quarantined"}) == "");
    CHECK_THROWS_AS(std::rethrow_if_nested(error), mock::QueueFailed);
  }
  CHECK(arena.statistics().live == 1);

  // Said once. What is lent now lies elsewhere, and nothing has waited again by itself.
  auto next = arena.lease(16);
  CHECK(next.data() == base + 112);
  CHECK(queue.waits == 1);
  SECTION("a later wait that succeeds lifts the quarantine") {
    next.release();
    CHECK(queue.waits == 2);
    CHECK(arena.statistics().quarantined == 0);
    CHECK(arena.statistics().used == 16);
    auto again = arena.lease(100);
    CHECK(again.data() == base);
  }
  SECTION("one that fails does not") {
    queue.failing_waits = 1;
    next.release();
    CHECK(arena.statistics().quarantined == 128);  // 112 + 16
    CHECK(arena.statistics().used == 144);
    CHECK_THROWS_AS(arena.reserve(10), sp::QueueFailure);
    CHECK(arena.statistics().used == 144);
  }
}

TEST_CASE("a replace that cannot wait for the queue leaves an empty lease") {
  LeaseReports reports;
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  auto lease = arena.lease(64);
  queue.failing_waits = 1;
  CHECK_THROWS_AS(lease.replace(64), sp::QueueFailure);
  CHECK(lease.empty());
  lease.replace(64);
  CHECK(arena.statistics().quarantined == 64);
  CHECK(arena.statistics().used == 128);
}

TEST_CASE("an event that cannot be asked keeps its bytes, and the next lease says so") {
  LeaseReports reports;
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue);
  auto lease = arena.lease(64);
  lease.release_after(queue.submit("k", {[] {}}));
  queue.failing_polls = 1;
  CHECK_THROWS_AS(arena.lease(16), sp::QueueFailure);
  CHECK(arena.statistics().pending == 64);
  queue.run();
  auto next = arena.lease(16);
  CHECK(arena.statistics().pending == 0);
  CHECK(arena.statistics().used == 16);
}

TEST_CASE("memory that cannot be waited for is lost rather than freed under work") {
  LeaseReports reports;
  mock::Queue queue(mock::Order::in_order);
  std::pmr::monotonic_buffer_resource keeps;  // so that what is lost here is not lost for good
  struct Counting : std::pmr::memory_resource {
    explicit Counting(std::pmr::memory_resource* from) : upstream(from) {}
    std::pmr::memory_resource* upstream;
    std::size_t returned = 0;
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
      return upstream->allocate(bytes, alignment);
    }
    void do_deallocate(void*, std::size_t, std::size_t) override { ++returned; }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  } upstream(&keeps);
  {
    Arena arena(queue, &upstream);
    auto lease = arena.lease(64);
    lease.release();
    queue.failing_waits = 1;
    CHECK_THROWS_AS(arena.lease(100'000), sp::QueueFailure);  // cannot merge
    CHECK(arena.statistics().blocks == 1);
    queue.failing_waits = 1;
  }
  CHECK(upstream.returned == 0);
  REQUIRE(reports.size() == 2);
  CHECK(reports[1].kind == sp::LeaseReportKind::queue_failed);
}

// ---- derived queues and convenience overloads ---------------------------------------------------------------------------

namespace {

// A library call in two forms. With a span: enqueues and returns. Without: borrows what it needs.
void twice(mock::Queue& queue, std::span<std::byte> scratch, const int& in, int& out) {
  int* const s = reinterpret_cast<int*>(scratch.data());
  queue.submit("twice", {[=, &in] { *s = 2 * in; }, [=, &out] { out = *s; }});
}
void twice(mock::Queue& queue, Arena& arena, const int& in, int& out) {
  auto lease = arena.lease(sizeof(int), "twice");
  twice(queue, lease.span(), in, out);
}

}  // namespace

TEST_CASE("a convenience overload that leases inside blocks at its end on an out-of-order queue") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  const int in[2] = {3, 4};
  int out[2] = {};
  twice(queue, arena, in[0], out[0]);
  CHECK(queue.waits == 1);
  CHECK(out[0] == 6);
  twice(queue, arena, in[1], out[1]);
  CHECK(queue.waits == 2);
  CHECK(out[1] == 8);
}

TEST_CASE("passing a span of one's own does not block") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  const int in[2] = {3, 4};
  int out[2] = {};
  auto a = arena.lease(sizeof(int));
  auto b = arena.lease(sizeof(int));
  twice(queue, a, in[0], out[0]);
  twice(queue, b, in[1], out[1]);
  CHECK(queue.waits == 0);
  CHECK(out[0] == 0);
  queue.wait();
  CHECK(out[0] == 6);
  CHECK(out[1] == 8);
}

TEST_CASE("on an in-order queue the convenience overload does not block either") {
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue);
  const int in[2] = {3, 4};
  int out[2] = {};
  twice(queue, arena, in[0], out[0]);
  twice(queue, arena, in[1], out[1]);
  CHECK(queue.waits == 0);
  queue.run();
  CHECK(out[0] == 6);
  CHECK(out[1] == 8);
}

TEST_CASE("a release waits for the lease's own queue alone, and a derived queue that is destroyed first has run") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  int out = 0;
  SECTION("destroyed before the lease ends: safe") {
    auto lease = arena.lease(sizeof(int));
    {
      mock::Queue derived(mock::Order::out_of_order);
      const int in = 5;
      twice(derived, lease, in, out);
    }
    CHECK(out == 10);
    lease.release();
  }
  SECTION("alive when the lease ends: its work was not waited for") {
    mock::Queue derived(mock::Order::out_of_order);
    const int in = 5;
    auto lease = arena.lease(sizeof(int));
    twice(derived, lease, in, out);
    lease.release();
    CHECK(queue.waits == 1);
    CHECK(derived.waits == 0);
    CHECK(out == 0);
  }
}
