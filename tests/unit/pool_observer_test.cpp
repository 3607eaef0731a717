// SPDX-License-Identifier: MIT
#include <scratchpad/pool_observer.hpp>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/copy_to.hpp>
#include <scratchpad/scratch_scope.hpp>
#include <scratchpad/tensor.hpp>

#include "support/catch.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::Tcm;
using Pool = sp::BumpAllocator<Tcm>;

namespace {

/// Writes down every event, one line each, with every field.
struct Log : sp::PoolObserver {
  std::vector<std::string> lines;
  sp::PoolView last_view;

  static std::string n(std::size_t number) { return std::to_string(number); }
  void line(const sp::PoolView& view, std::string text) {
    last_view = view;
    lines.push_back(std::move(text));
  }
  void on_attach(const sp::PoolView& v) override { line(v, "attach"); }
  void on_allocate(const sp::PoolView& v, const sp::Block& b) override {
    line(v, std::string("allocate ") + b.label + " at " + n(b.offset) + " bytes " + n(b.bytes) + " of " +
                n(b.reserved) + " align " + n(b.alignment) + " depth " + n(b.depth) + " serial " + n(b.serial));
  }
  void on_save(const sp::PoolView& v, const sp::SavePointEvent& e) override {
    line(v, "save " + n(e.offset) + " used " + n(e.used_before) + " depth " + n(e.depth));
  }
  void on_rewind(const sp::PoolView& v, const sp::SavePointEvent& e) override {
    line(v, "rewind " + n(e.offset) + " used " + n(e.used_before) + " depth " + n(e.depth) +
                (e.stays_open ? " stays open" : ""));
  }
  void on_copy(const sp::PoolView& v, const sp::CopyEvent& e) override {
    line(v, "copy " + n(e.elements) + " elements, " + n(e.bytes) + " bytes");
    copied_to = e.destination;
    copied_from = e.source;
  }
  void on_overflow(const sp::PoolView& v, sp::Overflow& o) override {
    line(v, std::string("overflow ") + o.label + " missing " + n(o.missing));
  }
  void on_detach(const sp::PoolView& v) override { line(v, "detach"); }

  const void* copied_to = nullptr;
  const void* copied_from = nullptr;
};

using Lines = std::vector<std::string>;

/// Watched by nobody but `observers`, whatever this build attaches by default.
void watch_only(Pool& pool, std::initializer_list<sp::PoolObserver*> observers) {
  pool.watch(nullptr);
  for (sp::PoolObserver* observer : observers) pool.watch(observer);
}

}  // namespace

TEST_CASE("a label is a string literal and kept by address") {
  constexpr const char* text = sp::Label("scores").text;
  STATIC_REQUIRE(std::string_view(text) == "scores");
  STATIC_REQUIRE(*sp::Label("").text == '\0');
  CHECK(std::string_view(sp::Label{}.text).empty());
}

TEST_CASE("an observer sees the events of a pool in order with exact fields") {
  alignas(4096) std::byte memory[256];
  Log log;
  {
    Pool pool(memory);
    watch_only(pool, {&log});
    (void)pool.allocate<float>(5, "a");  // 20 bytes, 32 reserved
    {
      sp::ScratchScope scope(pool);
      (void)pool.allocate<std::byte>(1, sp::align(64), "b");  // at 64, after 32 of padding
      (void)pool.allocate<double>(3);                         // 24 bytes, no label
      scope.rewind();
      (void)pool.allocate<std::byte>(16, "c");
    }
    CHECK_THROWS_AS(pool.allocate<std::byte>(225, "d"), sp::ScratchOverflow);  // 240 rounded up, 224 left
    pool.reset();
    (void)pool.allocate<std::byte>(1, "e");
  }
  CHECK(log.lines == Lines{
                         "attach",
                         "allocate a at 0 bytes 20 of 32 align 16 depth 0 serial 0",
                         "save 32 used 32 depth 1",
                         "allocate b at 64 bytes 1 of 16 align 64 depth 1 serial 1",
                         "allocate  at 80 bytes 24 of 32 align 16 depth 1 serial 2",
                         "rewind 32 used 112 depth 1 stays open",
                         "allocate c at 32 bytes 16 of 16 align 16 depth 1 serial 3",
                         "rewind 32 used 48 depth 1",
                         "overflow d missing 16",
                         "rewind 0 used 32 depth 0 stays open",
                         "allocate e at 0 bytes 1 of 16 align 16 depth 0 serial 0",
                         "detach",
                     });
}

