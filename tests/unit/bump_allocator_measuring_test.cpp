// SPDX-License-Identifier: MIT
// A pool that measures.
#include <scratchpad/bump_allocator.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/death.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::missing_from;
using test::text_of;
using Pool = sp::BumpAllocator<test::Tcm>;

namespace {
struct alignas(64) Line {
  std::byte bytes[64];
};
constexpr bool wide = sizeof(std::size_t) == 8;
}  // namespace

TEST_CASE("a fresh measuring pool needs nothing") {
  const Pool pool = Pool::measuring();
  CHECK(pool.is_measuring());
  CHECK(pool.used() == 0);
  CHECK(pool.peak() == 0);
  CHECK(pool.required_bytes() == 0);
  CHECK(pool.requirement() == sp::Requirement{0, 16});
}

TEST_CASE("a measuring pool counts the blocks that a serving pool would hand out") {
  Pool pool = Pool::measuring();
  CHECK(pool.allocate<char>(3).size() == 3);
  (void)pool.allocate<double>(3);
  CHECK(pool.used() == 48);
  CHECK(pool.required_bytes() == 48);
  CHECK(pool.requirement() == sp::Requirement{48, 16});
}

TEST_CASE("a measuring pool notes the coarsest alignment and not the last") {
  Pool pool = Pool::measuring();
  (void)pool.allocate<char>(1);
  (void)pool.allocate<char>(1, sp::align(256));  // at 256
  (void)pool.allocate<Line>(1);                  // at 320
  CHECK(pool.used() == 384);
  CHECK(pool.requirement() == sp::Requirement{384, 256});
  CHECK(pool.required_bytes() == 624);  // 384 + 256 - 16
}

TEST_CASE("a type above the quantum counts as an alignment that was asked for") {
  Pool pool = Pool::measuring();
  (void)pool.allocate<Line>(1);
  CHECK(pool.requirement() == sp::Requirement{64, 64});
  CHECK(pool.required_bytes() == 112);
}

TEST_CASE("an alignment is noted although its scope has ended") {
  Pool pool = Pool::measuring();
  const auto at = pool.save();
  (void)pool.allocate<char>(1, sp::align(128));
  pool.rewind(at);
  (void)pool.allocate<char>(40);
  CHECK(pool.requirement() == sp::Requirement{48, 128});
}

TEST_CASE("no elements raise no alignment") {
  Pool pool = Pool::measuring();
  (void)pool.allocate<Line>(0);
  (void)pool.allocate<char>(0, sp::align(4096));
  (void)pool.try_allocate<Line>(0);
  CHECK(pool.requirement() == sp::Requirement{0, 16});
}

TEST_CASE("measuring takes the most that is in use at one time and not the sum") {
  Pool pool = Pool::measuring();
  (void)pool.allocate<std::byte>(32);
  for (const std::size_t bytes : {100U, 200U, 48U}) {
    const auto at = pool.save();
    (void)pool.allocate<std::byte>(bytes);
    pool.rewind(at);
  }
  CHECK(pool.used() == 32);
  CHECK(pool.required_bytes() == 240);  // 32 + 208
}

TEST_CASE("a measuring pool has no capacity and says what to ask instead") {
  Pool pool = Pool::measuring();
  (void)pool.allocate<std::byte>(20);
  const auto before = test::figures(pool);
  CHECK(missing_from(text_of<sp::ApiMisuse>([&] { (void)pool.capacity(); }), {"capacity()", "32", "required_bytes()"})
            .empty());
  CHECK(missing_from(text_of<sp::ApiMisuse>([&] { (void)pool.remaining(); }), {"remaining()", "32", "required_bytes()"})
            .empty());
  CHECK(test::figures(pool) == before);
}

TEST_CASE("a measuring pool forgets all it measured at a reset") {
  Pool pool = Pool::measuring();
  (void)pool.allocate<std::byte>(100, sp::align(256));
  pool.reset();
  CHECK(pool.requirement() == sp::Requirement{0, 16});
  CHECK(pool.peak() == 0);
  (void)pool.allocate<std::byte>(1);
  CHECK(pool.required_bytes() == 16);
}

