// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/scratch_scope.hpp>
#include <scratchpad/workspace/workspace_arena.hpp>
#include <scratchpad/workspace_bytes.hpp>
#include <support/catch.hpp>
#include <support/lease_reports.hpp>
#include <support/limited_upstream.hpp>
#include <support/mock_queue.hpp>
#include <support/thrown.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;
using Arena = sp::WorkspaceArena<mock::Queue>;

TEST_CASE("a lease gives its bytes back at its end, and the next one gets them") {
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue);
  std::byte* first = nullptr;
  {
    auto lease = arena.lease(100, "first");
    first = lease.data();
    CHECK(lease.size() == 100);
    CHECK(arena.statistics().live == 1);
    CHECK(arena.statistics().used == 112);  // 100 rounded up to 16
  }
  CHECK(arena.statistics().live == 0);
  CHECK(arena.statistics().used == 0);
  CHECK(arena.lease(16).size() == 16);
  auto again = arena.lease(100);
  CHECK(again.data() == first);
}

TEST_CASE("a pool is made from a lease, and not from a temporary one") {
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue);
  auto lease = arena.lease(sp::workspace_bytes([](Pool& pool) { static_cast<void>(pool.allocate<float>(10)); }));
  Pool pool(lease);
  CHECK(pool.capacity() == 48);
  CHECK(static_cast<void*>(pool.allocate<float>(10).data()) == lease.data());
  STATIC_REQUIRE(std::is_constructible_v<Pool, sp::WorkspaceLease&>);
  STATIC_REQUIRE(std::is_constructible_v<Pool, const sp::WorkspaceLease&>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Pool, sp::WorkspaceLease>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Pool, const sp::WorkspaceLease>);
}

namespace {
template <class Lease>
concept GivesData = requires(Lease&& lease) {
  std::forward<Lease>(lease).data();
};
template <class Lease>
concept GivesSpan = requires(Lease&& lease) {
  std::forward<Lease>(lease).span();
};
template <class Lease>
concept Converts = std::is_convertible_v<Lease, std::span<std::byte>>;
template <class Lease>
constexpr bool gives_all = GivesData<Lease>&& GivesSpan<Lease>&& Converts<Lease>;
template <class Lease>
constexpr bool gives_none = !GivesData<Lease> && !GivesSpan<Lease> && !Converts<Lease>;
}  // namespace

TEST_CASE("only an lvalue lease gives out its bytes", "[case-36]") {
  STATIC_REQUIRE(gives_all<sp::WorkspaceLease&>);
  STATIC_REQUIRE(gives_all<const sp::WorkspaceLease&>);
  STATIC_REQUIRE(gives_none<sp::WorkspaceLease>);
  STATIC_REQUIRE(gives_none<const sp::WorkspaceLease>);
}

TEST_CASE("a lease has one owner, who can pass it on") {
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<sp::WorkspaceLease>);
  STATIC_REQUIRE_FALSE(std::is_copy_assignable_v<sp::WorkspaceLease>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<sp::WorkspaceLease>);
  STATIC_REQUIRE(noexcept(std::declval<sp::WorkspaceLease&>().release()));

  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  auto lease = arena.lease(64);
  std::byte* const data = lease.data();
  sp::WorkspaceLease moved(std::move(lease));
  CHECK(moved.data() == data);
  CHECK(lease.empty());  // NOLINT(bugprone-use-after-move): empty is what it has to be
  CHECK(lease.data() == nullptr);
  lease.release();
  CHECK(arena.statistics().live == 1);
  CHECK(queue.waits == 0);
  auto& self = moved;
  moved = std::move(self);
  CHECK(moved.data() == data);
  moved.release();
  CHECK(arena.statistics().live == 0);
  CHECK(queue.waits == 1);
}

TEST_CASE("releasing twice frees nothing that was lent again in between", "[case-34]") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  auto first = arena.lease(64);
  std::byte* const data = first.data();
  first.release();
  auto second = arena.lease(64);
  REQUIRE(second.data() == data);
  first.release();
  CHECK(queue.waits == 1);
  CHECK(arena.statistics().live == 1);
  CHECK(arena.statistics().used == 64);
  auto third = arena.lease(64);
  CHECK(third.data() == data + 64);
}

