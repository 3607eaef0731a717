// SPDX-License-Identifier: MIT
// Faults that other libraries had: the size that was asked for was not the size that the run needed.
#include <scratchpad/core.hpp>

#include <complex>
#include <cstddef>
#include <string>

#include "support/catch.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::missing_from;
using test::offset_in;
using test::text_of;
using Pool = sp::BumpAllocator<test::Tcm>;

namespace {

struct alignas(64) T64 {
  std::byte bytes[64];
};

/// A batched solver of n unknowns: results that live through it, and two callees that run one after another.
template <class T, class Body>
void solver(Pool& pool, int n, int batch, Body body) {
  auto x = sp::tensor<T>(pool, "x", batch, n);
  auto pivots = sp::tensor<int>(pool, "pivots", batch, n);
  {
    sp::ScratchScope factor(pool);
    auto work = sp::tensor<T>(pool, "work", n, 3);
    auto lines = pool.allocate<T64>(static_cast<std::size_t>(batch));
    body(work.span());
    body(lines);
  }
  {
    sp::ScratchScope solve(pool);
    auto residual = sp::tensor<T>(pool, "residual", batch, n);
    body(residual.span());
  }
  body(x.span());
  body(pivots.span());
}

// Writes to every byte, so that a sanitizer sees a block that is not there.
constexpr auto touch = [](auto block) {
  for (auto& element : block) element = {};
};

}  // namespace

TEST_CASE("a problem of no size has a fixed need, and running it is a no-op", "[case-17]") {
  int touched = 0;
  const auto count = [&](auto block) { touched += static_cast<int>(block.size()); };
  const auto no_batch = [](Pool& pool) { solver<float>(pool, 8, 0, sp::no_work); };
  const auto no_unknowns = [](Pool& pool) { solver<float>(pool, 0, 0, sp::no_work); };
  CHECK(sp::workspace_bytes(no_batch) == 96);  // only work, 8 x 3 floats
  CHECK(sp::workspace_bytes(no_batch) == 96);
  CHECK(sp::workspace_bytes(no_unknowns) == 0);
  CHECK(sp::workspace_bytes(no_unknowns) == 0);
  Pool nothing(nullptr, 0);
  solver<float>(nothing, 0, 0, count);
  CHECK(touched == 0);
  CHECK(nothing.used() == 0);
}

TEST_CASE("a need is in bytes and not in elements", "[case-18]") {
  const auto layout = [](Pool& pool) { (void)pool.allocate<double>(10); };
  const std::size_t need = sp::workspace_bytes(layout);
  CHECK(need == 80);
  alignas(4096) std::byte memory[128];
  Pool caller(memory);
  Pool enough(caller.allocate<std::byte>(need));
  layout(enough);
  CHECK(enough.remaining() == 0);
  caller.reset();
  Pool tight(caller.allocate<std::byte>(need - 16));
  CHECK_THROWS_AS(layout(tight), sp::ScratchOverflow);
  CHECK(tight.used() == 0);
}

TEMPLATE_TEST_CASE("over a grid of shapes the measured bytes are enough and one quantum less is not", "[case-19]", char,
                   float, std::complex<double>) {
  alignas(4096) static std::byte memory[1 << 16];
  for (const int n : {0, 1, 2, 3, 7, 16, 33, 100}) {
    for (const int batch : {0, 1, 2, 5, 16}) {
      CAPTURE(n, batch);
      const auto measured = [=](Pool& pool) { solver<TestType>(pool, n, batch, sp::no_work); };
      const sp::Requirement exact = sp::workspace_requirement(measured);
      REQUIRE(exact.bytes <= sizeof memory);
      Pool aligned(memory, exact.bytes);
      solver<TestType>(aligned, n, batch, touch);
      CHECK(aligned.peak() == exact.bytes);
      CHECK(aligned.used() + aligned.remaining() == exact.bytes);
      // Enough at the worst of bases too: one quantum past a multiple of 64.
      Pool worst(memory + 16, sp::workspace_bytes(measured));
      solver<TestType>(worst, n, batch, touch);
      CHECK(worst.peak() <= worst.capacity());
      if (exact.bytes == 0) continue;
      Pool tight(memory, exact.bytes - 16);
      CHECK_THROWS_AS(solver<TestType>(tight, n, batch, sp::no_work), sp::ScratchOverflow);
      CHECK(tight.depth() == 0);
    }
  }
}

