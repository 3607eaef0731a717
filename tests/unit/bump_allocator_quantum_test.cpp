// SPDX-License-Identifier: MIT
// Quanta other than 16, known at compile time or at run time.
#include <scratchpad/bump_allocator.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "support/catch.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::missing_from;
using test::offset_in;
using test::Quantum;
using test::text_of;
using Dynamic = sp::BumpAllocator<test::DynamicQuantum>;

namespace {
struct alignas(64) Line {
  std::byte bytes[64];
};
}  // namespace

TEST_CASE("everything is a multiple of the space's quantum") {
  alignas(4096) std::byte memory[512];
  sp::BumpAllocator<Quantum<128>> pool(memory, 500);
  CHECK(pool.quantum() == 128);
  CHECK(pool.capacity() == 384);
  CHECK(offset_in(memory, pool.allocate<char>(1)) == 0);
  CHECK(offset_in(memory, pool.allocate<char>(129)) == 128);
  CHECK(pool.used() == 384);
  CHECK_THROWS_AS(pool.allocate<char>(1), sp::ScratchOverflow);
  CHECK_THROWS_AS((sp::BumpAllocator<Quantum<128>>(memory + 64, 128)), sp::ApiMisuse);
}

TEST_CASE("a quantum of one byte wastes none") {
  alignas(4096) std::byte memory[16];
  sp::BumpAllocator<Quantum<1>> pool(memory + 1, 15);
  CHECK(offset_in(memory, pool.allocate<char>(3)) == 1);
  CHECK(offset_in(memory, pool.allocate<char>(2)) == 4);
  CHECK(pool.used() == 5);
  CHECK(offset_in(memory, pool.allocate<std::uint32_t>(1)) == 8);  // its own alignment is above the quantum
  CHECK(pool.used() == 11);
  CHECK(pool.remaining() == 4);
}

TEST_CASE("a type coarser than a small quantum is measured as such") {
  auto pool = sp::BumpAllocator<Quantum<4>>::measuring();
  (void)pool.allocate<char>(1);
  (void)pool.allocate<double>(1);
  CHECK(pool.requirement() == sp::Requirement{16, 8});
  CHECK(pool.required_bytes() == 20);  // 16 + 8 - 4
}

TEST_CASE("a dynamic quantum governs capacity, sizes and offsets") {
  alignas(4096) std::byte memory[512];
  Dynamic pool(memory, 500, 128);
  CHECK(pool.quantum() == 128);
  CHECK(pool.capacity() == 384);
  CHECK(offset_in(memory, pool.allocate<char>(1)) == 0);
  CHECK(offset_in(memory, pool.allocate<float>(33)) == 128);  // 132 bytes
  CHECK(pool.used() == 384);
  CHECK(!pool.try_allocate<char>(1));
  Dynamic from_array(memory, 256);
  CHECK(from_array.quantum() == 256);
  CHECK(from_array.capacity() == 512);
}

TEST_CASE("a dynamic quantum below a type's alignment lets the type decide") {
  alignas(4096) std::byte memory[512];
  Dynamic pool(memory, 512, 4, nullptr);  // nobody watches: the fast path
  (void)pool.allocate<char>(1);
  CHECK(offset_in(memory, pool.allocate<Line>(1)) == 64);
  CHECK(offset_in(memory, pool.allocate<char>(1)) == 128);
  CHECK(offset_in(memory, pool.allocate<double>(1)) == 136);
}

TEST_CASE("a dynamic quantum above a type's alignment leaves nothing to pad") {
  auto pool = Dynamic::measuring(256);
  (void)pool.allocate<Line>(1);
  (void)pool.allocate<Line>(1);
  CHECK(pool.requirement() == sp::Requirement{512, 256});
  CHECK(pool.required_bytes() == 512);
}

TEST_CASE("a dynamic quantum that is no power of two is refused by number") {
  alignas(4096) std::byte memory[512];
  const std::size_t quantum =
      GENERATE(std::size_t{0}, std::size_t{3}, std::size_t{24}, std::size_t{129}, sp::dynamic_quantum);
  const std::string text = text_of<sp::ApiMisuse>([&] { Dynamic pool(memory, 512, quantum); });
  CHECK(missing_from(text, {std::to_string(quantum)}).empty());
  CHECK(missing_from(text_of<sp::ApiMisuse>([&] { (void)Dynamic::measuring(quantum); }), {std::to_string(quantum)})
            .empty());
  CHECK_THROWS_AS(Dynamic(std::span<std::byte>(memory), quantum), sp::ApiMisuse);
}

TEST_CASE("a base off the dynamic quantum is refused") {
  alignas(4096) std::byte memory[512];
  const std::string text = text_of<sp::ApiMisuse>([&] { Dynamic pool(memory + 96, 256, 128); });
  CHECK(missing_from(text, {"128", "32"}).empty());  // the quantum, and how far the next multiple is
  CHECK(Dynamic(memory + 96, 256, 32).capacity() == 256);
}

TEST_CASE("a dynamic quantum larger than the region that is measured hands out nothing instead of wrapping") {
  if (sizeof(std::size_t) != 8) return;
  const std::size_t quantum = std::size_t{1} << 60;
  CHECK_THROWS_AS(
      [&] {
        auto pool = Dynamic::measuring(quantum);
        (void)pool.allocate<std::byte>(1);
      }(),
      std::exception);
}

TEST_CASE("only a dynamic quantum is given and only a static one is left out") {
  using Static = sp::BumpAllocator<test::Tcm>;
  STATIC_REQUIRE(Dynamic::has_dynamic_quantum);
  STATIC_REQUIRE(!Static::has_dynamic_quantum);
  STATIC_REQUIRE(std::is_constructible_v<Static, void*, std::size_t>);
  STATIC_REQUIRE(!std::is_constructible_v<Static, void*, std::size_t, std::size_t>);
  STATIC_REQUIRE(std::is_constructible_v<Dynamic, void*, std::size_t, std::size_t>);
  STATIC_REQUIRE(!std::is_constructible_v<Dynamic, std::span<std::byte>>);
}

TEST_CASE("a static quantum takes no room in the pool") {
  STATIC_REQUIRE(sizeof(sp::BumpAllocator<test::Tcm>) <= sizeof(Dynamic) - sizeof(std::size_t));
}

TEST_CASE("a dynamic quantum is kept through save-points and a reset") {
  auto pool = Dynamic::measuring(64);
  const auto at = pool.save();
  (void)pool.allocate<char>(65, sp::align(512));
  pool.rewind(at);
  CHECK(pool.requirement() == sp::Requirement{128, 512});
  CHECK(pool.required_bytes() == 576);
  pool.reset();
  CHECK(pool.requirement() == sp::Requirement{0, 64});
}

TEST_CASE("a dynamic quantum works in a constant expression") {
  constexpr std::size_t bytes = [] {
    auto pool = Dynamic::measuring(128);
    (void)pool.allocate<char>(1);
    (void)pool.allocate<char>(1);
    return pool.required_bytes();
  }();
  STATIC_REQUIRE(bytes == 256);
}
