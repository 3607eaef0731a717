// SPDX-License-Identifier: MIT
#include <scratchpad/copy_to.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include <scratchpad/scratch_scope.hpp>

#include "support/catch.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::Counted;
using test::missing_from;
using test::text_of;
// Counts its copies, so that a test can tell "copied the same" from "did not copy".
using Pool = sp::BumpAllocator<Counted>;
template <class T, std::size_t Rank>
using Tensor = sp::Tensor<T, Rank, Counted>;

namespace {

template <class T>
void fill(T tensor, int first) {
  std::iota(tensor.span().begin(), tensor.span().end(), first);
}

template <class T>
std::vector<int> values(T tensor) {
  return {tensor.span().begin(), tensor.span().end()};
}

/// A 256-byte pool, and the copies counted since it was made.
struct Fixture {
  alignas(4096) std::byte memory[256];
  Pool pool{memory};
  int before = Counted::copies;
  int copies() const { return Counted::copies - before; }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a copy keeps the elements of a scope that ends") {
  const auto kept = sp::tensor<int>(pool, 2, 3);
  fill(kept, 100);
  {
    sp::ScratchScope scope(pool);
    const auto scoped = sp::tensor<int>(pool, 2, 3);
    fill(scoped, 0);
    sp::copy_to(pool, kept, scoped);
    fill(scoped, 50);
  }
  CHECK(values(kept) == std::vector<int>{0, 1, 2, 3, 4, 5});
  CHECK(copies() == 1);
}

TEST_CASE("a copy writes the elements of dst and nothing beside them") {
  // Nobody watches, because the test writes to padding.
  alignas(4096) std::byte memory[256];
  Pool unwatched(memory, 256, nullptr);
  const auto dst = sp::tensor<int>(unwatched, 3);  // 12 bytes, 16 reserved
  const auto next = sp::tensor<int>(unwatched, 1);
  const auto src = sp::tensor<int>(unwatched, 3);
  fill(dst, 0);
  fill(src, 7);
  next(0) = 42;
  memory[12] = std::byte{0x5a};  // the padding of dst
  sp::copy_to(unwatched, dst, src);
  CHECK(values(dst) == std::vector<int>{7, 8, 9});
  CHECK(memory[12] == std::byte{0x5a});
  CHECK(next(0) == 42);
}

TEST_CASE_METHOD(Fixture, "const elements can be the source") {
  const auto dst = sp::tensor<int>(pool, 3);
  const auto src = sp::tensor<int>(pool, 3);
  fill(src, 7);
  const Tensor<const int, 1> read(src.data(), src.extents(), src.birth());
  sp::copy_to(pool, dst, read);
  CHECK(values(dst) == std::vector<int>{7, 8, 9});
}

TEST_CASE_METHOD(Fixture, "dst may be memory of the caller's, and so may src") {
  int out[3] = {};
  int in[3] = {4, 5, 6};
  const auto t = sp::tensor<int>(pool, 3);
  sp::copy_to(pool, t, Tensor<int, 1>(in, {3}));
  sp::copy_to(pool, Tensor<int, 1>(out, {3}), t);
  CHECK(out[0] == 4);
  CHECK(out[2] == 6);
}

TEST_CASE_METHOD(Fixture, "dst may live in another pool of the same space") {
  alignas(4096) std::byte more[64];
  Pool persistent(more);
  const auto dst = sp::tensor<int>(persistent, 3);
  {
    sp::ScratchScope scope(pool);
    const auto src = sp::tensor<int>(pool, 3);
    fill(src, 7);
    sp::copy_to(pool, dst, src);
  }
  CHECK(values(dst) == std::vector<int>{7, 8, 9});
}

TEST_CASE_METHOD(Fixture, "src of another pool is refused before a byte moves") {
  alignas(4096) std::byte more[64];
  Pool other(more);
  const auto dst = sp::tensor<int>(pool, 3);
  const auto src = sp::tensor<int>(other, 3);
  fill(dst, 1);
  fill(src, 7);
  const std::string text = text_of<sp::ApiMisuse>([&] { sp::copy_to(pool, dst, src); });
  CHECK(missing_from(text, {"src", "another pool"}).empty());
  CHECK(values(dst) == std::vector<int>{1, 2, 3});
  CHECK(copies() == 0);
}

// ---- shapes --------------------------------------------------------------------------------------------------------

TEST_CASE_METHOD(Fixture, "other extents are refused by both shapes before a byte moves") {
  const auto dst = sp::tensor<int>(pool, 2, 3);
  const auto src = sp::tensor<int>(pool, 3, 2);
  fill(dst, 1);
  fill(src, 50);
  const auto before_call = test::figures(pool);
  const std::string text = text_of<sp::ShapeMismatch>([&] { sp::copy_to(pool, dst, src); });
  CHECK(missing_from(text, {"dst is 2 x 3", "src is 3 x 2"}).empty());
  CHECK(values(dst) == std::vector<int>{1, 2, 3, 4, 5, 6});
  CHECK(copies() == 0);
  CHECK(test::figures(pool) == before_call);
}

TEST_CASE_METHOD(Fixture, "shapes of one and of three extents are named in full") {
  const auto a = sp::tensor<int>(pool, 7);
  const auto b = sp::tensor<int>(pool, 9);
  CHECK(missing_from(text_of<sp::ShapeMismatch>([&] { sp::copy_to(pool, a, b); }), {"dst is 7", "src is 9"}).empty());
  const auto c = sp::tensor<char>(pool, 1, 2, 3);
  const auto d = sp::tensor<char>(pool, 1, 2, 4);
  CHECK(missing_from(text_of<sp::ShapeMismatch>([&] { sp::copy_to(pool, c, d); }), {"1 x 2 x 3", "1 x 2 x 4"}).empty());
}

TEST_CASE_METHOD(Fixture, "empty tensors of the same shape are copied without a byte") {
  const auto a = sp::tensor<int>(pool, 3, 0);
  const auto some = sp::tensor<int>(pool, 3);
  const auto b = sp::tensor<int>(pool, 3, 0);
  CHECK(a.data() != b.data());
  sp::copy_to(pool, a, b);
  sp::copy_to(pool, Tensor<int, 2>(), Tensor<int, 2>());
  CHECK(copies() == 0);
  CHECK(some.size() == 3);
  // Nothing to copy, but still another shape.
  CHECK_THROWS_AS(sp::copy_to(pool, a, sp::tensor<int>(pool, 0, 3)), sp::ShapeMismatch);
}

// ---- the same bytes ------------------------------------------------------------------------------------------------

TEST_CASE_METHOD(Fixture, "a copy onto itself does nothing") {
  const auto t = sp::tensor<int>(pool, 3);
  fill(t, 7);
  sp::copy_to(pool, t, t);
  CHECK(values(t) == std::vector<int>{7, 8, 9});
  CHECK(copies() == 0);
}

TEST_CASE_METHOD(Fixture, "neighbours that touch do not overlap") {
  const auto all = sp::tensor<int>(pool, 8);
  fill(all, 0);
  const Tensor<int, 1> low(all.data(), {4}, all.birth());
  const Tensor<int, 1> high(all.data() + 4, {4}, all.birth());
  sp::copy_to(pool, low, high);
  CHECK(values(all) == std::vector<int>{4, 5, 6, 7, 4, 5, 6, 7});
  sp::copy_to(pool, high, low);
  CHECK(copies() == 2);
}

// ---- handles that are not live -------------------------------------------------------------------------------------

TEST_CASE_METHOD(Fixture, "a dead source is refused with its depth and stamp") {
  const auto dst = sp::tensor<int>(pool, 3);
  fill(dst, 1);
  Tensor<int, 1> dead;
  {
    sp::ScratchScope outer(pool);
    sp::ScratchScope scope(pool);
    dead = sp::tensor<int>(pool, 3);
  }
  const std::string stamp = "stamp " + std::to_string(dead.birth().stamp);
  const std::string text = text_of<sp::ApiMisuse>([&] { sp::copy_to(pool, dst, dead); });
  CHECK(missing_from(text, {"src is not live", "depth 2", stamp, "depth is 0"}).empty());
  CHECK(values(dst) == std::vector<int>{1, 2, 3});
  CHECK(copies() == 0);
}

TEST_CASE_METHOD(Fixture, "a dead source is refused also when its bytes were handed out again") {
  const auto dst = sp::tensor<int>(pool, 3);
  Tensor<int, 1> dead;
  {
    sp::ScratchScope scope(pool);
    dead = sp::tensor<int>(pool, 3);
  }
  sp::ScratchScope scope(pool);
  const auto fresh = sp::tensor<int>(pool, 3);
  CHECK(fresh.data() == dead.data());
  CHECK_THROWS_AS(sp::copy_to(pool, dst, dead), sp::ApiMisuse);
  CHECK(copies() == 0);
  sp::copy_to(pool, dst, fresh);
  CHECK(copies() == 1);
}

TEST_CASE_METHOD(Fixture, "a dead destination is refused, also when its bytes were handed out again") {
  Tensor<int, 1> dead;
  {
    sp::ScratchScope scope(pool);
    dead = sp::tensor<int>(pool, 3);
  }
  const auto fresh = sp::tensor<int>(pool, 3);
  const auto src = sp::tensor<int>(pool, 3);
  fill(fresh, 1);
  fill(src, 7);
  CHECK(fresh.data() == dead.data());
  const std::string text = text_of<sp::ApiMisuse>([&] { sp::copy_to(pool, dead, src); });
  CHECK(missing_from(text, {"dst is not live", "depth 1", "depth is 0"}).empty());
  CHECK(values(fresh) == std::vector<int>{1, 2, 3});
  CHECK(copies() == 0);
}

TEST_CASE_METHOD(Fixture, "a handle from before a reset is refused") {
  const auto dead = sp::tensor<int>(pool, 3);
  pool.reset();
  const auto dst = sp::tensor<int>(pool, 3);
  CHECK_THROWS_AS(sp::copy_to(pool, dst, dead), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::copy_to(pool, dead, dst), sp::ApiMisuse);
  CHECK(copies() == 0);
}

TEST_CASE_METHOD(Fixture, "a dead handle without elements is refused like any other") {
  Tensor<int, 1> dead;
  {
    sp::ScratchScope scope(pool);
    dead = sp::tensor<int>(pool, 0);
  }
  CHECK_THROWS_AS(sp::copy_to(pool, sp::tensor<int>(pool, 0), dead), sp::ApiMisuse);
}

// ---- measuring -----------------------------------------------------------------------------------------------------

TEST_CASE("on a measuring pool a copy moves nothing and counts nothing") {
  const int before = Counted::copies;
  Pool pool = Pool::measuring();
  const auto dst = sp::tensor<int>(pool, 3);
  {
    sp::ScratchScope scope(pool);
    const auto src = sp::tensor<int>(pool, 3);
    sp::copy_to(pool, dst, src);
  }
  CHECK(Counted::copies == before);
  CHECK(pool.required_bytes() == 32);
}

TEST_CASE("on a measuring pool a copy checks what it would check on a run") {
  Pool pool = Pool::measuring();
  const auto dst = sp::tensor<int>(pool, 3);
  Tensor<int, 1> dead;
  {
    sp::ScratchScope scope(pool);
    dead = sp::tensor<int>(pool, 3);
  }
  const Tensor<int, 1> shifted(dst.data() + 1, {3}, dst.birth());
  CHECK_THROWS_AS(sp::copy_to(pool, dst, dead), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::copy_to(pool, dead, dst), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::copy_to(pool, dst, sp::tensor<int>(pool, 4)), sp::ShapeMismatch);
  CHECK_THROWS_AS(sp::copy_to(pool, shifted, dst), sp::ApiMisuse);
}

TEST_CASE("between two measuring pools equal and overlapping addresses say nothing") {
  const int before = Counted::copies;
  Pool persistent = Pool::measuring();
  Pool scoped = Pool::measuring();
  const auto dst = sp::tensor<int>(persistent, 8);
  const auto src = sp::tensor<int>(scoped, 8);
  CHECK(dst.data() == src.data());
  sp::copy_to(scoped, dst, src);
  (void)sp::tensor<int>(persistent, 4);
  const auto further = sp::tensor<int>(persistent, 16);
  const auto across = sp::tensor<int>(scoped, 16);  // [32, 96) and [48, 112) of two regions that do not exist
  CHECK(further.data() != across.data());
  sp::copy_to(scoped, further, across);
  CHECK(Counted::copies == before);
  CHECK_THROWS_AS(sp::copy_to(persistent, further, across), sp::ApiMisuse);  // src is the other pool's
}

TEST_CASE("a copy may stand in a layout that is sized at compile time") {
  constexpr std::size_t bytes = [] {
    Pool pool = Pool::measuring();
    const auto dst = sp::tensor<int>(pool, 3);
    sp::ScratchScope scope(pool);
    sp::copy_to(pool, dst, sp::tensor<int>(pool, 3));
    return pool.required_bytes();
  }();
  STATIC_REQUIRE(bytes == 32);
}

// ---- observers -----------------------------------------------------------------------------------------------------

namespace {
struct Copies : sp::PoolObserver {
  std::vector<sp::CopyEvent> events;
  void on_copy(const sp::PoolView&, const sp::CopyEvent& event) override { events.push_back(event); }
};
}  // namespace

TEST_CASE("observers see a copy that is made and none that is refused or does nothing") {
  alignas(4096) std::byte memory[256];
  Copies seen;
  Pool pool(memory, 256, &seen);
  const auto dst = sp::tensor<int>(pool, 3);
  const auto src = sp::tensor<int>(pool, 3);
  fill(src, 0);
  sp::copy_to(pool, dst, src);
  sp::copy_to(pool, dst, dst);
  CHECK_THROWS_AS(sp::copy_to(pool, dst, sp::tensor<int>(pool, 4)), sp::ShapeMismatch);
  REQUIRE(seen.events.size() == 1);
  CHECK(seen.events[0].destination == dst.data());
  CHECK(seen.events[0].source == src.data());
  CHECK(seen.events[0].elements == 3);
  CHECK(seen.events[0].bytes == 12);
}

TEST_CASE("observers see a copy that is only measured") {
  Copies seen;
  Pool pool = Pool::measuring();
  pool.watch(&seen);
  const auto dst = sp::tensor<double>(pool, 2, 3);
  const auto src = sp::tensor<double>(pool, 2, 3);
  sp::copy_to(pool, dst, src);
  REQUIRE(seen.events.size() == 1);
  CHECK(seen.events[0].elements == 6);
  CHECK(seen.events[0].bytes == 48);
}
