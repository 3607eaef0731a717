// SPDX-License-Identifier: MIT
#include <scratchpad/scratch_scope.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/constant.hpp"
#include "support/death.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::missing_from;
using test::offset_in;
using test::Tcm;
using test::text_of;
using Pool = sp::BumpAllocator<Tcm>;
using Scope = sp::ScratchScope<Tcm>;

namespace {
struct alignas(256) Coarse {
  std::byte bytes[256];
};
}  // namespace

TEST_CASE("a scope gives its bytes back at the end of the block") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(16);
  {
    sp::ScratchScope scope(pool);
    CHECK(pool.depth() == 1);
    CHECK(pool.used() == 16);
    (void)pool.allocate<std::byte>(100);
    CHECK(pool.used() == 128);
  }
  CHECK(pool.depth() == 0);
  CHECK(pool.used() == 16);
  CHECK(pool.peak() == 128);
}

TEST_CASE("a scope rewinds when an exception leaves it") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(16);
  try {
    sp::ScratchScope outer(pool);
    (void)pool.allocate<std::byte>(16);
    sp::ScratchScope inner(pool);
    (void)pool.allocate<std::byte>(16);
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {
    CHECK(pool.depth() == 0);
    CHECK(pool.used() == 16);
  }
  CHECK(pool.peak() == 48);
}

TEST_CASE("a scope rewinds when an overflow leaves it") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  const auto before = test::figures(pool);
  CHECK_THROWS_AS(
      [&] {
        sp::ScratchScope scope(pool);
        (void)pool.allocate<std::byte>(65);
      }(),
      sp::ScratchOverflow);
  CHECK(test::figures(pool) == before);
}

TEST_CASE("nested scopes rewind to their own save-points") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  sp::ScratchScope outer(pool);
  (void)pool.allocate<std::byte>(16);
  for (int i = 0; i < 3; ++i) {
    sp::ScratchScope inner(pool);
    CHECK(offset_in(memory, pool.allocate<std::byte>(32)) == 16);
    CHECK(pool.depth() == 2);
    {
      sp::ScratchScope innermost(pool);
      CHECK(offset_in(memory, pool.allocate<std::byte>(16)) == 48);
    }
    CHECK(pool.used() == 48);
  }
  CHECK(pool.used() == 16);
  CHECK(pool.depth() == 1);
  CHECK(pool.peak() == 64);
}

TEST_CASE("a rewound scope goes back to its save-point and stays open") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(16);
  {
    sp::ScratchScope scope(pool);
    for (int i = 0; i < 3; ++i) {
      CHECK(offset_in(memory, pool.allocate<std::byte>(64)) == 16);
      scope.rewind();
      CHECK(pool.used() == 16);
      CHECK(pool.depth() == 1);
    }
    (void)pool.allocate<std::byte>(16);
  }
  CHECK(pool.depth() == 0);
  CHECK(pool.used() == 16);
  CHECK(pool.peak() == 80);
}

TEST_CASE("a scope discards raw saves left open above it") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  sp::SavePoint left_open;
  {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<std::byte>(16);
    left_open = pool.save();
    (void)pool.save();
    (void)pool.allocate<std::byte>(16);
    scope.rewind();
    CHECK(pool.depth() == 1);
    CHECK(!pool.is_live(left_open));
    left_open = pool.save();
    CHECK(pool.depth() == 2);
  }
  CHECK(pool.depth() == 0);
  CHECK(pool.used() == 0);
  CHECK(!pool.is_live(left_open));
  CHECK_THROWS_AS(pool.rewind(left_open), sp::ApiMisuse);
}

TEST_CASE("a scope too deep is refused and the others end as usual") {
  alignas(4096) std::byte memory[64];
  sp::BumpAllocator<test::MaxDepth<2>> pool(memory);
  int fences = 0;
  {
    sp::ScratchScope a(pool);
    sp::ScratchScope b(pool);
    (void)pool.allocate<std::byte>(16);
    const auto before = test::figures(pool);
    const std::string text = text_of<sp::ApiMisuse>([&] { sp::ScratchScope c(pool, [&] { ++fences; }); });
    CHECK(missing_from(text, {"2 are open", "max_depth is 2"}).empty());
    CHECK(test::figures(pool) == before);
  }
  CHECK(fences == 0);
  CHECK(pool.depth() == 0);
}

TEST_CASE("on a measuring pool a scope makes the peak right") {
  Pool pool = Pool::measuring();
  (void)pool.allocate<std::byte>(32);
  for (const std::size_t bytes : {160U, 320U, 48U}) {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<std::byte>(bytes);
  }
  CHECK(pool.required_bytes() == 352);
}

