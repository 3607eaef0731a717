// SPDX-License-Identifier: MIT
// What the library is in device code, run on the host. Compiled with device_branch.hpp in front.
#include <cstddef>
#include <cstdint>
#include <limits>

#include <scratchpad/core.hpp>

#include "support/catch.hpp"

namespace sp = scratchpad;
using sp::DeviceFailure;
using test::Trapped;
using Pool = sp::BumpAllocator<sp::SharedSpace>;

namespace {

struct Fixture {
  alignas(64) std::byte memory[256];
  Pool pool{memory};
  DeviceFailure record;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "in device code an overflow is recorded, made visible to the host, and traps") {
  pool.report_failures_to(&record);
  (void)pool.allocate<float>(5);  // 20 bytes, 32 reserved
  (void)sp::tensor<float>(pool, "a", 2, 2);
  const int before = test::fences_to_host;
  CHECK_THROWS_AS((void)sp::tensor<float>(pool, "b", 7, 8), Trapped);
  CHECK(record.what == DeviceFailure::overflow);
  CHECK(record.block == 2);
  CHECK(record.requested == 224);
  CHECK(record.used == 48);
  CHECK(record.capacity == 256);
  CHECK(test::fences_to_host == before + 1);
  CHECK(pool.used() == 48);
}

TEST_CASE_METHOD(Fixture, "the record's block counts all that were handed out, also those given back") {
  pool.report_failures_to(&record);
  (void)pool.allocate<float>(4);
  for (int i = 0; i < 3; ++i) {
    const sp::ScratchScope scope(pool, sp::NoFence{});
    (void)pool.allocate<float>(4);
    (void)pool.allocate<float>(4, sp::align(64));
    (void)pool.try_allocate<float>(4);
  }
  CHECK_THROWS_AS((void)pool.allocate<std::byte>(241), Trapped);
  CHECK(record.block == 10);
  CHECK(record.requested == 241);
  CHECK(record.used == 16);
}

TEST_CASE_METHOD(Fixture, "bytes that do not fit into a number are recorded as the largest one") {
  pool.report_failures_to(&record);
  CHECK_THROWS_AS((void)pool.allocate<double>(std::numeric_limits<std::size_t>::max() / 4), Trapped);
  CHECK(record.requested == std::numeric_limits<std::uint64_t>::max());
  CHECK(record.block == 0);
}

TEST_CASE_METHOD(Fixture, "without a place for a record an overflow only traps") {
  const int before = test::fences_to_host;
  CHECK_THROWS_AS((void)pool.allocate<std::byte>(257), Trapped);
  pool.report_failures_to(&record);
  pool.report_failures_to(nullptr);
  CHECK_THROWS_AS((void)pool.allocate<std::byte>(257), Trapped);
  CHECK(record.what == DeviceFailure::none);
  CHECK(test::fences_to_host == before);
}

TEST_CASE_METHOD(Fixture, "try_allocate leaves no record and does not trap") {
  pool.report_failures_to(&record);
  CHECK(!pool.try_allocate<std::byte>(257));
  CHECK(record.what == DeviceFailure::none);
}

TEST_CASE_METHOD(Fixture, "in device code misuse traps") {
  CHECK_THROWS_AS((void)sp::tensor<float>(pool, "negative", -1), Trapped);
  CHECK_THROWS_AS((void)pool.allocate<float>(1, sp::align(24)), Trapped);
  const auto outer = pool.save();
  const auto inner = pool.save();
  CHECK_THROWS_AS(pool.rewind(outer), Trapped);
  pool.rewind(inner);
  pool.rewind(outer);
  CHECK_THROWS_AS(pool.rewind(outer), Trapped);
  for (int i = 0; i < 8; ++i) (void)pool.save();
  CHECK_THROWS_AS((void)pool.save(), Trapped);
  CHECK_THROWS_AS(pool.reset(), Trapped);
  const auto dst = sp::tensor<float>(pool, 2);
  const auto src = sp::tensor<float>(pool, 3);
  CHECK_THROWS_AS(sp::copy_to(pool, dst, src), Trapped);
  CHECK_THROWS_AS((void)pool.required_bytes(), Trapped);
}

TEST_CASE_METHOD(Fixture, "in device code scopes and raw save-points rewind to where they were opened") {
  (void)pool.allocate<float>(4);
  {
    sp::ScratchScope outer(pool, sp::NoFence{});
    (void)pool.allocate<float>(4);
    {
      const sp::ScratchScope inner(pool, sp::NoFence{});
      (void)pool.save();
      (void)pool.allocate<float>(8);
      CHECK(pool.used() == 64);
      CHECK(pool.depth() == 3);
    }
    CHECK(pool.used() == 32);
    CHECK(pool.depth() == 1);
    outer.rewind();
    CHECK(pool.used() == 16);
    CHECK(pool.depth() == 1);
    (void)pool.allocate<float>(8);
  }
  CHECK(pool.used() == 16);
  CHECK(pool.depth() == 0);
}

TEST_CASE("in device code a pool does not look at its base") {
  // A device does not check it either: the launch is where the alignment of shared memory is decided.
  alignas(16) std::byte memory[32];
  Pool pool(memory + 1, 16);
  CHECK(pool.allocate<std::byte>(16).data() == memory + 1);
}

TEST_CASE("in device code a measuring pool gives the numbers that it gives on the host") {
  CHECK(sp::workspace_bytes([](Pool& pool) {
          (void)pool.allocate<float>(5);  // 32
          for (int i = 0; i < 3; ++i) {
            const sp::ScratchScope scope(pool, sp::NoFence{});
            (void)pool.allocate<float>(4);                 // 48
            (void)pool.allocate<float>(1, sp::align(64));  // at 64, to 80
          }
        }) == 80 + (64 - 16));
}

TEST_CASE_METHOD(Fixture, "in device code an alignment that the quantum meets already takes the path that hits") {
  CHECK(pool.allocate<float>(4, sp::align(16)).size() == 4);
  CHECK(pool.allocate<float>(4, sp::align(1)).size() == 4);
  CHECK(pool.used() == 32);
}

TEST_CASE_METHOD(Fixture, "a block without elements is not counted in the record") {
  pool.report_failures_to(&record);
  (void)pool.allocate<float>(0);
  (void)pool.allocate<float>(0, sp::align(64));
  (void)pool.allocate<float>(1);
  CHECK_THROWS_AS((void)pool.allocate<std::byte>(257), Trapped);
  CHECK(record.block == 1);
}
