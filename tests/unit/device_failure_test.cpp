// SPDX-License-Identifier: MIT
// The record on the host; that device code writes it is tested in tests/device.
#include <scratchpad/device_failure.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/shared_space.hpp>

#include "support/catch.hpp"

namespace sp = scratchpad;
using sp::DeviceFailure;

TEST_CASE("a failure record is plain bytes, the same on host and device, and all zero means no failure") {
  STATIC_REQUIRE(std::is_trivially_copyable_v<DeviceFailure> && std::is_standard_layout_v<DeviceFailure>);
  // Two numbers of 4 bytes, three of 8, no padding.
  STATIC_REQUIRE(sizeof(DeviceFailure) == 32);
  const auto record = std::bit_cast<DeviceFailure>(std::array<std::byte, 32>{});
  CHECK(record.what == DeviceFailure::none);
}

TEST_CASE("on the host an overflow is thrown and no record written") {
  alignas(16) std::byte memory[64];
  sp::BumpAllocator<sp::SharedSpace> pool(memory);
  DeviceFailure record;
  pool.report_failures_to(&record);
  (void)pool.allocate<std::byte>(16);
  CHECK_THROWS_AS(pool.allocate<std::byte>(49), sp::ScratchOverflow);
  CHECK(record.what == DeviceFailure::none);
  CHECK(record.block == 0);
  CHECK(record.requested == 0);
  CHECK(record.used == 0);
  CHECK(record.capacity == 0);
}
