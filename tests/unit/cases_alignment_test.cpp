// SPDX-License-Identifier: MIT
// Faults that other allocators had: alignments, bases, exact fits, blocks without elements.
#include <scratchpad/core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "support/catch.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::is_aligned;
using test::missing_from;
using test::offset_in;
using test::text_of;
using Pool = sp::BumpAllocator<test::Tcm>;

namespace {

struct alignas(128) Wide128 {
  std::byte bytes[128];
};
// 1,024 bytes, aligned to 32.
struct alignas(32) Big {
  std::byte bytes[1024];
};

}  // namespace

TEST_CASE("an alignment that is no power of two is refused", "[case-5]") {
  alignas(4096) std::byte memory[64];
  Pool serving(memory);
  Pool measuring = Pool::measuring();
  const bool measures = GENERATE(false, true);
  Pool& pool = measures ? measuring : serving;
  (void)pool.allocate<std::byte>(1);
  const auto before = test::figures(pool);
  for (const std::size_t a : {std::size_t{0}, std::size_t{3}, std::size_t{24}, ~(~std::size_t{0} >> 1) + 1}) {
    const std::string text = text_of<sp::ApiMisuse>([&] { (void)pool.allocate<std::byte>(1, sp::align(a)); });
    CHECK(missing_from(text, {std::to_string(a)}).empty());
  }
  CHECK(test::figures(pool) == before);
}

TEST_CASE("an alignment below the quantum is lifted to it", "[case-5]") {
  alignas(4096) std::byte memory[64];
  Pool serving(memory);
  Pool measuring = Pool::measuring();
  const bool measures = GENERATE(false, true);
  Pool& pool = measures ? measuring : serving;
  const auto base = pool.allocate<std::byte>(1).data();
  CHECK(offset_in(base, pool.allocate<std::byte>(1, sp::align(1))) == 16);
  CHECK(offset_in(base, pool.allocate<std::byte>(1, sp::align(2))) == 32);
  CHECK(offset_in(base, pool.allocate<std::byte>(1, sp::align(4))) == 48);
  if (measures) CHECK(pool.requirement() == sp::Requirement{64, 16});
}

TEST_CASE("an aligned start past the end of the pool fails and leaves no wrapped figure", "[case-6]") {
  alignas(4096) std::byte memory[96];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(80);
  const auto before = test::figures(pool);
  CHECK_THROWS_AS(pool.allocate<std::byte>(1, sp::align(64)), sp::ScratchOverflow);  // would start at 128
  CHECK_THROWS_AS(pool.allocate<Wide128>(1), sp::ScratchOverflow);
  CHECK(!pool.try_allocate<Wide128>(1));
  CHECK(test::figures(pool) == before);
  CHECK(pool.remaining() == 16);
  (void)pool.allocate<std::byte>(16);
  CHECK(pool.remaining() == 0);
  CHECK_THROWS_AS(pool.allocate<std::byte>(1, sp::align(32)), sp::ScratchOverflow);
  CHECK(pool.remaining() == 0);
}

TEST_CASE("neighbours do not share a byte", "[case-8]") {
  alignas(4096) std::byte memory[96];
  Pool pool(memory);
  const auto a = pool.allocate<float>(10);
  const auto b = pool.allocate<float>(10);
  CHECK(offset_in(a.data(), b) == 48);
  std::fill(b.begin(), b.end(), 2.0F);
  std::fill(a.begin(), a.end(), 1.0F);
  for (const float x : b) CHECK(x == 2.0F);
}

TEST_CASE("everything is counted in bytes and not in elements", "[case-9]") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  CHECK(offset_in(memory, pool.allocate<double>(2)) == 0);
  CHECK(offset_in(memory, pool.allocate<double>(2)) == 16);
  CHECK(offset_in(memory, pool.allocate<double>(4)) == 32);
  CHECK(pool.remaining() == 0);
  CHECK_THROWS_AS(pool.allocate<std::byte>(1), sp::ScratchOverflow);
}

TEST_CASE("a capacity that is no multiple of the quantum hands out nothing beyond the last multiple", "[case-10]") {
  alignas(4096) std::byte memory[48];
  Pool pool(memory, 40);
  CHECK(pool.capacity() == 32);
  const auto last_used = [&](std::span<std::byte> block) { return offset_in(memory, block) + block.size(); };
  CHECK(last_used(pool.allocate<std::byte>(16)) == 16);
  CHECK_THROWS_AS(pool.allocate<std::byte>(17), sp::ScratchOverflow);
  CHECK(last_used(pool.allocate<std::byte>(16)) == 32);
  CHECK_THROWS_AS(pool.allocate<std::byte>(1), sp::ScratchOverflow);
}

