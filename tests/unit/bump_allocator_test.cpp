// SPDX-License-Identifier: MIT
// A pool that serves. Measuring: bump_allocator_measuring_test.cpp; other quanta: bump_allocator_quantum_test.cpp.
#include <scratchpad/bump_allocator.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/constant.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::missing_from;
using test::offset_in;
using test::text_of;
using Pool = sp::BumpAllocator<test::Tcm>;

namespace {

struct alignas(64) Line {
  std::byte bytes[64];
};
struct Plain {
  int number;
  char text[3];
};
struct WithDestructor {
  ~WithDestructor() {}
};
struct WithCopy {
  WithCopy(const WithCopy&) {}
};

void* at_address(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

// The fields of the overflow that `call` throws.
template <class Call>
sp::Overflow overflow_of(Call call) {
  try {
    call();
  } catch (const sp::ScratchOverflow& error) {
    return error.overflow();
  }
  FAIL("no overflow");
  return sp::Overflow();
}

}  // namespace

// ---- what a block can be -------------------------------------------------------------------------------------------

TEST_CASE("a block holds what can be copied as bytes and needs no destructor") {
  STATIC_REQUIRE(sp::ScratchElement<float>);
  STATIC_REQUIRE(sp::ScratchElement<std::byte>);
  STATIC_REQUIRE(sp::ScratchElement<Plain>);
  STATIC_REQUIRE(sp::ScratchElement<Line>);
  STATIC_REQUIRE(sp::ScratchElement<float*>);
  STATIC_REQUIRE(sp::ScratchElement<std::complex<double>>);
  STATIC_REQUIRE(!sp::ScratchElement<std::string>);
  STATIC_REQUIRE(!sp::ScratchElement<std::vector<int>>);
  STATIC_REQUIRE(!sp::ScratchElement<WithDestructor>);
  STATIC_REQUIRE(!sp::ScratchElement<WithCopy>);
  STATIC_REQUIRE(!sp::ScratchElement<const float>);
  STATIC_REQUIRE(!sp::ScratchElement<volatile float>);
  STATIC_REQUIRE(!sp::ScratchElement<float&>);
  STATIC_REQUIRE(!sp::ScratchElement<void>);
}

TEST_CASE("a pool stays where it was made") {
  STATIC_REQUIRE(!std::is_copy_constructible_v<Pool>);
  STATIC_REQUIRE(!std::is_move_constructible_v<Pool>);
  STATIC_REQUIRE(!std::is_copy_assignable_v<Pool>);
  STATIC_REQUIRE(!std::is_move_assignable_v<Pool>);
}

// ---- from which memory ---------------------------------------------------------------------------------------------

TEST_CASE("a pool serves from an array, a span, or a pointer and bytes") {
  alignas(16) std::byte array[64];
  alignas(16) std::array<std::byte, 64> std_array;
  Pool a(array);
  Pool b(std_array);
  Pool c(std::span<std::byte>(array, 32));
  Pool d(array, 48);
  CHECK(a.capacity() == 64);
  CHECK(b.capacity() == 64);
  CHECK(c.capacity() == 32);
  CHECK(d.capacity() == 48);
  CHECK(a.allocate<std::byte>(1).data() == array);
  CHECK(b.allocate<std::byte>(1).data() == std_array.data());
}

TEST_CASE("a fresh pool is empty") {
  alignas(16) std::byte memory[64];
  const Pool pool(memory);
  CHECK(pool.used() == 0);
  CHECK(pool.remaining() == 64);
  CHECK(pool.capacity() == 64);
  CHECK(pool.peak() == 0);
  CHECK(pool.depth() == 0);
  CHECK(pool.save_points().empty());
  CHECK(!pool.is_measuring());
  CHECK(pool.quantum() == 16);
}

TEST_CASE("null with no bytes is an empty pool that serves nothing but empty blocks") {
  Pool pool(nullptr, 0);
  CHECK(pool.capacity() == 0);
  CHECK(pool.remaining() == 0);
  CHECK(pool.allocate<float>(0).empty());
  CHECK(pool.try_allocate<float>(0).has_value());
  CHECK(!pool.try_allocate<std::byte>(1));
  CHECK_THROWS_AS(pool.allocate<std::byte>(1), sp::ScratchOverflow);
  CHECK(pool.used() == 0);
}

TEST_CASE("null with bytes is refused") {
  const std::string text = text_of<sp::ApiMisuse>([] { Pool pool(nullptr, 48); });
  CHECK(missing_from(text, {"null", "48", "'tcm'"}).empty());
}

TEST_CASE("a base off the quantum is refused with the address and the cure") {
  const std::string text = text_of<sp::ApiMisuse>([] { Pool pool(at_address(0x1009), 64); });
  // 0x1009 is 9 past a multiple of 16: 7 further on is one.
  CHECK(missing_from(text, {"0x1009", "'tcm'", "16", "7", "alignas(16)"}).empty());
  CHECK_THROWS_AS(Pool(at_address(0x1008), 64), sp::ApiMisuse);
  CHECK_THROWS_AS(Pool(at_address(0x1001), 0), sp::ApiMisuse);
}

TEST_CASE("more bytes than any object has are refused") {
  constexpr std::size_t too_many = std::size_t{1} << (std::numeric_limits<std::size_t>::digits - 1);
  const std::string text =
      text_of<sp::ApiMisuse>([] { sp::BumpAllocator<test::Far> pool(at_address(4096), too_many); });
  CHECK(missing_from(text, {std::to_string(too_many), "'far'"}).empty());
  const sp::BumpAllocator<test::Far> largest(at_address(4096), too_many - 1);
  CHECK(largest.capacity() == too_many - 16);
}

TEST_CASE("the capacity is rounded down to the quantum") {
  alignas(16) std::byte memory[64];
  CHECK(Pool(memory, 15).capacity() == 0);
  CHECK(Pool(memory, 16).capacity() == 16);
  CHECK(Pool(memory, 63).capacity() == 48);
}

// ---- allocate ------------------------------------------------------------------------------------------------------

TEST_CASE("blocks lie one behind the other on multiples of the quantum") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  CHECK(offset_in(memory, pool.allocate<char>(3)) == 0);
  CHECK(pool.used() == 16);
  CHECK(offset_in(memory, pool.allocate<double>(3)) == 16);
  CHECK(pool.used() == 48);
  CHECK(offset_in(memory, pool.allocate<Plain>(4)) == 48);  // 32 bytes
  CHECK(offset_in(memory, pool.allocate<std::byte>(17)) == 80);
  CHECK(pool.used() == 112);
  CHECK(pool.remaining() == 144);
  CHECK(pool.peak() == 112);
}

