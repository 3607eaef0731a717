// SPDX-License-Identifier: MIT
#include <cstddef>
#include <string>
#include <string_view>

#include <scratchpad/scratchpad.hpp>
#include <support/catch.hpp>
#include <support/spaces.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<test::Tcm>;
using Kind = sp::RecordedEvent::Kind;

namespace {

// A plan on one line: blocks by their labels, the scopes that may be opened in front of a block in braces.
std::string text_of(const sp::PlannedScope& scope) {
  std::string text;
  for (std::size_t i = 0; i < scope.scopes.size(); ++i) {
    for (const sp::PlannedScope& inner : scope.scopes[i]) text += "{" + text_of(inner) + "}";
    if (i < scope.blocks.size()) text += scope.blocks[i].label;
  }
  return text;
}

}  // namespace

TEST_CASE("a recorder keeps every event in order, with its numbers") {
  alignas(16) std::byte buffer[512];
  sp::Recorder recorder;
  {
    Pool pool(buffer, sizeof buffer, &recorder);
    auto kept = sp::tensor<float>(pool, "kept", 5);  // 20 bytes at 0, 32 reserved
    sp::ScratchScope scope(pool);
    auto block = sp::tensor<float>(pool, "block", 5);  // at 32
    sp::copy_to(pool, kept, block);
    CHECK_THROWS_AS(pool.allocate<char>(1000, "big"), sp::ScratchOverflow);
  }
  const auto events = recorder.events();
  REQUIRE(events.size() == 8);
  CHECK(events[0].kind == Kind::attach);
  CHECK(events[1].kind == Kind::allocate);
  CHECK(std::string_view(events[1].block.label) == "kept");
  CHECK(events[1].block.bytes == 20);
  CHECK(events[1].block.reserved == 32);
  CHECK(events[1].block.depth == 0);
  CHECK(events[2].kind == Kind::save);
  CHECK(events[2].save_point.offset == 32);
  CHECK(events[2].save_point.depth == 1);
  CHECK(events[3].block.offset == 32);
  CHECK(events[3].block.depth == 1);
  CHECK(events[3].block.serial == 1);
  CHECK(events[4].kind == Kind::copy);
  CHECK(events[4].copy.bytes == 20);
  CHECK(events[5].kind == Kind::overflow);
  CHECK(events[5].overflow.bytes == 1000);
  CHECK(events[6].kind == Kind::rewind);
  CHECK(events[6].save_point.offset == 32);
  CHECK(events[6].save_point.used_before == 64);
  CHECK_FALSE(events[6].save_point.stays_open);
  CHECK(events[7].kind == Kind::detach);
}

TEST_CASE("the operation log has a copy as a computation, with both handles") {
  alignas(16) std::byte buffer[512];
  sp::Recorder recorder;
  Pool pool(buffer, sizeof buffer, &recorder);
  auto kept = sp::tensor<float>(pool, "kept", 3, 4);
  auto block = sp::tensor<float>(pool, "block", 3, 4);
  float outside[12] = {};
  const sp::Tensor<float, 2, test::Tcm> elsewhere(outside, {3, 4});
  for (float& x : block.span()) x = 1.0F;
  sp::copy_to(pool, kept, block);
  sp::copy_to(pool, elsewhere, block);

  const auto log = recorder.operations();
  REQUIRE(log.size() == 2);
  CHECK(std::string_view(log[0].kind) == "math");
  CHECK(std::string_view(log[0].name) == "copy");
  CHECK(log[0].elements == 12);
  CHECK(log[0].bytes == 48);
  CHECK(std::string_view(log[0].destination.label) == "kept");
  CHECK(log[0].destination.offset == 0);
  CHECK(std::string_view(log[0].source.label) == "block");
  CHECK(log[0].source.offset == 48);
  CHECK(log[0].source.in_pool);
  CHECK_FALSE(log[1].destination.in_pool);
  CHECK(log[1].destination.data == outside);
}

TEST_CASE("a measuring pool can be recorded: sizes without data") {
  sp::Recorder recorder;
  auto pool = Pool::measuring();
  pool.watch(&recorder);
  auto kept = sp::tensor<float>(pool, "kept", 5);
  {
    sp::ScratchScope scope(pool);
    sp::copy_to(pool, kept, sp::tensor<float>(pool, "block", 5));
  }
  CHECK(recorder.operations().size() == 1);
  CHECK(recorder.plan().required_bytes() == 64);
  CHECK(recorder.plan().required_bytes() == pool.required_bytes());
}

