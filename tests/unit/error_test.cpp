// SPDX-License-Identifier: MIT
#include <scratchpad/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "support/catch.hpp"
#include "support/death.hpp"

namespace sp = scratchpad;

// Sanitizers bring an operator new of their own, which does not go together with another one's delete.
#if defined(__GLIBCXX__) && !SCRATCHPAD_ASAN && !SCRATCHPAD_MSAN && !defined(__SANITIZE_THREAD__) && \
    !SCRATCHPAD_HAS_FEATURE(thread_sanitizer)
#define TEST_COUNTS_ALLOCATIONS 1

namespace {
std::atomic<std::size_t> allocations{0};
}

// For the whole executable, but the count is only looked at around a throw.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#else
#define TEST_COUNTS_ALLOCATIONS 0
#endif

namespace {

sp::Overflow an_overflow() {
  sp::Overflow o;
  o.space = "tcm";
  o.label = "scores";
  o.elements = 9;
  o.element_bytes = 8;
  o.bytes = 72;
  o.reserved = 80;
  o.padding = 32;
  o.used = 33;
  o.capacity = 128;
  o.missing = 17;
  o.peak = 96;
  o.depth = 5;
  return o;
}

std::string text(const sp::Overflow& o) { return sp::ScratchOverflow(o).what(); }

template <class... Parts>
std::string message(const Parts&... parts) {
  return sp::detail::Message(parts...).c_str();
}

}  // namespace

TEST_CASE("every error is caught as the standard category that it belongs to") {
  STATIC_REQUIRE(std::is_base_of_v<std::bad_alloc, sp::ScratchOverflow>);
  STATIC_REQUIRE(std::is_base_of_v<std::logic_error, sp::ApiMisuse>);
  STATIC_REQUIRE(std::is_base_of_v<std::logic_error, sp::LayoutDivergence>);
  STATIC_REQUIRE(std::is_base_of_v<std::invalid_argument, sp::ShapeMismatch>);
  CHECK_THROWS_AS(sp::detail::raise<sp::ScratchOverflow>(an_overflow()), std::bad_alloc);
  CHECK_THROWS_AS(sp::detail::raise<sp::ApiMisuse>("x"), std::logic_error);
  CHECK_THROWS_AS(sp::detail::raise<sp::LayoutDivergence>("x"), std::logic_error);
  CHECK_THROWS_AS(sp::detail::raise<sp::ShapeMismatch>("x"), std::invalid_argument);
}

TEST_CASE("misuse and divergence are told apart") {
  STATIC_REQUIRE(!std::is_base_of_v<sp::ApiMisuse, sp::LayoutDivergence>);
  STATIC_REQUIRE(!std::is_base_of_v<sp::LayoutDivergence, sp::ApiMisuse>);
  STATIC_REQUIRE(!std::is_base_of_v<sp::ApiMisuse, sp::ShapeMismatch>);
}

TEST_CASE("an error can be copied while another one is on its way") {
  STATIC_REQUIRE(std::is_nothrow_copy_constructible_v<sp::ScratchOverflow>);
  STATIC_REQUIRE(std::is_nothrow_copy_constructible_v<sp::ApiMisuse>);
  STATIC_REQUIRE(std::is_nothrow_copy_constructible_v<sp::ShapeMismatch>);
}

TEST_CASE("an error keeps its text and fields when it is kept beyond its scope") {
  std::exception_ptr kept;
  {
    std::string gone = "a text that ends here";
    try {
      sp::detail::raise<sp::ApiMisuse>(gone, " ", 42);
    } catch (...) {
      kept = std::current_exception();
    }
    gone.assign(gone.size(), '#');
  }
  try {
    std::rethrow_exception(kept);
  } catch (const std::logic_error& error) {
    CHECK(std::string(error.what()) == "a text that ends here 42");
  }
}