TEST_CASE("a block has the elements that were asked for") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  const std::span<float> block = pool.allocate<float>(5, "five");
  CHECK(block.size() == 5);
  CHECK(block.size_bytes() == 20);
}

TEST_CASE("a label takes part in nothing") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  (void)pool.allocate<float>(1, "a");
  (void)pool.allocate<float>(1, sp::align(16), "b");
  (void)pool.try_allocate<float>(1, "c");
  CHECK(pool.used() == 48);
}

TEST_CASE("a type above the quantum is aligned by address") {
  alignas(4096) std::byte memory[512];
  Pool pool(memory + 16, 496);
  const auto first = pool.allocate<Line>(1);
  CHECK(offset_in(memory, first) == 64);  // 48 after the base
  CHECK(pool.used() == 112);
  (void)pool.allocate<char>(1);
  const auto second = pool.allocate<Line>(2);
  CHECK(offset_in(memory, second) == 192);
  CHECK(pool.used() == 304);
}

TEST_CASE("an alignment that is asked for is met by address, on top of the type's") {
  alignas(4096) std::byte memory[1024];
  Pool pool(memory + 32, 992);
  CHECK(offset_in(memory, pool.allocate<char>(1, sp::align(256))) == 256);
  CHECK(offset_in(memory, pool.allocate<Line>(1, sp::align(32))) == 320);   // the type asks for 64
  CHECK(offset_in(memory, pool.allocate<Line>(1, sp::align(128))) == 384);  // 384 is the next multiple of both
  CHECK(pool.used() == 416);                                                // 448 less the 32 in front of the base
}

TEST_CASE("an overflow fails, says what is missing, and changes nothing") {
  alignas(4096) std::byte memory[128];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(20);
  const auto at = pool.save();
  (void)pool.allocate<std::byte>(64);
  pool.rewind(at);
  (void)pool.save();
  const auto before = test::figures(pool);

  // At 32, aligned to 64: 32 of padding. 9 doubles are 72 bytes, 80 rounded up; 96 are left, so 16 are missing.
  const sp::Overflow o = overflow_of([&] { (void)pool.allocate<double>(9, sp::align(64), "x"); });
  CHECK(o.space == "tcm");
  CHECK(std::string(o.label) == "x");
  CHECK(o.elements == 9);
  CHECK(o.element_bytes == 8);
  CHECK(o.bytes == 72);
  CHECK(o.reserved == 80);
  CHECK(o.padding == 32);
  CHECK(o.used == 32);
  CHECK(o.capacity == 128);
  CHECK(o.missing == 16);
  CHECK(o.peak == 96);
  CHECK(o.depth == 1);
  CHECK(!o.measuring);
  CHECK(o.layout_bytes == 0);
  CHECK(o.largest[0].bytes == 0);
  CHECK(test::figures(pool) == before);
  CHECK(offset_in(memory, pool.allocate<double>(8, sp::align(64))) == 64);  // what just fits still fits
}