TEST_CASE("the plan is a tree: the turns of a loop are one scope, different scopes are several") {
  sp::Recorder recorder;
  auto pool = Pool::measuring();
  pool.watch(&recorder);
  (void)pool.allocate<char>(1, "a");
  for (int turn = 0; turn < 5; ++turn) {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<char>(1, "b");
    if (turn == 3) {
      sp::ScratchScope inner(pool);
      (void)pool.allocate<char>(1, "c");
    }
  }
  (void)pool.allocate<char>(1, "d");
  CHECK(text_of(recorder.plan().pool) == "a{b}{b{c}}d");
}

TEST_CASE("a scope that is rewound begins another turn of itself") {
  sp::Recorder recorder;
  auto pool = Pool::measuring();
  pool.watch(&recorder);
  {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<char>(1, "a");
    scope.rewind();
    (void)pool.allocate<char>(1, "b");
  }
  CHECK(text_of(recorder.plan().pool) == "{a}{b}");
}

TEST_CASE("scopes that are still open are in the plan as far as they have come") {
  sp::Recorder recorder;
  auto pool = Pool::measuring();
  pool.watch(&recorder);
  (void)pool.allocate<char>(1, "a");
  sp::ScratchScope outer(pool);
  (void)pool.allocate<char>(1, "b");
  sp::ScratchScope inner(pool);
  (void)pool.allocate<char>(1, "c");
  CHECK(text_of(recorder.plan().pool) == "a{b{c}}");
}

TEST_CASE("raw save-points left above the end of a scope are closed with it") {
  sp::Recorder recorder;
  auto pool = Pool::measuring();
  pool.watch(&recorder);
  {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<char>(1, "a");
    (void)pool.save();
    (void)pool.allocate<char>(1, "b");
  }
  (void)pool.allocate<char>(1, "c");
  CHECK(text_of(recorder.plan().pool) == "{a{b}}c");
}

TEST_CASE("a reset begins a new plan") {
  sp::Recorder recorder;
  auto pool = Pool::measuring();
  pool.watch(&recorder);
  (void)pool.allocate<char>(1000, "a");
  pool.reset();
  (void)pool.allocate<char>(1, "b");
  CHECK(text_of(recorder.plan().pool) == "b");
  CHECK(recorder.plan().required_bytes() == 16);
}

TEST_CASE("the plan's requirement is that of the layout, also with coarse alignments") {
  sp::Recorder recorder;
  auto pool = Pool::measuring();
  pool.watch(&recorder);
  (void)pool.allocate<char>(1, "a");
  (void)pool.allocate<char>(1, sp::align(64), "b");
  // a at 0, b at 64 to 80; at any base of 16 up to 48 bytes more.
  CHECK(recorder.plan().requirement == sp::Requirement{80, 64});
  CHECK(recorder.plan().required_bytes() == 128);
}

TEST_CASE("an overflow names the largest live blocks of a recorded pool") {
  alignas(16) std::byte buffer[512];
  sp::Recorder recorder;
  Pool pool(buffer, sizeof buffer, &recorder);
  (void)pool.allocate<char>(16, "small");
  (void)pool.allocate<char>(128, "large");
  {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<char>(256, "gone");
  }
  (void)pool.allocate<char>(32, "middle");
  (void)pool.allocate<char>(1, "least");
  try {
    (void)pool.allocate<char>(500, "big");
    FAIL("no overflow");
  } catch (const sp::ScratchOverflow& error) {
    const sp::Overflow& o = error.overflow();
    CHECK(std::string_view(o.largest[0].label) == "large");
    CHECK(o.largest[0].bytes == 128);
    CHECK(std::string_view(o.largest[1].label) == "middle");
    CHECK(o.largest[1].bytes == 32);
    CHECK(o.largest[2].bytes == 16);
    CHECK(std::string_view(error.what()).find("largest live blocks: large 128, middle 32, ") != std::string_view::npos);
  }
}

TEST_CASE("a recorder watches one pool at a time") {
  alignas(16) std::byte buffer[64];
  sp::Recorder recorder;
  {
    Pool pool(buffer, sizeof buffer, &recorder);
    CHECK_THROWS_AS(Pool(buffer, sizeof buffer, &recorder), sp::ApiMisuse);
  }
  Pool next(buffer, sizeof buffer, &recorder);
  CHECK(recorder.events().back().kind == Kind::attach);
}