TEST_CASE("rounding is part of the size that must fit", "[case-11]") {
  const auto layout = [](Pool& pool) {
    (void)pool.allocate<std::byte>(50);
    (void)pool.allocate<std::byte>(50);
  };
  CHECK(sp::workspace_bytes(layout) == 128);
  alignas(4096) std::byte memory[128];
  for (const std::size_t bytes : {100U, 113U, 127U}) {
    Pool pool(memory, bytes);
    CHECK_THROWS_AS(layout(pool), sp::ScratchOverflow);
    CHECK(pool.used() == 64);  // it was the second
  }
  Pool pool(memory, 128);
  layout(pool);
  CHECK(pool.remaining() == 0);
}

TEST_CASE("the base counts when an address is aligned", "[case-12]") {
  alignas(4096) std::byte memory[512];
  Pool pool(memory + 64, 448);
  const auto block = pool.allocate<Wide128>(1);
  CHECK(is_aligned(block.data(), 128));
  CHECK(offset_in(memory, block) == 128);
  CHECK(pool.used() == 192);
  Pool small(memory + 64, 176);  // it would end at 192
  CHECK_THROWS_AS(small.allocate<Wide128>(1), sp::ScratchOverflow);
  CHECK(small.used() == 0);
}

TEST_CASE("a base off the quantum is refused and loses no bytes in silence", "[case-12]") {
  alignas(4096) std::byte memory[80];
  const std::string text = text_of<sp::ApiMisuse>([&] { Pool pool(memory + 1, 64); });
  const std::string address = sp::detail::Message(sp::detail::Address{memory + 1}).c_str();
  CHECK(missing_from(text, {address, "16", "15 bytes further on"}).empty());
}

TEST_CASE("a device that reports its alignment in bits gets blocks that far apart in bytes", "[case-13]") {
  using Device = sp::BumpAllocator<test::DynamicQuantum>;
  const std::size_t reported_bits = 1024;
  const auto layout = [](Device& pool) {
    const auto a = pool.allocate<std::byte>(1);
    const auto b = pool.allocate<std::byte>(1);
    return offset_in(a.data(), b);
  };
  const std::size_t need = sp::workspace_bytes(layout, reported_bits / 8);
  CHECK(need == 256);
  alignas(4096) std::byte memory[256];
  Device pool(memory, need, 128);
  CHECK(layout(pool) == 128);
}

TEST_CASE("a layout measured with one quantum and served with a coarser one is caught", "[case-13]") {
  using Device = sp::BumpAllocator<test::DynamicQuantum>;
  const auto layout = [](Device& pool) {
    (void)pool.allocate<std::byte>(1);
    (void)pool.allocate<std::byte>(1);
  };
  const std::size_t measured_with_64 = sp::workspace_bytes(layout, 64);
  CHECK(measured_with_64 == 128);
  alignas(4096) std::byte memory[256];
  Device pool(memory, measured_with_64, 128);
  CHECK_THROWS_AS(layout(pool), sp::ScratchOverflow);
  CHECK(pool.used() == 128);
}

TEST_CASE("one coarse block is measured for its own base and for any base", "[case-14]") {
  const auto layout = [](Pool& pool) { (void)pool.allocate<Big>(1); };
  CHECK(sp::workspace_requirement(layout) == sp::Requirement{1024, 32});
  CHECK(sp::workspace_bytes(layout) == 1040);
  alignas(4096) static std::byte memory[1024 + 1040];
  for (std::size_t base = 0; base < 1024; base += 16) {
    Pool any(memory + base, 1040);
    layout(any);
    CHECK(any.used() == (base % 32 == 0 ? 1024U : 1040U));
    if (base % 32 != 0) continue;
    Pool aligned(memory + base, 1024);
    layout(aligned);
    CHECK(aligned.remaining() == 0);
  }
}

TEST_CASE("a callee's bytes that a caller hands on as plain bytes are always enough", "[case-14]") {
  const auto callee = [](Pool& pool) { (void)pool.allocate<Big>(1); };
  const auto plain = [&](Pool& pool) {
    (void)pool.allocate<std::byte>(1);
    Pool inner(pool.allocate<std::byte>(1040));
    callee(inner);
  };
  const auto aligned = [&](Pool& pool) {
    (void)pool.allocate<std::byte>(1);
    Pool inner(pool.allocate<std::byte>(1024, sp::align(32)));
    callee(inner);
  };
  alignas(4096) static std::byte memory[128 + 1072];
  for (std::size_t base = 0; base < 128; base += 16) {
    Pool a(memory + base, 1056);
    plain(a);
    CHECK(a.remaining() == 0);
    Pool b(memory + base, 1072);
    aligned(b);
    CHECK(b.depth() == 0);
  }
}

TEST_CASE("a first block without elements is not null, aligned, and costs nothing", "[case-15]") {
  alignas(4096) std::byte memory[64];
  Pool serving(memory);
  Pool measuring = Pool::measuring();
  const bool measures = GENERATE(false, true);
  Pool& pool = measures ? measuring : serving;
  const auto block = pool.allocate<float>(0);
  CHECK(block.empty());
  CHECK(block.data() != nullptr);
  CHECK(is_aligned(block.data(), alignof(float)));
  CHECK(pool.used() == 0);
  if (measures) CHECK(pool.required_bytes() == 0);
}