TEST_CASE("on a measuring pool a rewind counts like the end of a scope and the alignment stays noted") {
  Pool pool = Pool::measuring();
  {
    sp::ScratchScope scope(pool);
    (void)pool.allocate<Coarse>(1);
    scope.rewind();
    (void)pool.allocate<std::byte>(16);
  }
  CHECK(pool.requirement() == sp::Requirement{256, 256});
}

// ---- fences --------------------------------------------------------------------------------------------------------

TEST_CASE("a fence runs before the bytes are given back") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  std::vector<std::size_t> used_at_fence;
  {
    sp::ScratchScope scope(pool, [&] { used_at_fence.push_back(pool.used()); });
    (void)pool.allocate<std::byte>(32);
    CHECK(used_at_fence.empty());
    scope.rewind();
    (void)pool.allocate<std::byte>(48);
  }
  CHECK(used_at_fence == std::vector<std::size_t>{32, 48});
}

TEST_CASE("a fence runs once on every way out") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  int fences = 0;
  const auto fence = [&] { ++fences; };
  SECTION("the end of the block") { sp::ScratchScope scope(pool, fence); }
  SECTION("return") {
    [&] {
      sp::ScratchScope scope(pool, fence);
      if (pool.depth() == 1) return;
      fences = 100;
    }();
  }
  SECTION("break") {
    for (;;) {
      sp::ScratchScope scope(pool, fence);
      break;
    }
  }
  SECTION("continue") {
    for (int i = 0; i < 1; ++i) {
      sp::ScratchScope scope(pool, fence);
      if (i == 0) continue;
      fences = 100;
    }
  }
  SECTION("an exception") {
    try {
      sp::ScratchScope scope(pool, fence);
      throw 1;
    } catch (int) {
      CHECK(pool.depth() == 0);
    }
  }
  CHECK(fences == 1);
  CHECK(pool.depth() == 0);
}

TEST_CASE("fences of nested scopes run from the innermost to the outermost, also when an exception leaves them") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  std::string order;
  const auto nest = [&](bool out) {
    sp::ScratchScope a(pool, [&] { order += 'a'; });
    sp::ScratchScope b(pool, [&] { order += 'b'; });
    sp::ScratchScope c(pool, [&] { order += 'c'; });
    if (out) throw 1;
  };
  nest(false);
  CHECK_THROWS_AS(nest(true), int);
  CHECK(order == "cbacba");
}

TEST_CASE("a measuring pool never calls a fence") {
  Pool pool = Pool::measuring();
  int fences = 0;
  {
    sp::ScratchScope scope(pool, [&] { ++fences; });
    (void)pool.allocate<std::byte>(16);
    scope.rewind();
  }
  CHECK(fences == 0);
  CHECK(pool.required_bytes() == 16);
}

TEST_CASE("a fence without state takes no storage") {
  [[maybe_unused]] const auto empty = [] {};
  STATIC_REQUIRE(sizeof(sp::ScratchScope<Tcm, decltype(empty)>) == sizeof(Scope));
  STATIC_REQUIRE(sizeof(Scope) == sizeof(void*) + sizeof(sp::SavePoint));
}

TEST_CASE("a fence may keep state and change it") {
  struct Counting {
    int* count;
    int mine = 0;
    void operator()() { *count = ++mine; }
  };
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  int count = 0;
  {
    sp::ScratchScope scope(pool, Counting{&count});
    scope.rewind();
    scope.rewind();
  }
  CHECK(count == 3);
}

TEST_CASE("a fence that can only be moved is kept") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  auto counter = std::make_unique<int>(0);
  int* const count = counter.get();
  std::optional<int> seen;
  {
    sp::ScratchScope scope(pool, [owned = std::move(counter), &seen] { seen = ++*owned; });
    CHECK(*count == 0);
  }
  CHECK(seen == 1);
}

TEST_CASE("a fence that throws from a rewind leaves the scope as it was") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  bool armed = true;
  {
    sp::ScratchScope scope(pool, [&] {
      if (armed) throw std::runtime_error("not done");
    });
    (void)pool.allocate<std::byte>(16);
    const auto before = test::figures(pool);
    CHECK_THROWS_AS(scope.rewind(), std::runtime_error);
    CHECK(test::figures(pool) == before);
    armed = false;
  }
  CHECK(pool.used() == 0);
}

TEST_CASE("no fence at all is the default and can be named") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  {
    sp::ScratchScope scope(pool, sp::NoFence{});
    STATIC_REQUIRE(std::is_same_v<decltype(scope), Scope>);
    (void)pool.allocate<std::byte>(16);
  }
  CHECK(pool.used() == 0);
}

// ---- the wrong order -----------------------------------------------------------------------------------------------