TEST_CASE("pointers handed out while measuring are not null and aligned as asked") {
  Pool pool = Pool::measuring();
  const auto a = pool.allocate<float>(1);
  const auto b = pool.allocate<Line>(1);
  const auto c = pool.allocate<char>(1, sp::align(65'536));
  const auto none = pool.allocate<float>(0);
  const auto d = pool.try_allocate<float>(1);
  CHECK(a.data() != nullptr);
  CHECK(none.data() != nullptr);
  CHECK(d->data() != nullptr);
  CHECK(test::is_aligned(a.data(), 16));
  CHECK(test::is_aligned(b.data(), 64));
  CHECK(test::is_aligned(c.data(), 65'536));
  CHECK(test::is_aligned(none.data(), 16));
  CHECK(static_cast<void*>(a.data()) != static_cast<void*>(b.data()));
}

TEST_CASE("the pointers of a measuring pool lie as far apart as the blocks will") {
  Pool pool = Pool::measuring();
  const auto a = pool.allocate<float>(5);
  const auto b = pool.allocate<float>(5);
  CHECK(test::offset_in(a.data(), b) == 32);
}

#if TEST_HAS_DEATH
TEST_CASE("a pointer handed out while measuring faults when it is used") {
  if (!wide) return;
  Pool pool = Pool::measuring();
  const auto block = pool.allocate<int>(1);
  volatile int* const use = block.data();
  const auto read = test::death_of([&] { std::_Exit(*use == 0 ? 1 : 2); });
  const auto write = test::death_of([&] { *use = 1; });
  // A sanitizer may turn the signal into an exit code of its own; a child that got through would have another.
  CHECK((read.signal == SIGSEGV || read.signal == SIGBUS || (read.signal == 0 && read.exit_code > 2)));
  CHECK((write.signal == SIGSEGV || write.signal == SIGBUS || write.exit_code != test::Death::survived));
}
#endif

TEST_CASE("measuring always succeeds, also for try_allocate") {
  if (!wide) return;
  Pool pool = Pool::measuring();
  CHECK(pool.try_allocate<std::byte>(std::size_t{1} << 53).has_value());
  CHECK(pool.try_allocate<Line>(1).has_value());
  CHECK(pool.required_bytes() == (std::size_t{1} << 53) + 64 + 48);
}

TEST_CASE("the region that can be measured is 2^54 bytes, to the last") {
  if (!wide) return;
  constexpr std::size_t region = std::size_t{1} << 54;
  Pool pool = Pool::measuring();
  (void)pool.allocate<std::byte>(region - 16);
  (void)pool.allocate<std::byte>(16);
  CHECK(pool.required_bytes() == region);
  const auto before = test::figures(pool);
  CHECK_THROWS_AS(pool.allocate<std::byte>(1), sp::ScratchOverflow);
  CHECK(!pool.try_allocate<std::byte>(1));
  CHECK(test::figures(pool) == before);
}

TEST_CASE("an overflow while measuring says that it measures and over how much") {
  if (!wide) return;
  Pool pool = Pool::measuring();
  (void)pool.allocate<std::byte>(1);
  try {
    (void)pool.allocate<std::byte>(std::size_t{1} << 54, sp::align(64), "huge");
    FAIL("no overflow");
  } catch (const sp::ScratchOverflow& error) {
    const sp::Overflow& o = error.overflow();
    CHECK(o.measuring);
    CHECK(o.capacity == std::size_t{1} << 54);
    CHECK(o.used == 16);
    CHECK(o.padding == 48);
    CHECK(o.missing == 64);
    CHECK(std::string(error.what()).find("that can be measured") != std::string::npos);
  }
}

TEST_CASE("a coarse alignment is measured without wrapping") {
  if (!wide) return;
  Pool pool = Pool::measuring();
  (void)pool.allocate<std::byte>(1, sp::align(std::size_t{1} << 63));
  CHECK(pool.requirement() == sp::Requirement{16, std::size_t{1} << 63});
  CHECK(pool.required_bytes() == std::size_t{1} << 63);
  CHECK_THROWS_AS(pool.allocate<std::byte>(1, sp::align(std::size_t{1} << 63)), sp::ScratchOverflow);
}

TEST_CASE("a misused measuring pool is as it was") {
  Pool pool = Pool::measuring();
  (void)pool.allocate<std::byte>(1);
  (void)pool.save();
  const auto before = test::figures(pool);
  CHECK_THROWS_AS(pool.allocate<std::byte>(1, sp::align(24)), sp::ApiMisuse);
  CHECK_THROWS_AS(pool.rewind(sp::SavePoint{}), sp::ApiMisuse);
  CHECK_THROWS_AS(pool.reset(), sp::ApiMisuse);
  CHECK(test::figures(pool) == before);
}

TEST_CASE("a measuring pool of a space without bounds checks still checks") {
  if (!wide) return;
  auto pool = sp::BumpAllocator<test::Unchecked>::measuring();
  (void)pool.allocate<std::byte>(std::size_t{1} << 53);
  CHECK_THROWS_AS(pool.allocate<double>(std::size_t{1} << 61), sp::ScratchOverflow);
  CHECK_THROWS_AS(pool.allocate<std::byte>((std::size_t{1} << 53) + 1), sp::ScratchOverflow);
  CHECK(pool.required_bytes() == std::size_t{1} << 53);
}

TEST_CASE("measuring runs in a constant expression, where pointers are null") {
  constexpr bool ok = [] {
    Pool pool = Pool::measuring();
    const auto a = pool.allocate<float>(5);
    const auto at = pool.save();
    (void)pool.allocate<Line>(2);
    pool.rewind(at);
    return a.data() == nullptr && a.size() == 5 && pool.requirement() == sp::Requirement{192, 64} &&
           pool.required_bytes() == 240;
  }();
  STATIC_REQUIRE(ok);
}