TEST_CASE("an observer sees raw saves and rewinds as it sees scopes") {
  alignas(4096) std::byte memory[64];
  Log log;
  Pool pool(memory);
  watch_only(pool, {&log});
  const auto a = pool.save();
  (void)pool.allocate<std::byte>(1);
  const auto b = pool.save();
  pool.rewind(b);
  pool.rewind(a);
  CHECK(log.lines == Lines{"attach", "save 0 used 0 depth 1", "allocate  at 0 bytes 1 of 16 align 16 depth 1 serial 0",
                           "save 16 used 16 depth 2", "rewind 16 used 16 depth 2", "rewind 0 used 16 depth 1"});
}

TEST_CASE("an observer is told which pool it watches") {
  alignas(4096) std::byte memory[100];
  Log log;
  Pool pool(memory);
  watch_only(pool, {&log});
  CHECK(log.last_view.pool == &pool);
  CHECK(log.last_view.space == "tcm");
  CHECK(log.last_view.base == memory);
  CHECK(log.last_view.capacity == 96);
  CHECK(log.last_view.quantum == 16);
  CHECK(!log.last_view.measuring);
  CHECK(log.last_view.host_accessible);

  sp::BumpAllocator<test::Far> far(nullptr, 0);
  far.watch(nullptr);
  far.watch(&log);
  CHECK(log.last_view.space == "far");
  CHECK(!log.last_view.host_accessible);
  CHECK(log.last_view.capacity == 0);
}

TEST_CASE("a measuring pool is watched like any other") {
  Log log;
  Pool pool = Pool::measuring();
  watch_only(pool, {&log});
  CHECK(log.last_view.measuring);
  {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<std::byte>(20, "x");
  }
  (void)pool.try_allocate<std::byte>(1, "y");
  CHECK(pool.required_bytes() == 32);
  CHECK(log.lines == Lines{"attach", "save 0 used 0 depth 1",
                           "allocate x at 0 bytes 20 of 32 align 16 depth 1 serial 0", "rewind 0 used 32 depth 1",
                           "allocate y at 0 bytes 1 of 16 align 16 depth 0 serial 1"});
}

TEST_CASE("an observer sees a copy with both addresses, elements and bytes") {
  alignas(4096) std::byte memory[256];
  Log log;
  Pool pool(memory);
  watch_only(pool, {&log});
  const auto dst = sp::tensor<float>(pool, 2, 3);
  const auto src = sp::tensor<float>(pool, 2, 3);
  for (float& x : src.span()) x = 1.0F;
  log.lines.clear();
  sp::copy_to(pool, dst, src);
  CHECK(log.lines == Lines{"copy 6 elements, 24 bytes"});
  CHECK(log.copied_to == memory);
  CHECK(log.copied_from == memory + 32);
}

TEST_CASE("watching a pool changes no offset") {
  alignas(4096) std::byte memory[512];
  const auto offsets = [&](Pool& pool) {
    std::vector<std::size_t> seen;
    seen.push_back(test::offset_in(memory, pool.allocate<char>(3)));
    sp::ScratchScope scope(pool);
    seen.push_back(test::offset_in(memory, pool.allocate<double>(5)));
    seen.push_back(test::offset_in(memory, pool.allocate<char>(1, sp::align(128))));
    scope.rewind();
    seen.push_back(test::offset_in(memory, pool.allocate<float>(7)));
    seen.push_back(pool.peak());
    return seen;
  };
  Log log;
  Pool watched(memory);
  watched.watch(&log);
  Pool plain(memory);
  plain.watch(nullptr);
  const std::vector<std::size_t> expected{0, 16, 128, 16, 144};
  CHECK(offsets(watched) == expected);
  CHECK(offsets(plain) == expected);
}

TEST_CASE("an observer does not see what fails nor blocks without elements") {
  alignas(4096) std::byte memory[64];
  Log log;
  Pool pool(memory);
  watch_only(pool, {&log});
  log.lines.clear();
  (void)pool.allocate<float>(0, "empty");
  (void)pool.allocate<float>(0, sp::align(64), "empty");
  (void)pool.try_allocate<float>(0);
  CHECK(!pool.try_allocate<std::byte>(65));
  CHECK_THROWS_AS(pool.allocate<std::byte>(1, sp::align(3)), sp::ApiMisuse);
  CHECK(log.lines.empty());
}

TEST_CASE("an observer is told of an overflow and may add to it") {
  struct Adds : sp::PoolObserver {
    void on_overflow(const sp::PoolView&, sp::Overflow& o) override {
      o.layout_bytes = 4321;
      o.largest[0] = {"big", 48};
    }
  } adds;
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  watch_only(pool, {&adds});
  const std::string text = test::text_of<sp::ScratchOverflow>([&] { (void)pool.allocate<std::byte>(65); });
  CHECK(test::missing_from(text, {"the whole layout needs 4321", "big 48"}).empty());
}