TEST_CASE("rewinding a scope whose save-point is gone is refused and changes nothing") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.allocate<std::byte>(16);
  std::optional<Scope> outer;
  outer.emplace(pool);
  (void)pool.allocate<std::byte>(16);
  // Never destroyed: its end would stop the program.
  alignas(Scope) std::byte place[sizeof(Scope)];
  Scope* const inner = new (place) Scope(pool);
  outer.reset();
  (void)pool.allocate<std::byte>(32);
  const auto before = test::figures(pool);
  const std::string text = text_of<sp::ApiMisuse>([&] { inner->rewind(); });
  CHECK(missing_from(text, {"depth 2", "0 are", "wrong order"}).empty());
  CHECK(test::figures(pool) == before);
}

TEST_CASE("a scope whose save-point is gone does not call its fence: the bytes are no longer its own") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  std::optional<Scope> outer;
  outer.emplace(pool);
  (void)pool.allocate<std::byte>(64);
  int calls = 0;
  const auto fence = [&calls](std::span<std::byte>) { ++calls; };
  using Fenced = sp::ScratchScope<Tcm, std::remove_const_t<decltype(fence)>>;
  // Never destroyed: its end would stop the program.
  alignas(Fenced) std::byte place[sizeof(Fenced)];
  Fenced* const inner = new (place) Fenced(pool, fence);
  outer.reset();  // used is 0 now, below where the inner scope began
  CHECK_THROWS_AS(inner->rewind(), sp::ApiMisuse);
  CHECK(calls == 0);
}

#if TEST_HAS_DEATH
TEST_CASE("a scope that ends after the one around it stops the program and says so") {
  alignas(4096) std::byte memory[256];
  const auto death = test::death_of([&] {
    Pool pool(memory);
    std::optional<Scope> outer;
    std::optional<Scope> inner;
    outer.emplace(pool);
    inner.emplace(pool);
    outer.reset();
    inner.reset();
  });
  CHECK(death.signal == SIGABRT);
  CHECK(death.kind == "misuse");
  CHECK(missing_from(death.message, {"~ScratchScope", "depth 2", "0 are", "wrong order"}).empty());
}

TEST_CASE("a scope on the heap that ends after the one around it stops the program") {
  alignas(4096) std::byte memory[256];
  const auto death = test::death_of([&] {
    Pool pool(memory);
    auto outer = std::make_unique<Scope>(pool);
    auto middle = std::make_unique<Scope>(pool);
    auto inner = std::make_unique<Scope>(pool);
    middle.reset();
    inner.reset();
  });
  CHECK(death.signal == SIGABRT);
  CHECK(missing_from(death.message, {"depth 3", "1 are"}).empty());
}

TEST_CASE("a scope does not end another one that has taken its level") {
  alignas(4096) std::byte memory[256];
  const auto death = test::death_of([&] {
    Pool pool(memory);
    std::optional<Scope> outer;
    std::optional<Scope> inner;
    outer.emplace(pool);
    inner.emplace(pool);
    outer.reset();
    sp::ScratchScope a(pool);
    sp::ScratchScope b(pool);
    inner.reset();
  });
  CHECK(death.signal == SIGABRT);
  CHECK(missing_from(death.message, {"depth 2", "2 are"}).empty());
}

TEST_CASE("a scope whose outer one was rewound meanwhile stops the program") {
  alignas(4096) std::byte memory[256];
  const auto death = test::death_of([&] {
    Pool pool(memory);
    sp::ScratchScope outer(pool);
    sp::ScratchScope inner(pool);
    outer.rewind();
  });
  CHECK(death.signal == SIGABRT);
  CHECK(missing_from(death.message, {"depth 2", "1 are"}).empty());
}

TEST_CASE("scopes that end in the right order stop nothing") {
  alignas(4096) std::byte memory[256];
  const auto death = test::death_of([&] {
    Pool pool(memory);
    std::optional<Scope> outer;
    std::optional<Scope> inner;
    outer.emplace(pool);
    inner.emplace(pool);
    inner.reset();
    outer.reset();
  });
  CHECK(death.exit_code == test::Death::survived);
  CHECK(death.message.empty());
}
#endif

TEST_CASE("scopes run in a constant expression") {
  CHECK(test::is_constant_and_true([] {
    Pool pool(nullptr, 256);
    int fences = 0;
    {
      sp::ScratchScope scope(pool, [&] { ++fences; });
      (void)pool.allocate<std::byte>(100);
      scope.rewind();
      (void)pool.allocate<std::byte>(16);
    }
    return fences == 2 && pool.used() == 0 && pool.peak() == 112 && pool.depth() == 0;
  }));
  constexpr std::size_t measured = [] {
    Pool pool = Pool::measuring();
    {
      sp::ScratchScope scope(pool, [] { throw 1; });
      (void)pool.allocate<std::byte>(100);
      scope.rewind();
      (void)pool.allocate<std::byte>(16);
    }
    return pool.required_bytes();
  }();
  STATIC_REQUIRE(measured == 112);
}