TEST_CASE("an overflow names everything it knows") {
  CHECK(
      text(an_overflow()) ==
      "scratch overflow: scores asks for 72 bytes (9 x 8, 80 rounded up, after 32 of padding); pool 'tcm' has used 33 "
      "of 128, 17 are missing (depth 5, peak 96)");
}

TEST_CASE("an overflow without label and padding does not speak of them") {
  sp::Overflow o = an_overflow();
  o.label = "";
  o.padding = 0;
  CHECK(text(o) ==
        "scratch overflow: a block asks for 72 bytes (9 x 8, 80 rounded up); pool 'tcm' has used 33 of 128, 17 are "
        "missing (depth 5, peak 96)");
}

TEST_CASE("an overflow while measuring says that no memory is that large") {
  sp::Overflow o = an_overflow();
  o.measuring = true;
  CHECK(text(o).find("of 128 that can be measured") != std::string::npos);
}

TEST_CASE("an overflow names the need of the layout and the largest live blocks where they are known") {
  sp::Overflow o = an_overflow();
  o.layout_bytes = 479'744;
  CHECK(text(o).ends_with("peak 96); the whole layout needs 479744"));
  o.largest[0] = {"O", 4096};
  o.largest[1] = {"", 512};
  CHECK(text(o).ends_with("the whole layout needs 479744; largest live blocks: O 4096, (no label) 512"));
  o.largest[2] = {"m", 64};
  CHECK(text(o).ends_with("largest live blocks: O 4096, (no label) 512, m 64"));
}

TEST_CASE("an overflow carries its fields") {
  const sp::ScratchOverflow error(an_overflow());
  const sp::Overflow& o = error.overflow();
  CHECK(std::string_view(o.space) == "tcm");
  CHECK(std::string_view(o.label) == "scores");
  CHECK(o.missing == 17);
  CHECK(o.depth == 5);
  const sp::Failure failure = error.failure();
  CHECK(failure.kind == sp::FailureKind::overflow);
  CHECK(failure.overflow == &o);
  CHECK(failure.message == error.what());
}

TEST_CASE("every other failure is told its kind and its text") {
  const sp::ApiMisuse misuse("a ", 1);
  CHECK(misuse.failure().kind == sp::FailureKind::misuse);
  CHECK(misuse.failure().message == misuse.what());
  CHECK(misuse.failure().overflow == nullptr);
  CHECK(sp::LayoutDivergence("x").failure().kind == sp::FailureKind::divergence);
  CHECK(sp::ShapeMismatch("x").failure().kind == sp::FailureKind::shape);
}