TEST_CASE("an observer may be given to the constructor, and nobody by null") {
  alignas(4096) std::byte memory[64];
  Log log;
  Pool watched(memory, 64, &log);
  Pool also(std::span<std::byte>(memory), &log);
  CHECK(log.lines == Lines{"attach", "attach"});
  CHECK(log.last_view.pool == &also);
  (void)watched.allocate<std::byte>(1);
  CHECK(log.lines.size() == 3);
  log.lines.clear();
  sp::BumpAllocator<test::DynamicQuantum> dynamic(memory, 64, 32, &log);
  sp::BumpAllocator<test::DynamicQuantum> from_span(std::span<std::byte>(memory), 64, &log);
  CHECK(log.lines == Lines{"attach", "attach"});
  CHECK(log.last_view.quantum == 64);
  const Pool alone(memory, 64, nullptr);
  CHECK(alone.capacity() == 64);
}

TEST_CASE("several observers are called in the order in which they came") {
  static std::string order;
  struct Named : sp::PoolObserver {
    char name = '?';
    explicit Named(char c) : name(c) {}
    void on_attach(const sp::PoolView&) override { (order += name) += 'a'; }
    void before_allocate(const sp::PoolView&, const sp::Block&) override { (order += name) += '?'; }
    void on_allocate(const sp::PoolView&, const sp::Block&) override { (order += name) += 'b'; }
    void on_save(const sp::PoolView&, const sp::SavePointEvent&) override { (order += name) += 's'; }
    void on_rewind(const sp::PoolView&, const sp::SavePointEvent&) override { (order += name) += 'r'; }
    void on_overflow(const sp::PoolView&, sp::Overflow&) override { (order += name) += 'o'; }
    void on_detach(const sp::PoolView&) override { (order += name) += 'd'; }
  } x('x'), y('y'), z('z');
  order.clear();
  alignas(4096) std::byte memory[64];
  {
    Pool pool(memory);
    watch_only(pool, {&x, &y, &z});
    order += ' ';
    const auto at = pool.save();
    order += ' ';
    (void)pool.allocate<std::byte>(1);
    order.insert(order.size() - 6, " ");
    order += ' ';
    CHECK_THROWS_AS(pool.allocate<std::byte>(65), sp::ScratchOverflow);
    order += ' ';
    pool.rewind(at);
    order += ' ';
  }
  // All are asked before any is told.
  CHECK(order == "xayaza xsyszs x?y?z? xbybzb xoyozo xryrzr xdydzd");
}

TEST_CASE("a pool holds four observers and refuses a fifth") {
  Log logs[5];
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  pool.watch(nullptr);
  for (int i = 0; i < 4; ++i) pool.watch(&logs[i]);
  CHECK_THROWS_AS(pool.watch(&logs[4]), sp::ApiMisuse);
  CHECK(logs[4].lines.empty());
  (void)pool.allocate<std::byte>(1);
  for (int i = 0; i < 4; ++i) CHECK(logs[i].lines.size() == 2);
  CHECK(logs[4].lines.empty());
}

TEST_CASE("observers come and go only while the pool is empty") {
  Log log;
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  pool.watch(nullptr);
  SECTION("not with a block") {
    (void)pool.allocate<std::byte>(20);
    const auto before = test::figures(pool);
    const std::string text = test::text_of<sp::ApiMisuse>([&] { pool.watch(&log); });
    CHECK(test::missing_from(text, {"32", "0", "not empty"}).empty());
    CHECK_THROWS_AS(pool.watch(nullptr), sp::ApiMisuse);
    CHECK(test::figures(pool) == before);
  }
  SECTION("not with a save-point") {
    const auto at = pool.save();
    const std::string text = test::text_of<sp::ApiMisuse>([&] { pool.watch(&log); });
    CHECK(test::missing_from(text, {"depth 1", "not empty"}).empty());
    pool.rewind(at);
  }
  CHECK(log.lines.empty());
  pool.reset();
  pool.watch(&log);
  CHECK(log.lines == Lines{"attach"});
}

TEST_CASE("without an observer left a pool is as fast and as tight as it was") {
  Log log;
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  watch_only(pool, {&log});
  pool.watch(nullptr);
  CHECK(log.lines == Lines{"attach", "detach"});
  (void)pool.allocate<std::byte>(64);
  CHECK_THROWS_AS(pool.allocate<std::byte>(1), sp::ScratchOverflow);
  pool.reset();
  CHECK(log.lines.size() == 2);
}

