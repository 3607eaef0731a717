// SPDX-License-Identifier: MIT
#include <scratchpad/workspace_bytes.hpp>

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>

#include <scratchpad/copy_to.hpp>
#include <scratchpad/scratch_scope.hpp>
#include <scratchpad/tensor.hpp>

#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace sp = scratchpad;
using test::Tcm;
using Pool = sp::BumpAllocator<Tcm>;
using Wide = sp::BumpAllocator<test::Quantum<128>>;
using Dynamic = sp::BumpAllocator<test::DynamicQuantum>;

namespace {

struct alignas(64) Line {
  std::byte bytes[64];
};

// One byte on either pool: 16 bytes at a quantum of 16, 128 at one of 128. The figure tells which pool was measured.
void function(Pool& pool) { (void)pool.allocate<std::byte>(1); }
constexpr void function_noexcept(Wide& pool) noexcept { (void)pool.allocate<std::byte>(1); }

struct Functor {
  constexpr int operator()(Wide& pool) const {
    (void)pool.allocate<std::byte>(1);
    return 7;  // dropped
  }
};
struct MutableFunctor {
  int calls = 0;
  void operator()(Wide& pool) {
    ++calls;
    (void)pool.allocate<std::byte>(1);
  }
};
struct NoexceptFunctors {
  struct Const {
    void operator()(Wide& pool) const noexcept { (void)pool.allocate<std::byte>(1); }
  };
  struct Mutable {
    void operator()(Wide& pool) noexcept { (void)pool.allocate<std::byte>(1); }
  };
};
struct MoveOnly {
  MoveOnly() = default;
  MoveOnly(MoveOnly&&) = default;
  void operator()(Wide& pool) const { (void)pool.allocate<std::byte>(1); }
};

}  // namespace

TEST_CASE("a layout says by its parameter which pool it is measured on") {
  CHECK(sp::workspace_bytes([](Pool& pool) { (void)pool.allocate<std::byte>(1); }) == 16);
  CHECK(sp::workspace_bytes([](Wide& pool) { (void)pool.allocate<std::byte>(1); }) == 128);
  CHECK(sp::workspace_bytes([](Wide& pool) noexcept { (void)pool.allocate<std::byte>(1); }) == 128);
  CHECK(sp::workspace_bytes(
            [n = 1](Wide& pool) mutable { (void)pool.allocate<std::byte>(static_cast<std::size_t>(n++)); }) == 128);
  CHECK(sp::workspace_bytes([n = 1](Wide& pool) mutable noexcept {
          (void)pool.allocate<std::byte>(static_cast<std::size_t>(n++));
        }) == 128);
}

TEST_CASE("a function is a layout, also by pointer and noexcept") {
  CHECK(sp::workspace_bytes(function) == 16);
  CHECK(sp::workspace_bytes(&function) == 16);
  CHECK(sp::workspace_bytes(function_noexcept) == 128);
  CHECK(sp::workspace_bytes(&function_noexcept) == 128);
}

TEST_CASE("a functor is a layout, const or not, noexcept or not, or one that can only be moved") {
  const Functor functor;
  MutableFunctor counting;
  CHECK(sp::workspace_bytes(functor) == 128);
  CHECK(sp::workspace_bytes(Functor{}) == 128);
  CHECK(sp::workspace_bytes(counting) == 128);
  CHECK(counting.calls == 1);  // by reference, and once
  CHECK(sp::workspace_bytes(NoexceptFunctors::Const{}) == 128);
  CHECK(sp::workspace_bytes(NoexceptFunctors::Mutable{}) == 128);
  CHECK(sp::workspace_bytes(MoveOnly{}) == 128);
  CHECK(sp::workspace_bytes(std::function<void(Wide&)>(function_noexcept)) == 128);
}

TEST_CASE("a generic layout is measured on the pool that is named") {
  const auto generic = [](auto& pool) { (void)pool.template allocate<std::byte>(1); };
  CHECK(sp::workspace_bytes<Pool>(generic) == 16);
  CHECK(sp::workspace_bytes<Wide>(generic) == 128);
  CHECK(sp::workspace_requirement<Wide>(generic) == sp::Requirement{128, 128});
}

