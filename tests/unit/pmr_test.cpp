// SPDX-License-Identifier: MIT
#include <cstddef>
#include <memory_resource>
#include <vector>

#include <scratchpad/pmr.hpp>
#include <scratchpad/scratch_scope.hpp>
#include <support/catch.hpp>
#include <support/spaces.hpp>
#include <support/thrown.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<test::Tcm>;

TEST_CASE("a standard container takes its memory from the pool, and the scope takes it back") {
  alignas(16) std::byte buffer[1024];
  Pool pool(buffer);
  {
    sp::ScratchScope scope(pool);
    sp::PoolResource resource(pool);
    std::pmr::vector<double> values(10, 1.5, &resource);
    CHECK(pool.used() == 80);
    CHECK(static_cast<const void*>(values.data()) == buffer);
    CHECK(values[9] == 1.5);
  }
  CHECK(pool.used() == 0);
}

TEST_CASE("an alignment above the quantum is met") {
  alignas(64) std::byte buffer[1024];
  Pool pool(buffer);
  sp::PoolResource resource(pool);
  (void)resource.allocate(1, 1);
  CHECK(test::is_aligned(resource.allocate(10, 64), 64));
  CHECK(pool.used() == 80);
}

TEST_CASE("a container further out that grows inside an inner scope is refused [case-26]") {
  alignas(16) std::byte buffer[1024];
  Pool pool(buffer);
  sp::PoolResource resource(pool);
  std::pmr::vector<int> values(&resource);
  values.assign(4, 7);
  sp::ScratchScope inner(pool);
  const auto before = test::figures(pool);
  CHECK(test::missing_from(test::text_of<sp::ApiMisuse>([&] { values.push_back(8); }), {"32", "depth 1", "depth 0"}) ==
        "");
  CHECK(test::figures(pool) == before);
  CHECK(values == std::pmr::vector<int>(4, 7));
}

TEST_CASE("a resource of a scope that was rewound is refused") {
  alignas(16) std::byte buffer[1024];
  Pool pool(buffer);
  sp::ScratchScope scope(pool);
  sp::PoolResource resource(pool);
  (void)resource.allocate(16, 16);
  scope.rewind();
  CHECK_THROWS_AS(resource.allocate(16, 16), sp::ApiMisuse);
}

TEST_CASE("what does not fit is a bad_alloc, as every memory resource has it") {
  alignas(16) std::byte buffer[64];
  Pool pool(buffer);
  sp::PoolResource resource(pool);
  CHECK_THROWS_AS(std::pmr::vector<double>(10, &resource), std::bad_alloc);
}