TEST_CASE("an observer that refuses a block beforehand leaves the pool and the other observers as they were") {
  struct Refuses : sp::PoolObserver {
    bool armed = false;
    void before_allocate(const sp::PoolView&, const sp::Block& block) override {
      if (armed) throw std::runtime_error(block.label);
    }
  } refuses;
  Log log;
  alignas(4096) std::byte memory[128];
  Pool pool(memory);
  watch_only(pool, {&log, &refuses});  // the log comes first, and still is told of nothing
  (void)pool.allocate<std::byte>(1, "first");
  const auto before = test::figures(pool);
  const auto told = log.lines.size();
  refuses.armed = true;
  CHECK(test::text_of<std::runtime_error>([&] { (void)pool.allocate<std::byte>(1, "no"); }) == "no");
  CHECK_THROWS_AS(pool.try_allocate<std::byte>(1), std::runtime_error);
  CHECK_THROWS_AS(pool.allocate<std::byte>(1, sp::align(64)), std::runtime_error);
  CHECK(test::figures(pool) == before);
  CHECK(log.lines.size() == told);
  refuses.armed = false;
  (void)pool.allocate<std::byte>(1, "next");
  CHECK(log.lines.back() == "allocate next at 16 bytes 1 of 16 align 16 depth 0 serial 1");
}

TEST_CASE("an observer that throws from on_allocate leaves the pool as it was") {
  struct Throws : sp::PoolObserver {
    bool armed = false;
    void on_allocate(const sp::PoolView&, const sp::Block&) override {
      if (armed) throw std::runtime_error("no");
    }
  } throws;
  Log log;
  alignas(4096) std::byte memory[128];
  Pool pool(memory);
  watch_only(pool, {&throws, &log});
  const auto at = pool.save();
  (void)pool.allocate<std::byte>(1);
  const auto before = test::figures(pool);
  throws.armed = true;
  CHECK_THROWS_AS(pool.allocate<std::byte>(1), std::runtime_error);
  CHECK_THROWS_AS(pool.allocate<std::byte>(1, sp::align(64)), std::runtime_error);
  CHECK_THROWS_AS(pool.try_allocate<std::byte>(1), std::runtime_error);
  CHECK(test::figures(pool) == before);
  throws.armed = false;
  CHECK(test::offset_in(memory, pool.allocate<std::byte>(1, "next")) == 16);
  CHECK(log.lines.back() == "allocate next at 16 bytes 1 of 16 align 16 depth 1 serial 1");
  pool.rewind(at);
}

TEST_CASE("a measuring pool does not note the alignment of a block that an observer refused") {
  struct Throws : sp::PoolObserver {
    void on_allocate(const sp::PoolView&, const sp::Block&) override { throw std::runtime_error("no"); }
  } throws;
  Pool pool = Pool::measuring();
  watch_only(pool, {&throws});
  CHECK_THROWS_AS(pool.allocate<std::byte>(1, sp::align(256)), std::runtime_error);
  CHECK(pool.requirement() == sp::Requirement{0, 16});
}

TEST_CASE("an observer that throws from on_save opens no save-point") {
  struct Throws : sp::PoolObserver {
    void on_save(const sp::PoolView&, const sp::SavePointEvent&) override { throw std::runtime_error("no"); }
  } throws;
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  watch_only(pool, {&throws});
  CHECK_THROWS_AS(pool.save(), std::runtime_error);
  CHECK_THROWS_AS(sp::ScratchScope{pool}, std::runtime_error);
  CHECK(pool.depth() == 0);
}

TEST_CASE("an observer that throws from on_attach is not attached") {
  struct Throws : sp::PoolObserver {
    void on_attach(const sp::PoolView&) override { throw std::runtime_error("no"); }
    void on_allocate(const sp::PoolView&, const sp::Block&) override { FAIL("not attached"); }
  } throws;
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  pool.watch(nullptr);
  CHECK_THROWS_AS(pool.watch(&throws), std::runtime_error);
  CHECK(pool.allocate<std::byte>(1).size() == 1);
}

TEST_CASE("an observer that overrides nothing is a no-op") {
  struct Nothing : sp::PoolObserver {
  } nothing;
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  watch_only(pool, {&nothing});
  {
    sp::ScratchScope scope(pool);
    const auto a = sp::tensor<char>(pool, 4);
    const auto b = sp::tensor<char>(pool, 4);
    a(0) = 'a';
    sp::copy_to(pool, b, a);
    CHECK(b(0) == 'a');
    CHECK_THROWS_AS(pool.allocate<std::byte>(65), sp::ScratchOverflow);
  }
  CHECK(pool.used() == 0);
}