TEST_CASE("leases that end out of order hand nothing out before the last of them ends", "[case-35]") {
  LeaseReports reports;
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue, std::pmr::get_default_resource(), true);
  auto a = arena.lease(64);
  auto b = arena.lease(32);
  auto c = arena.lease(16);
  std::byte* const base = a.data();
  a.release();
  CHECK(arena.stranded_bytes() == 64);
  b.release();
  CHECK(arena.stranded_bytes() == 96);
  CHECK(queue.waits == 0);
  {
    auto d = arena.lease(16);
    CHECK(d.data() == base + 112);
  }
  CHECK(queue.waits == 1);
  CHECK(arena.statistics().used == 112);
  c.release();
  CHECK(queue.waits == 2);  // one for all three
  CHECK(arena.stranded_bytes() == 0);
  CHECK(arena.statistics().used == 0);
  auto all = arena.lease(112);
  CHECK(all.data() == base);

  REQUIRE(reports.size() == 2);
  CHECK(reports[0].kind == sp::LeaseReportKind::stranded);
  CHECK(reports[0].bytes == 64);
  CHECK(test::missing_from(reports[0].message, {"64", "before 2", "stranded"}) == "");
  CHECK(test::missing_from(reports[1].message, {"32", "before 1", "stranded"}) == "");
}

TEST_CASE("an arena without checks reports no stranded bytes") {
  LeaseReports reports;
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue, std::pmr::get_default_resource(), false);
  auto a = arena.lease(64);
  auto b = arena.lease(64);
  a.release();
  CHECK(arena.stranded_bytes() == 64);
  CHECK(reports.size() == 0);
}

TEST_CASE("move assignment strands the old bytes without a report, and replace does not strand them") {
  LeaseReports reports;
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue, std::pmr::get_default_resource(), true);
  auto lease = arena.lease(1024);
  std::byte* const data = lease.data();

  SECTION("move assignment: each turn needs more") {
    for (int i = 0; i < 3; ++i) lease = arena.lease(1024);
    CHECK(arena.statistics().used == 4096);
    CHECK(arena.stranded_bytes() == 3072);
    lease.release();
    CHECK(arena.statistics().used == 0);
  }
  SECTION("replace: every turn gets the same bytes") {
    for (int i = 0; i < 3; ++i) {
      lease.replace(1024);
      CHECK(lease.data() == data);
    }
    CHECK(arena.statistics().used == 1024);
    CHECK(arena.statistics().peak == 1024);
  }
  CHECK(reports.size() == 0);
}

