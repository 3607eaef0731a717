// SPDX-License-Identifier: MIT
#include <cstddef>
#include <string>

#include <scratchpad/scratchpad.hpp>
#include <support/catch.hpp>
#include <support/spaces.hpp>

#if SCRATCHPAD_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<test::Tcm>;

namespace {

// One letter a byte: '.' may be used, '#' may not. Without AddressSanitizer nothing is marked. Asked byte by byte, because
// the question about a region misses a marked end of its first 8 bytes.
std::string map_of([[maybe_unused]] const std::byte* data, std::size_t bytes) {
  std::string map;
  for (std::size_t i = 0; i < bytes; ++i) {
#if SCRATCHPAD_ASAN
    map += __asan_address_is_poisoned(data + i) != 0 ? '#' : '.';
#else
    map += '.';
#endif
  }
  return map;
}

std::string expected(std::string map) {
  if (!SCRATCHPAD_ASAN) map.assign(map.size(), '.');
  return map;
}

alignas(16) std::byte memory[48];

}  // namespace

TEST_CASE("handed-out bytes are addressable to the byte, all others are not [case-42]") {
  sp::Sanitizer sanitizer;
  {
    Pool pool(memory, sizeof memory, &sanitizer);
    CHECK(map_of(memory, 48) == expected("################################################"));
    (void)pool.allocate<char>(13);
    (void)pool.allocate<char>(8);
    CHECK(map_of(memory, 48) == expected(".............###........########################"));
    pool.reset();
    CHECK(map_of(memory, 48) == expected("################################################"));
  }
  CHECK(map_of(memory, 48) == std::string(48, '.'));
}

TEST_CASE("bytes beyond the rounded capacity are never marked [case-10]") {
  sp::Sanitizer sanitizer;
  Pool pool(memory, 40, &sanitizer);
  CHECK(map_of(memory, 48) == expected("################################................"));
}

TEST_CASE("a scope's bytes are marked at its end and at its rewind") {
  sp::Sanitizer sanitizer;
  Pool pool(memory, sizeof memory, &sanitizer);
  (void)pool.allocate<char>(16);
  {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<char>(16);
    CHECK(map_of(memory, 48) == expected("................................################"));
    scope.rewind();
    CHECK(map_of(memory, 48) == expected("................################################"));
    (void)pool.allocate<char>(4);
    CHECK(map_of(memory, 48) == expected("....................############################"));
  }
  CHECK(map_of(memory, 48) == expected("................################################"));
}

TEST_CASE("the default observer is the one that the build asks for, and memory the host cannot reach has none") {
  sp::PoolObserver* const chosen = sp::default_observer<test::Tcm>();
  if (SCRATCHPAD_ASAN || SCRATCHPAD_MSAN || SCRATCHPAD_VALGRIND) {
    CHECK(chosen == &sp::default_observers::the_sanitizer);
  } else if (SCRATCHPAD_CHECKS) {
    CHECK(chosen == &sp::default_observers::the_poison);
  } else {
    CHECK(chosen == nullptr);
  }
  CHECK(sp::default_observer<test::Far>() == nullptr);
}