TEST_CASE("an overflow gives the peak that is now, without waiting for a rewind") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(40);
  const sp::Overflow o = overflow_of([&] { (void)pool.allocate<std::byte>(17); });
  CHECK(o.peak == 48);
  CHECK(o.missing == 16);
}

TEST_CASE("an overflow of a product is reported as the largest size and not a wrapped one") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  constexpr std::size_t largest = static_cast<std::size_t>(-1);
  const sp::Overflow o = overflow_of([&] { (void)pool.allocate<double>(largest / 4); });
  CHECK(o.elements == largest / 4);
  CHECK(o.bytes == largest);
  CHECK(o.reserved == largest);
  CHECK(o.missing == largest - 64);
  const sp::Overflow p = overflow_of([&] { (void)pool.allocate<std::byte>(largest - 3); });
  CHECK(p.bytes == largest - 3);
  CHECK(p.reserved == largest);
}

TEST_CASE("an overflow asks for exactly what makes the request fit") {
  // 70 bytes, 80 rounded up, after a block of 16 and aligned to 64: they end at 144.
  alignas(4096) std::byte memory[144];
  const std::size_t capacity = GENERATE(16U, 48U, 64U, 80U, 128U);
  const auto request = [](Pool& pool) {
    (void)pool.allocate<std::byte>(16);
    (void)pool.allocate<std::byte>(70, sp::align(64));
  };
  Pool small(memory, capacity);
  std::size_t missing = 0;
  try {
    request(small);
  } catch (const sp::ScratchOverflow& error) {
    missing = error.overflow().missing;
  }
  CHECK(missing == 144 - capacity);
  Pool tight(memory, capacity + missing - 1);
  CHECK_THROWS_AS(request(tight), sp::ScratchOverflow);
  Pool enough(memory, capacity + missing);
  request(enough);
  CHECK(enough.remaining() == 0);
}

TEST_CASE("a refused alignment is named, with the label, and changes nothing") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(1);
  const auto before = test::figures(pool);
  const std::string text = text_of<sp::ApiMisuse>([&] { (void)pool.allocate<std::byte>(1, sp::align(24), "weights"); });
  CHECK(missing_from(text, {"24", "'weights'"}).empty());
  CHECK_THROWS_AS(pool.allocate<std::byte>(0, sp::align(24)), sp::ApiMisuse);  // no elements are no excuse
  CHECK(test::figures(pool) == before);
}

TEST_CASE("no elements: an empty block, nothing consumed, no padding") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(1);
  const auto before = test::figures(pool);
  CHECK(pool.allocate<float>(0).empty());
  CHECK(pool.allocate<Line>(0).empty());
  CHECK(pool.allocate<float>(0, sp::align(4096)).empty());
  CHECK(pool.try_allocate<Line>(0)->empty());
  CHECK(pool.allocate<float>(0).data() != nullptr);
  CHECK(test::figures(pool) == before);
}

TEST_CASE("no elements fit into a pool that is full") {
  alignas(4096) std::byte memory[16];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(16);
  CHECK(pool.allocate<float>(0).empty());
  CHECK(pool.allocate<float>(0, sp::align(64)).empty());
  CHECK(pool.used() == 16);
}

// ---- try_allocate --------------------------------------------------------------------------------------------------

TEST_CASE("try_allocate hands out what allocate would") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const std::optional<std::span<float>> a = pool.try_allocate<float>(5);
  REQUIRE(a.has_value());
  CHECK(a->size() == 5);
  CHECK(offset_in(memory, *a) == 0);
  const auto b = pool.try_allocate<Line>(1);
  REQUIRE(b.has_value());
  CHECK(offset_in(memory, *b) == 64);
  CHECK(pool.used() == 128);
}

TEST_CASE("try_allocate has nothing where allocate would overflow, and changes nothing") {
  alignas(4096) std::byte memory[128];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(16);
  const auto before = test::figures(pool);
  CHECK(!pool.try_allocate<std::byte>(113));
  CHECK(!pool.try_allocate<Line>(2));
  CHECK(!pool.try_allocate<double>(std::size_t{1} << 61));
  CHECK(!pool.try_allocate<std::byte>(static_cast<std::size_t>(-1)));
  CHECK(test::figures(pool) == before);
  CHECK(pool.try_allocate<std::byte>(112).has_value());
}