TEST_CASE("replace changes size and alignment, and fails with an empty lease of the same arena") {
  mock::Queue queue(mock::Order::in_order);
  LimitedUpstream upstream(100'000);
  Arena arena(queue, &upstream);
  auto lease = arena.lease(48);
  lease.replace(64, sp::align(256), "over-aligned");
  CHECK(lease.size() == 64);
  CHECK(test::is_aligned(lease.data(), 256));
  lease.replace(sp::Requirement{128, 64});
  CHECK(lease.size() == 128);
  CHECK_THROWS_AS(lease.replace(200'000), sp::ScratchOverflow);
  CHECK(lease.empty());
  CHECK(arena.statistics().live == 0);
  lease.replace(16);
  CHECK(lease.size() == 16);
  lease.release();
  CHECK_THROWS_AS(lease.replace(16), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::WorkspaceLease().replace(16), sp::ApiMisuse);
}

TEST_CASE("a lease of no bytes is no loan, and can be replaced") {
  mock::Queue queue(mock::Order::out_of_order);
  LimitedUpstream upstream;
  Arena arena(queue, &upstream);
  {
    auto nothing = arena.lease(0);
    CHECK(nothing.empty());
    CHECK(upstream.given == 0);
    CHECK(arena.statistics().live == 0);
    Pool pool(nothing);
    CHECK(pool.capacity() == 0);
    CHECK_THROWS_AS(arena.lease(0, sp::align(24)), sp::ApiMisuse);
  }
  CHECK(queue.waits == 0);
  auto nothing = arena.lease(0);
  nothing.replace(32);
  CHECK(nothing.size() == 32);
}

TEST_CASE("an arena destroyed before its leases is reported, and their memory stays") {
  LeaseReports reports;
  LimitedUpstream upstream;
  sp::WorkspaceLease kept;
  sp::WorkspaceLease other;
  {
    mock::Queue queue(mock::Order::out_of_order);
    Arena arena(queue, &upstream);
    kept = arena.lease(1000);
    other = arena.lease(16);
    queue.submit("k", {[] {}});
  }
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].kind == sp::LeaseReportKind::arena_destroyed);
  CHECK(reports[0].bytes == 1024);  // 1008 + 16
  CHECK(test::missing_from(reports[0].message, {"2 leases", "1024"}) == "");
  CHECK(upstream.returned == 0);
  std::memset(kept.data(), 1, kept.size());
  CHECK_THROWS_AS(kept.replace(2000), sp::ApiMisuse);
  CHECK(kept.size() == 1000);
  other.release();
  CHECK(upstream.returned == 0);
  kept.release();
  CHECK(upstream.returned == 1);
  CHECK(upstream.held == 0);
}

TEST_CASE("a destroyed arena has waited for its queue, although leases are live") {
  LeaseReports reports;
  const auto order = GENERATE(mock::Order::in_order, mock::Order::out_of_order);
  mock::Queue queue(order);
  sp::WorkspaceLease kept;
  {
    Arena arena(queue);
    kept = arena.lease(64);
    queue.submit("k", {[] {}});
  }
  CHECK(queue.is_idle());
  CHECK(queue.waits == 1);
  kept.release();
  CHECK(queue.waits == 1);  // the queue might be gone by now
}

TEST_CASE("a lease gives back to its own arena, once, also when it or the queue's handle was moved", "[case-38]") {
  mock::Queue queue(mock::Order::out_of_order);
  mock::QueueHandle handle(queue);
  sp::WorkspaceArena<mock::QueueHandle> one(handle);
  sp::WorkspaceArena<mock::QueueHandle> two(handle);
  auto a = one.lease(64);
  auto b = two.lease(32);
  const mock::QueueHandle elsewhere(std::move(handle));
  CHECK_FALSE(elsewhere.is_in_order());
  std::swap(a, b);
  CHECK(queue.waits == 0);
  b.release();
  CHECK(one.statistics().live == 0);
  CHECK(two.statistics().live == 1);
  CHECK(queue.waits == 1);
  b.release();
  CHECK(queue.waits == 1);
  a.release();
  CHECK(two.statistics().used == 0);
  CHECK(queue.waits == 2);
}

TEST_CASE("a lease is given back once if putting in the work throws", "[case-40]") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  const auto enqueue = [] { throw std::runtime_error("no such kernel"); };
  const auto run = [&] {
    auto lease = arena.lease(64);
    enqueue();
  };
  CHECK_THROWS_AS(run(), std::runtime_error);
  CHECK(arena.statistics().live == 0);
  CHECK(arena.statistics().used == 0);
  CHECK(queue.waits == 1);
}

TEST_CASE("a throw between allocation and use leaves pool and arena as they were", "[case-46]") {
  mock::Queue queue(mock::Order::out_of_order);
  Arena arena(queue);
  auto outer = arena.lease(256);
  Pool pool(outer);
  static_cast<void>(pool.allocate<float>(4));
  const auto callee = [&] {
    sp::ScratchScope scope(pool, sp::drain(queue));
    auto inner = arena.lease(100);
    static_cast<void>(pool.allocate<float>(8));
    throw std::runtime_error("before the bytes are used");
  };
  CHECK_THROWS_AS(callee(), std::runtime_error);
  CHECK(pool.used() == 16);
  CHECK(pool.depth() == 0);
  CHECK(arena.statistics().used == 256);
  CHECK(queue.waits == 2);  // the lease's, and the scope's
}

TEST_CASE("the whole of a lease can be written, and neither a neighbour nor a guard changes", "[case-29]") {
  mock::Queue queue(mock::Order::in_order);
  Arena arena(queue);
  auto before = arena.lease(16);
  std::memset(before.data(), 0xA5, 16);
  std::byte* data = nullptr;
  for (int i = 0; i < 10'000; ++i) {
    auto lease = arena.lease(4096);
    if (data == nullptr) data = lease.data();
    REQUIRE(lease.data() == data);
    lease.data()[0] = std::byte{1};
    lease.data()[4095] = std::byte{2};
  }
  for (int i = 0; i < 16; ++i) CHECK(before.data()[i] == std::byte{0xA5});
}
