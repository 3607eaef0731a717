// SPDX-License-Identifier: MIT
#include <scratchpad/save_points.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "support/catch.hpp"

namespace sp = scratchpad;
using Stack = sp::SavePoints<4>;

TEST_CASE("a fresh stack has the pool's own level at offset 0 and no save-point") {
  const Stack stack;
  CHECK(stack.depth() == 0);
  CHECK(stack.offsets().empty());
  CHECK(stack.top().depth == 0);
  CHECK(stack.offset(stack.top()) == 0);
  CHECK(stack.is_live(stack.top()));
}

TEST_CASE("levels are pushed and popped with their offsets, the outermost first") {
  Stack stack;
  const auto a = stack.push(16);
  const auto b = stack.push(16);  // two scopes may begin at the same place
  const auto c = stack.push(48);
  CHECK(stack.depth() == 3);
  CHECK(stack.top() == c);
  REQUIRE(stack.offsets().size() == 3);
  CHECK(stack.offsets()[0] == 16);
  CHECK(stack.offsets()[1] == 16);
  CHECK(stack.offsets()[2] == 48);
  CHECK((a.depth == 1 && b.depth == 2 && c.depth == 3));
  CHECK(stack.offset(b) == 16);
  CHECK(stack.offset(c) == 48);

  stack.pop(2);  // b and what is above it
  CHECK(stack.depth() == 1);
  CHECK(stack.is_live(a));
  CHECK(!stack.is_live(b));
  CHECK(!stack.is_live(c));
  CHECK(stack.top() == a);
}

TEST_CASE("as many levels fit as the stack was made for") {
  Stack stack;
  for (std::size_t i = 1; i <= 4; ++i) CHECK(stack.push(i * 16).depth == i);
  CHECK(stack.depth() == 4);
  CHECK(stack.offsets()[3] == 64);
  CHECK(stack.has_reached(4));
  CHECK(!stack.has_reached(5));
}

TEST_CASE("a level that is pushed again is another one") {
  Stack stack;
  const auto before = stack.push(16);
  stack.pop(1);
  const auto after = stack.push(16);
  CHECK(before != after);
  CHECK(!stack.is_live(before));
  CHECK(stack.is_live(after));
}

TEST_CASE("a renewed level stays open, loses what is above it, and knows old handles as dead") {
  Stack stack;
  const auto outer = stack.push(16);
  const auto old = stack.push(32);
  const auto above = stack.push(64);
  const auto renewed = stack.renew(old);
  CHECK(stack.depth() == 2);
  CHECK(renewed.depth == 2);
  CHECK(stack.offset(renewed) == 32);
  CHECK(stack.is_live(renewed));
  CHECK(stack.is_live(outer));
  CHECK(!stack.is_live(old));
  CHECK(!stack.is_live(above));
}

TEST_CASE("level 0 can be renewed and not only pushed levels") {
  Stack stack;
  const auto old = stack.top();
  const auto renewed = stack.renew(old);
  CHECK(renewed.depth == 0);
  CHECK(stack.is_live(renewed));
  CHECK(!stack.is_live(old));
  CHECK(stack.offset(renewed) == 0);
}

TEST_CASE("stamps are never used twice") {
  Stack stack;
  std::uint64_t last = stack.top().stamp;
  for (int i = 0; i < 1000; ++i) {
    const auto pushed = stack.push(0);
    CHECK(pushed.stamp > last);
    const auto renewed = stack.renew(pushed);
    CHECK(renewed.stamp > pushed.stamp);
    last = renewed.stamp;
    stack.pop(1);
  }
}

// As after 2^32 or 2^33 scopes, some minutes of work: a stamp of 32 bits would come round to the same number, at the
// same level of the same pool.
TEST_CASE("a handle is dead after 2^32 and after 2^33 scopes") {
  const std::uint64_t scopes = GENERATE(std::uint64_t{1} << 32, std::uint64_t{1} << 33);
  alignas(Stack) std::byte place[sizeof(Stack)];
  Stack* stack = std::construct_at(reinterpret_cast<Stack*>(place), std::uint64_t{1});
  const auto pool = stack->top();
  const auto early = stack->push(16);
  std::destroy_at(stack);
  stack = std::construct_at(reinterpret_cast<Stack*>(place), 1 + scopes);
  CHECK(stack->top().owner == pool.owner);
  CHECK(!stack->is_live(pool));
  const auto late = stack->push(16);
  CHECK(late.depth == early.depth);
  CHECK(!stack->is_live(early));
  CHECK(late.stamp == 2 + scopes);
  std::destroy_at(stack);
}

TEST_CASE("a handle of another stack, or of none, is not live") {
  Stack a;
  Stack b;
  const auto of_a = a.push(16);
  const auto of_b = b.push(16);
  CHECK(of_a.stamp == of_b.stamp);  // so that only the owner tells them apart
  CHECK(a.is_live(of_a));
  CHECK(!a.is_live(of_b));
  CHECK(!b.is_live(of_a));
  CHECK(!a.is_live(sp::SavePoint{}));
}

TEST_CASE("the largest stack there is reaches its last level") {
  static sp::SavePoints<65'535> stack;  // a megabyte: not on the stack
  for (std::uint32_t i = 1; i <= 65'535; ++i) stack.push(i * std::size_t{16});
  CHECK(stack.depth() == 65'535);
  CHECK(stack.offset(stack.top()) == 1'048'560);
  CHECK(stack.is_live(stack.top()));
}

TEST_CASE("a stack works in a constant expression") {
  constexpr bool ok = [] {
    Stack stack;
    const auto a = stack.push(16);
    const auto b = stack.push(32);
    stack.pop(2);
    return stack.is_live(a) && !stack.is_live(b) && stack.depth() == 1 && stack.offset(a) == 16;
  }();
  STATIC_REQUIRE(ok);
}