// ---- save, rewind, reset -------------------------------------------------------------------------------------------

TEST_CASE("a rewind gives back what came after its save and keeps the peak") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(16);
  const auto at = pool.save();
  CHECK(pool.depth() == 1);
  (void)pool.allocate<std::byte>(100);
  CHECK(pool.used() == 128);
  pool.rewind(at);
  CHECK(pool.used() == 16);
  CHECK(pool.depth() == 0);
  CHECK(pool.peak() == 128);
  CHECK(pool.remaining() == 240);
  (void)pool.allocate<std::byte>(16);
  CHECK(pool.peak() == 128);
  (void)pool.allocate<std::byte>(112);
  CHECK(pool.peak() == 144);
}

TEST_CASE("the open save-points are listed, the outermost first") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.save();
  (void)pool.allocate<std::byte>(16);
  (void)pool.save();
  (void)pool.allocate<std::byte>(32);
  (void)pool.save();
  const auto offsets = pool.save_points();
  REQUIRE(offsets.size() == 3);
  CHECK((offsets[0] == 0 && offsets[1] == 16 && offsets[2] == 48));
  CHECK(pool.depth() == 3);
}

TEST_CASE("a rewind in the wrong order is refused and changes nothing") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto a = pool.save();
  (void)pool.allocate<std::byte>(16);
  const auto b = pool.save();
  const auto c = pool.save();
  const auto before = test::figures(pool);
  const std::string text = text_of<sp::ApiMisuse>([&] { pool.rewind(a); });
  CHECK(missing_from(text, {"depth 1", "2 opened after"}).empty());
  CHECK_THROWS_AS(pool.rewind(b), sp::ApiMisuse);
  CHECK(test::figures(pool) == before);
  pool.rewind(c);
  pool.rewind(b);
  pool.rewind(a);
  CHECK(pool.depth() == 0);
}

TEST_CASE("a rewind done twice is refused and changes nothing") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto a = pool.save();
  pool.rewind(a);
  (void)pool.allocate<std::byte>(16);
  const auto before = test::figures(pool);
  const std::string text = text_of<sp::ApiMisuse>([&] { pool.rewind(a); });
  CHECK(missing_from(text, {"depth 1", "0 are open", "stamp " + std::to_string(a.stamp)}).empty());
  CHECK(test::figures(pool) == before);
}

TEST_CASE("a stale save-point is refused although its level is open again") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto stale = pool.save();
  pool.rewind(stale);
  const auto fresh = pool.save();
  CHECK(fresh.depth == stale.depth);
  (void)pool.allocate<std::byte>(16);
  const auto before = test::figures(pool);
  CHECK_THROWS_AS(pool.rewind(stale), sp::ApiMisuse);
  CHECK(test::figures(pool) == before);
  pool.rewind(fresh);
}

TEST_CASE("a save-point of another pool is refused") {
  alignas(4096) std::byte memory[256];
  Pool one(memory);
  Pool other(memory);
  const auto of_one = one.save();
  const auto of_other = other.save();
  CHECK(of_one.stamp == of_other.stamp);
  const auto before = test::figures(one);
  CHECK_THROWS_AS(one.rewind(of_other), sp::ApiMisuse);
  CHECK_THROWS_AS(one.rewind(sp::SavePoint{}), sp::ApiMisuse);
  CHECK(test::figures(one) == before);
}

TEST_CASE("the pool itself is not a save-point that can be rewound") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(16);
  const auto before = test::figures(pool);
  CHECK_THROWS_AS(pool.rewind(pool.here()), sp::ApiMisuse);
  CHECK(test::figures(pool) == before);
}

TEST_CASE("one save-point more than the space allows is refused and changes nothing") {
  alignas(4096) std::byte memory[256];
  sp::BumpAllocator<test::MaxDepth<3>> pool(memory, 256, nullptr);  // a watched one has a path of its own, see below
  for (int i = 0; i < 3; ++i) {
    (void)pool.save();
    (void)pool.allocate<std::byte>(16);
  }
  const auto before = test::figures(pool);
  const std::string text = text_of<sp::ApiMisuse>([&] { (void)pool.save(); });
  CHECK(missing_from(text, {"3 are open", "max_depth is 3", "'host'"}).empty());
  CHECK(test::figures(pool) == before);
  pool.rewind(pool.here());
  CHECK(pool.save().depth == 3);
}

