// SPDX-License-Identifier: MIT
#include <cstddef>
#include <string>

#include <scratchpad/scratchpad.hpp>
#include <support/catch.hpp>
#include <support/spaces.hpp>
#include <support/thrown.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<test::Tcm>;
using test::missing_from;
using test::text_of;

namespace {

struct alignas(64) Wide {
  std::byte bytes[64];
};

template <class Layout>
sp::Plan plan_of(Layout layout) {
  sp::Recorder recorder;
  auto pool = Pool::measuring();
  pool.watch(&recorder);
  layout(pool);
  return recorder.plan();
}

// "" if the run of `layout` keeps to `plan`, else what the check says.
template <class Layout>
std::string divergence(const sp::Plan& plan, Layout layout) {
  alignas(64) std::byte buffer[4096];
  sp::PlanCheck check(plan);
  Pool pool(buffer, sizeof buffer, &check);
  const std::string text = text_of<sp::LayoutDivergence>([&] { layout(pool); });
  return text == "(nothing was thrown)" ? "" : text;
}

void two_scopes(Pool& pool) {
  (void)pool.allocate<float>(4, "a");
  for (int turn = 0; turn < 2; ++turn) {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<float>(8, "b");
    if (turn == 1) (void)pool.allocate<float>(12, "c");
  }
  (void)pool.allocate<float>(16, "d");
}

}  // namespace

TEST_CASE("a run that is the plan passes, also through a second life of the pool") {
  const sp::Plan plan = plan_of(two_scopes);
  CHECK(divergence(plan, [](Pool& pool) {
          two_scopes(pool);
          pool.reset();
          two_scopes(pool);
        }) == "");
}

TEST_CASE("scopes may repeat, be skipped, change their order, and end early") {
  const sp::Plan plan = plan_of(two_scopes);
  const auto scopes = [](auto... blocks) {
    return [=](Pool& pool) {
      (void)pool.allocate<float>(4, "a");
      for (const int n : {blocks...}) {
        sp::ScratchScope scope(pool);
        if (n >= 1) (void)pool.allocate<float>(8, "b");
        if (n >= 2) (void)pool.allocate<float>(12, "c");
      }
      (void)pool.allocate<float>(16, "d");
    };
  };
  CHECK(divergence(plan, scopes(1, 2, 2, 1, 1, 2)) == "");
  CHECK(divergence(plan, scopes(2)) == "");
  CHECK(divergence(plan, scopes(0, 1)) == "");
  CHECK(divergence(plan, [](Pool& pool) {
          (void)pool.allocate<float>(4, "a");
          (void)pool.allocate<float>(16, "d");
        }) == "");
  CHECK(divergence(plan, [](Pool& pool) { (void)pool.allocate<float>(4, "a"); }) == "");
  CHECK(divergence(plan, [](Pool& pool) {
          (void)pool.allocate<float>(4, "a");
          sp::ScratchScope scope(pool);
          (void)pool.allocate<float>(8, "b");
          scope.rewind();
          (void)pool.allocate<float>(8, "b");
          (void)pool.allocate<float>(12, "c");
        }) == "");
}

TEST_CASE("the first block that differs is refused before it is handed out, and both sides are named") {
  const sp::Plan plan = plan_of(two_scopes);
  alignas(64) std::byte buffer[4096];
  sp::PlanCheck check(plan);
  sp::Recorder recorder;  // called after the check, and told of nothing that is refused
  Pool pool(buffer, sizeof buffer, &check);
  pool.watch(&recorder);
  (void)pool.allocate<float>(4, "a");
  sp::ScratchScope scope(pool);
  (void)pool.allocate<float>(8, "b");
  const auto before = test::figures(pool);
  const std::string text = text_of<sp::LayoutDivergence>([&] { (void)pool.allocate<double>(12, "c"); });
  CHECK(missing_from(text, {"'c' 96 bytes aligned 16 at 48", "'c' 48 bytes aligned 16 at 48", "block 2", "depth 1"}) ==
        "");
  CHECK(test::figures(pool) == before);
  CHECK(recorder.live_blocks().size() == 2);
  // The run may still go on as planned.
  (void)pool.allocate<float>(12, "c");
}