TEST_CASE("a pool may be named although the layout says it too") {
  CHECK(sp::workspace_bytes<Wide>(function_noexcept) == 128);
}

TEST_CASE("a dynamic quantum is given to the measurement") {
  const auto layout = [](Dynamic& pool) {
    (void)pool.allocate<std::byte>(1);
    (void)pool.allocate<std::byte>(1);
  };
  const auto generic = [](auto& pool) { (void)pool.template allocate<std::byte>(1); };
  CHECK(sp::workspace_bytes(layout, 16) == 32);
  CHECK(sp::workspace_bytes(layout, 128) == 256);
  CHECK(sp::workspace_requirement(layout, 128) == sp::Requirement{256, 128});
  CHECK(sp::workspace_bytes<Dynamic>(generic, 512) == 512);
  CHECK_THROWS_AS(sp::workspace_bytes(layout, 24), sp::ApiMisuse);
}

TEST_CASE("the two questions differ by what any base of the quantum costs") {
  const auto layout = [](Pool& pool) {
    (void)pool.allocate<std::byte>(1);
    (void)pool.allocate<Line>(1);
  };
  CHECK(sp::workspace_requirement(layout) == sp::Requirement{128, 64});
  CHECK(sp::workspace_bytes(layout) == 176);  // 128 + 64 - 16
}

TEST_CASE("a layout that carves nothing needs nothing") {
  CHECK(sp::workspace_bytes([](Pool&) {}) == 0);
  CHECK(sp::workspace_requirement([](Pool&) {}) == sp::Requirement{0, 16});
}

TEST_CASE("scopes in a layout count once and a callee's layout runs on the caller's pool") {
  const auto callee = [](Pool& pool, int n) { (void)sp::tensor<float>(pool, n); };
  const auto caller = [&](Pool& pool) {
    (void)sp::tensor<float>(pool, 4);
    for (const int n : {100, 40, 60}) {
      sp::ScratchScope scope(pool);
      callee(pool, n);
    }
  };
  CHECK(sp::workspace_bytes(caller) == 416);  // 16 + 400
}

TEST_CASE("what a layout throws comes through") {
  CHECK_THROWS_AS(sp::workspace_bytes([](Pool&) { throw std::runtime_error("shape"); }), std::runtime_error);
  CHECK_THROWS_AS(sp::workspace_bytes([](Pool& pool) { (void)pool.allocate<double>(static_cast<std::size_t>(-1)); }),
                  sp::ScratchOverflow);
}

TEST_CASE("a layout is sized at compile time, with its skeleton, its body left out") {
  constexpr auto skeleton = [](Pool& pool, int tiles, auto body) {
    auto o = sp::tensor<float>(pool, "O", 128, 128);  // 65,536 bytes
    for (int j = 0; j < tiles; ++j) {
      sp::ScratchScope tile(pool);
      auto s = sp::tensor<float>(pool, "s", 128, 64);  // 32,768 bytes
      auto p = sp::tensor<float>(pool, "p", 128, 64);
      body(o, s, p, j);
    }
  };
  constexpr std::size_t need = sp::workspace_bytes([=](Pool& pool) { skeleton(pool, 128, sp::no_work); });
  STATIC_REQUIRE(need == 131'072);
  STATIC_REQUIRE(sp::workspace_requirement([=](Pool& pool) { skeleton(pool, 3, sp::no_work); }) ==
                 sp::Requirement{131'072, 16});
}

TEST_CASE("a layout of a dynamic quantum is sized at compile time") {
  STATIC_REQUIRE(sp::workspace_bytes([](Dynamic& pool) { (void)pool.allocate<char>(129); }, 128) == 256);
}

TEST_CASE("no work takes anything and does nothing") {
  sp::no_work();
  sp::no_work(1, "two", 3.0F, Line{});
  STATIC_REQUIRE(std::is_empty_v<sp::NoWork>);
}

TEST_CASE("a layout measured at run time and at compile time needs the same") {
  constexpr auto layout = [](Pool& pool) {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<Line>(3);
    (void)pool.allocate<char>(5, sp::align(32));
  };
  constexpr std::size_t early = sp::workspace_bytes(layout);
  STATIC_REQUIRE(early == 256);  // 192 + 16, and 48 for the base
  CHECK(sp::workspace_bytes(layout) == 256);
}