TEST_CASE("32 save-points are the default") {
  alignas(4096) std::byte memory[16];
  Pool pool(memory);
  for (int i = 0; i < 32; ++i) (void)pool.save();
  const std::string text = text_of<sp::ApiMisuse>([&] { (void)pool.save(); });
  CHECK(missing_from(text, {"32 are open", "max_depth is 32"}).empty());
  CHECK(pool.depth() == 32);
}

TEST_CASE("a watched pool has the same depth as any other") {
  struct Nothing : sp::PoolObserver {
  } nothing;
  alignas(4096) std::byte memory[16];
  sp::BumpAllocator<test::MaxDepth<2>> pool(memory, 16, &nothing);
  (void)pool.save();
  (void)pool.save();
  CHECK_THROWS_AS(pool.save(), sp::ApiMisuse);
  CHECK(pool.depth() == 2);
}

TEST_CASE("a reset needs every save-point closed and says how many are not") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  (void)pool.save();
  (void)pool.allocate<std::byte>(16);
  (void)pool.save();
  const auto before = test::figures(pool);
  const std::string text = text_of<sp::ApiMisuse>([&] { pool.reset(); });
  CHECK(missing_from(text, {"2 save-points", "'tcm'"}).empty());
  CHECK(test::figures(pool) == before);
}

// ---- is_live -------------------------------------------------------------------------------------------------------

TEST_CASE("a handle is live while its level is open and has not been rewound") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  const auto base = pool.here();
  const auto a = pool.save();
  const auto b = pool.save();
  CHECK((pool.is_live(base) && pool.is_live(a) && pool.is_live(b)));
  pool.rewind(b);
  CHECK((pool.is_live(base) && pool.is_live(a) && !pool.is_live(b)));
  pool.rewind(a);
  CHECK((pool.is_live(base) && !pool.is_live(a)));
  pool.reset();
  CHECK(!pool.is_live(base));
  CHECK(pool.is_live(pool.here()));
}

TEST_CASE("a handle belongs to the pool that it came from, alive or not") {
  alignas(4096) std::byte memory[64];
  Pool one(memory);
  Pool other(memory);
  const auto at = one.save();
  CHECK(one.is_origin_of(at));
  CHECK(!other.is_origin_of(at));
  CHECK(!other.is_live(at));
  one.rewind(at);
  CHECK(one.is_origin_of(at));
  CHECK(!one.is_origin_of(sp::SavePoint{}));
}

// ---- unchecked, constant expressions, figures ----------------------------------------------------------------------

TEST_CASE("a space without bounds checks hands out the same blocks") {
  using Exact = sp::BumpAllocator<test::Unchecked>;
  alignas(4096) std::byte memory[256];
  Exact pool(memory, 256);
  CHECK(offset_in(memory, pool.allocate<char>(3)) == 0);
  CHECK(offset_in(memory, pool.allocate<float>(5)) == 16);
  CHECK(offset_in(memory, pool.allocate<Line>(1)) == 64);
  CHECK(offset_in(memory, pool.allocate<char>(1, sp::align(128))) == 128);
  CHECK(pool.try_allocate<char>(1).has_value());
  CHECK(pool.used() == 160);
  CHECK_THROWS_AS(pool.allocate<char>(1, sp::align(24)), sp::ApiMisuse);
}

TEST_CASE("what only a measuring pool knows is refused by a pool that serves, with its state") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(20);
  CHECK(missing_from(text_of<sp::ApiMisuse>([&] { (void)pool.required_bytes(); }), {"required_bytes()", "32", "serves"})
            .empty());
  CHECK(missing_from(text_of<sp::ApiMisuse>([&] { (void)pool.requirement(); }), {"requirement()", "32", "serves"})
            .empty());
}

TEST_CASE("a serving pool runs in a constant expression, where there are no addresses") {
  CHECK(test::is_constant_and_true([] {
    Pool pool(nullptr, 128);
    const auto a = pool.allocate<float>(5);
    const auto at = pool.save();
    const auto b = pool.allocate<double>(1, sp::align(64));
    const bool carved = a.size() == 5 && a.data() == nullptr && b.data() == nullptr && pool.used() == 80;
    pool.rewind(at);
    const bool rewound = pool.used() == 32 && pool.peak() == 80 && pool.remaining() == 96;
    const bool full = !pool.try_allocate<std::byte>(97).has_value();
    pool.reset();
    return carved && rewound && full && pool.used() == 0;
  }));
}
