// SPDX-License-Identifier: MIT
#include <scratchpad/memory_space.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace sp = scratchpad;

namespace lacking {

// One space for each thing that the concept asks for, without it.
struct NoName {
  static constexpr std::size_t quantum = 16;
  static constexpr std::uint32_t max_depth = 32;
  static constexpr bool host_accessible = true;
  static constexpr bool bounds_checked = true;
  static void copy(void*, const void*, std::size_t) {}
};
struct Complete : NoName {
  static constexpr std::string_view name = "complete";
};
struct NameOfAnotherType : NoName {
  static constexpr int name = 1;
};
struct NoCopy {
  static constexpr std::string_view name = "no copy";
  static constexpr std::size_t quantum = 16;
  static constexpr std::uint32_t max_depth = 32;
  static constexpr bool host_accessible = true;
  static constexpr bool bounds_checked = true;
};
struct NoQuantum {
  static constexpr std::string_view name = "no quantum";
  static constexpr std::uint32_t max_depth = 32;
  static constexpr bool host_accessible = true;
  static constexpr bool bounds_checked = true;
  static void copy(void*, const void*, std::size_t) {}
};

}  // namespace lacking

TEST_CASE("a memory space has every member") {
  STATIC_REQUIRE(sp::MemorySpace<sp::HostSpace>);
  STATIC_REQUIRE(sp::MemorySpace<lacking::Complete>);
  STATIC_REQUIRE(!sp::MemorySpace<lacking::NoName>);
  STATIC_REQUIRE(!sp::MemorySpace<lacking::NameOfAnotherType>);
  STATIC_REQUIRE(!sp::MemorySpace<lacking::NoCopy>);
  STATIC_REQUIRE(!sp::MemorySpace<lacking::NoQuantum>);
  STATIC_REQUIRE(!sp::MemorySpace<int>);
}

TEST_CASE("a quantum is a power of two or dynamic") {
  STATIC_REQUIRE(sp::MemorySpace<test::Quantum<1>>);
  STATIC_REQUIRE(sp::MemorySpace<test::Quantum<4096>>);
  STATIC_REQUIRE(sp::MemorySpace<test::DynamicQuantum>);
  STATIC_REQUIRE(!sp::MemorySpace<test::Quantum<0>>);
  STATIC_REQUIRE(!sp::MemorySpace<test::Quantum<3>>);
  STATIC_REQUIRE(!sp::MemorySpace<test::Quantum<24>>);
}

TEST_CASE("a space holds 1 to 65535 save-points") {
  STATIC_REQUIRE(sp::MemorySpace<test::MaxDepth<1>>);
  STATIC_REQUIRE(sp::MemorySpace<test::MaxDepth<65'535>>);
  STATIC_REQUIRE(!sp::MemorySpace<test::MaxDepth<0>>);
  STATIC_REQUIRE(!sp::MemorySpace<test::MaxDepth<65'536>>);
}

TEST_CASE("the host space has the defaults that the documentation gives") {
  STATIC_REQUIRE(sp::HostSpace::name == "host");
  STATIC_REQUIRE(sp::HostSpace::quantum == 16);
  STATIC_REQUIRE(sp::HostSpace::max_depth == 32);
  STATIC_REQUIRE(sp::HostSpace::host_accessible);
  STATIC_REQUIRE(sp::HostSpace::bounds_checked);
}

TEST_CASE("the host space copies these bytes and no others") {
  const char src[] = "abcdef";
  char dst[] = "......";
  sp::HostSpace::copy(dst + 1, src + 2, 3);
  CHECK(std::string_view(dst) == ".cde..");
}