TEST_CASE("a message prints every integer from its least to its largest") {
  CHECK(message(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(message(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(message(std::int8_t{-128}, " ", std::uint8_t{255}) == "-128 255");
  CHECK(message(short{7}, ",", 0U) == "7,0");
  CHECK(message(std::string_view("cut here").substr(0, 3)) == "cut");
}

TEST_CASE("a message prints an address as one") {
  CHECK(message(sp::detail::Address{reinterpret_cast<const void*>(std::uintptr_t{0xabc0})}) == "0xabc0");
  CHECK(message(sp::detail::Address{nullptr}) == "0x0");
  CHECK(message(sp::detail::Address{reinterpret_cast<const void*>(~std::uintptr_t{0})}) ==
        (sizeof(void*) == 8 ? "0xffffffffffffffff" : "0xffffffff"));
}

TEST_CASE("a message that is too long is cut off at the end of its buffer and stays a string") {
  const std::string full(511, 'a');
  const std::string all_but_one(510, 'a');
  const std::string cut = message(all_but_one, "bc");
  CHECK(cut.size() == 511);
  CHECK(cut.back() == 'b');
  CHECK(message(full, "bc") == full);
  CHECK(message(std::string(5000, 'a'), 1234) == full);
  CHECK(message(full, 1, full) == full);
}

TEST_CASE("an overflow with an endless label loses its end and nothing else") {
  const std::string label(2000, 'L');
  sp::Overflow o = an_overflow();
  o.label = label.c_str();
  const std::string cut = text(o);
  CHECK(cut.size() == 511);
  CHECK(cut.starts_with("scratch overflow: LLL"));
  CHECK(cut.find_last_not_of('L') == 17);  // the blank before the label
  CHECK(sp::ScratchOverflow(o).overflow().missing == 17);
}

#if TEST_COUNTS_ALLOCATIONS
TEST_CASE("nothing is allocated to make and throw an error") {
  const sp::Overflow o = an_overflow();
  std::size_t before = 0;
  std::size_t after = 0;
  bool caught = false;

  before = allocations;
  ::operator delete(::operator new(1));
  after = allocations;
  REQUIRE(after - before >= 1);  // else the count is blind

  SECTION("an overflow") {
    before = allocations;
    try {
      sp::detail::raise<sp::ScratchOverflow>(o);
    } catch (const sp::ScratchOverflow& error) {
      after = allocations;
      caught = error.what()[0] == 's';
    }
  }
  SECTION("a misuse") {
    before = allocations;
    try {
      sp::detail::raise<sp::ApiMisuse>("some text that is longer than any small string ", 12345);
    } catch (const sp::ApiMisuse& error) {
      after = allocations;
      caught = error.what()[0] == 's';
    }
  }
  SECTION("a shape mismatch") {
    before = allocations;
    try {
      sp::detail::raise<sp::ShapeMismatch>("some text that is longer than any small string ", 12345);
    } catch (const sp::ShapeMismatch& error) {
      after = allocations;
      caught = error.what()[0] == 's';
    }
  }
  CHECK(caught);
  CHECK(after == before);
}
#endif

TEST_CASE("installing a failure handler returns the one before it") {
  const sp::FailureHandler a = [](const sp::Failure&) {};
  const sp::FailureHandler b = [](const sp::Failure&) { std::_Exit(1); };
  const sp::FailureHandler first = sp::set_failure_handler(a);
  CHECK(first == nullptr);
  CHECK(sp::set_failure_handler(b) == a);
  CHECK(sp::set_failure_handler(nullptr) == b);
  CHECK(sp::set_failure_handler(first) == nullptr);
}

TEST_CASE("where exceptions can leave, the failure handler is not asked") {
  static bool asked;
  asked = false;
  const auto before = sp::set_failure_handler([](const sp::Failure&) { asked = true; });
  CHECK_THROWS_AS(sp::detail::raise<sp::ApiMisuse>("x"), sp::ApiMisuse);
  sp::set_failure_handler(before);
  CHECK(!asked);
}

#if TEST_HAS_DEATH
TEST_CASE("a failure that cannot be thrown is told to the handler and then aborts") {
  const auto death = test::death_of([] { sp::detail::stop_with<sp::ApiMisuse>("depth ", 3); });
  CHECK(death.signal == SIGABRT);
  CHECK(death.kind == "misuse");
  CHECK(death.message == "depth 3");
}

TEST_CASE("without a handler the program aborts") {
  const auto death = test::death_of([] { sp::detail::stop_with<sp::ApiMisuse>("x"); }, nullptr);
  CHECK(death.signal == SIGABRT);
}

TEST_CASE("a handler may end the program in its own way") {
  const auto death =
      test::death_of([] { sp::detail::stop_with<sp::ApiMisuse>("x"); }, [](const sp::Failure&) { std::_Exit(3); });
  CHECK(death.signal == 0);
  CHECK(death.exit_code == 3);
}

TEST_CASE("a handler is told the fields of an overflow") {
  const auto death =
      test::death_of([] { sp::detail::stop(sp::ScratchOverflow(an_overflow()).failure()); },
                     [](const sp::Failure& failure) { std::_Exit(static_cast<int>(failure.overflow->missing)); });
  CHECK(death.exit_code == 17);
}
#endif