TEST_CASE("a different label, size, alignment, an extra block and an unplanned scope each differ") {
  const sp::Plan plan = plan_of(two_scopes);
  CHECK(missing_from(divergence(plan, [](Pool& pool) { (void)pool.allocate<float>(4, "z"); }), {"'z'", "'a'"}) == "");
  CHECK(missing_from(divergence(plan, [](Pool& pool) { (void)pool.allocate<float>(5, "a"); }), {"20", "16"}) == "");
  CHECK(missing_from(divergence(plan, [](Pool& pool) { (void)pool.allocate<float>(4, sp::align(64), "a"); }),
                     {"aligned 64", "aligned 16"}) == "");
  CHECK(missing_from(divergence(plan,
                                [](Pool& pool) {
                                  two_scopes(pool);
                                  (void)pool.allocate<float>(1, "e");
                                }),
                     {"'e'", "no further block"}) == "");
  CHECK(missing_from(divergence(plan,
                                [](Pool& pool) {
                                  sp::ScratchScope scope(pool);
                                  (void)pool.allocate<float>(8, "b");
                                }),
                     {"'b'", "no such scope"}) == "");
}

TEST_CASE("the same blocks in another order are named at the first that differs [case-20]") {
  const auto mixed = [](Pool& pool) {
    (void)pool.allocate<char>(1, "byte 1");
    (void)pool.allocate<Wide>(1, "wide 1");
    (void)pool.allocate<char>(1, "byte 2");
    (void)pool.allocate<Wide>(1, "wide 2");
  };
  const auto sorted = [](Pool& pool) {
    (void)pool.allocate<Wide>(1, "wide 1");
    (void)pool.allocate<Wide>(1, "wide 2");
    (void)pool.allocate<char>(1, "byte 1");
    (void)pool.allocate<char>(1, "byte 2");
  };
  // 0..16, 64..128, 128..144, 192..256; and 0..64, 64..128, 128..144, 144..160.
  CHECK(sp::workspace_requirement<Pool>(mixed) == sp::Requirement{256, 64});
  CHECK(sp::workspace_requirement<Pool>(sorted) == sp::Requirement{160, 64});
  alignas(64) std::byte buffer[160];
  Pool pool(buffer);
  CHECK_THROWS_AS(mixed(pool), sp::ScratchOverflow);
  CHECK(pool.used() == 144);
  CHECK(missing_from(divergence(plan_of(sorted), mixed), {"block 0", "'byte 1' 1 bytes", "'wide 1' 64 bytes"}) == "");
}

TEST_CASE("an overflow says what the whole planned layout needs") {
  const sp::Plan plan = plan_of(two_scopes);
  alignas(64) std::byte buffer[48];
  sp::PlanCheck check(plan);
  Pool pool(buffer, sizeof buffer, &check);
  try {
    two_scopes(pool);
    FAIL("no overflow");
  } catch (const sp::ScratchOverflow& error) {
    // a 16; then b 32 and c 48 in the scope, or d 64: 96 in all.
    CHECK(error.overflow().layout_bytes == 96);
    CHECK(missing_from(error.what(), {"the whole layout needs 96"}) == "");
  }
}

TEST_CASE("measured with one quantum and served with another is refused [case-13]") {
  sp::Recorder recorder;
  auto measuring = sp::BumpAllocator<test::DynamicQuantum>::measuring(128);
  measuring.watch(&recorder);
  (void)measuring.allocate<char>(1, "a");
  (void)measuring.allocate<char>(1, "b");
  CHECK(measuring.required_bytes() == 256);
  sp::PlanCheck check(recorder.plan());
  alignas(128) std::byte buffer[256];
  const std::string text = text_of<sp::LayoutDivergence>(
      [&] { sp::BumpAllocator<test::DynamicQuantum> pool(buffer, sizeof buffer, 64, &check); });
  CHECK(missing_from(text, {"128", "64"}) == "");
  sp::BumpAllocator<test::DynamicQuantum> right(buffer, sizeof buffer, 128, &check);
  (void)right.allocate<char>(1, "a");
  (void)right.allocate<char>(1, "b");
}