TEST_CASE("the same blocks in another order need another size, and the wrong one fails cleanly", "[case-20]") {
  const auto mixed = [](Pool& pool) {
    (void)pool.allocate<std::byte>(1, "a");
    (void)pool.allocate<T64>(1, "b");
    (void)pool.allocate<std::byte>(1, "c");
    (void)pool.allocate<T64>(1, "d");
  };
  const auto sorted = [](Pool& pool) {
    (void)pool.allocate<T64>(1);
    (void)pool.allocate<T64>(1);
    (void)pool.allocate<std::byte>(1);
    (void)pool.allocate<std::byte>(1);
  };
  // mixed: 0, 64 to 128, 128, 192 to 256. sorted: 0 to 128, 128, 144 to 160.
  CHECK(sp::workspace_requirement(mixed) == sp::Requirement{256, 64});
  CHECK(sp::workspace_requirement(sorted) == sp::Requirement{160, 64});
  alignas(4096) std::byte memory[160];
  Pool pool(memory);
  const std::string text = text_of<sp::ScratchOverflow>([&] { mixed(pool); });
  CHECK(missing_from(text, {"d asks for 64", "48 of padding", "144 of 160", "96 are missing"}).empty());
  CHECK(pool.used() == 144);  // all but the last
}

TEST_CASE("a size worked out by hand that forgets the quantum is refused with both numbers", "[case-21]") {
  const auto layout = [](Pool& pool) { (void)pool.allocate<int>(1, "flag"); };
  CHECK(sp::workspace_bytes(layout) == 16);
  alignas(4096) std::byte memory[16];
  Pool by_hand(memory, sizeof(int));
  const std::string text = text_of<sp::ScratchOverflow>([&] { layout(by_hand); });
  CHECK(missing_from(text, {"flag", "4 bytes", "16 rounded up", "0 of 0", "16 are missing"}).empty());
}

TEST_CASE("the need is what was in use at one time, before and after a scope together", "[case-44]") {
  const auto layout = [](Pool& pool) {
    (void)pool.allocate<std::byte>(100);  // 112
    {
      sp::ScratchScope scope(pool);
      (void)pool.allocate<std::byte>(1000);  // 1,008 more
    }
    (void)pool.allocate<std::byte>(50);  // to 176
  };
  CHECK(sp::workspace_bytes(layout) == 1120);
  alignas(4096) std::byte memory[1120];
  Pool tight(memory, 1119);
  CHECK_THROWS_AS(layout(tight), sp::ScratchOverflow);
  Pool enough(memory, 1120);
  layout(enough);
  CHECK(enough.peak() == 1120);
  CHECK(enough.used() == 176);
}

TEST_CASE("the figures after a reset are those of a fresh pool", "[case-44]") {
  alignas(4096) std::byte memory[512];
  Pool serving(memory);
  Pool measuring = Pool::measuring();
  const bool measures = GENERATE(false, true);
  Pool& pool = measures ? measuring : serving;
  const auto fresh = test::figures(pool);
  (void)pool.allocate<T64>(1);
  {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<std::byte>(100, sp::align(128));
  }
  pool.reset();
  const auto after = test::figures(pool);
  CHECK(after.used == fresh.used);
  CHECK(after.peak == fresh.peak);
  CHECK(after.size == fresh.size);
  CHECK(after.alignment == fresh.alignment);
  CHECK(after.save_points == fresh.save_points);
}
