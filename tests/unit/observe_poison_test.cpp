// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstddef>
#include <limits>

#include <scratchpad/observe/poison.hpp>
#include <scratchpad/scratchpad.hpp>
#include <support/catch.hpp>
#include <support/spaces.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<test::Tcm>;

namespace {

struct Buffer {
  alignas(64) std::byte data[256];
  explicit Buffer(int value = 0) {
    for (std::byte& b : data) b = static_cast<std::byte>(value);
  }
  // How many of [from, to) are 0xFF.
  int poisoned(std::size_t from, std::size_t to) const {
    int n = 0;
    for (std::size_t i = from; i < to; ++i) n += data[i] == std::byte{0xFF};
    return n;
  }
};

}  // namespace

TEST_CASE("poison fills every free byte when it is attached, and none past the capacity") {
  Buffer buffer;
  sp::Poison poison;
  Pool pool(buffer.data, 200, &poison);  // capacity 192
  CHECK(buffer.poisoned(0, 192) == 192);
  CHECK(buffer.poisoned(192, 256) == 0);
}

TEST_CASE("poison fills what a scope gives back, and leaves what lives further out") {
  Buffer buffer;
  sp::Poison poison;
  Pool pool(buffer.data, sizeof buffer.data, &poison);
  auto kept = pool.allocate<std::byte>(32);
  for (std::byte& b : kept) b = std::byte{1};
  {
    sp::ScratchScope scope(pool);
    auto block = pool.allocate<std::byte>(48);
    for (std::byte& b : block) b = std::byte{2};
    CHECK(buffer.poisoned(32, 80) == 0);
    scope.rewind();
    CHECK(buffer.poisoned(32, 80) == 48);
    auto again = pool.allocate<std::byte>(16);
    for (std::byte& b : again) b = std::byte{3};
  }
  CHECK(buffer.poisoned(0, 32) == 0);
  CHECK(buffer.poisoned(32, 256) == 224);
  pool.reset();
  CHECK(buffer.poisoned(0, 256) == 256);
}

TEST_CASE("poisoned bytes read as NaN in every floating-point format") {
  Buffer buffer;
  sp::Poison poison;
  Pool pool(buffer.data, sizeof buffer.data, &poison);
  CHECK(std::isnan(pool.allocate<float>(4)[1]));
  CHECK(std::isnan(pool.allocate<double>(4)[1]));
  // bfloat16: sign 1, exponent all ones, a mantissa that is not zero.
  const auto half = pool.allocate<std::uint16_t>(1)[0];
  CHECK((half & 0x7F80U) == 0x7F80U);
  CHECK((half & 0x007FU) != 0U);
}

TEST_CASE("poison leaves a measuring pool and memory that the host cannot reach alone") {
  sp::Poison poison;
  auto measuring = Pool::measuring();
  measuring.watch(&poison);  // would fault if it wrote
  {
    sp::ScratchScope scope(measuring);
    (void)measuring.allocate<float>(100);
  }
  CHECK(measuring.required_bytes() == 400);

  Buffer buffer(7);
  sp::BumpAllocator<test::Far> far(buffer.data, sizeof buffer.data, &poison);
  CHECK(buffer.poisoned(0, 256) == 0);
}

TEST_CASE("poison changes no offset and no figure") {
  const auto trace = [](sp::PoolObserver* observer) {
    Buffer buffer;
    Pool pool(buffer.data, sizeof buffer.data, observer);
    std::size_t sum = 0;
    const auto note = [&](auto block) {
      sum = sum * 31 + static_cast<std::size_t>(reinterpret_cast<std::byte*>(block.data()) - buffer.data);
    };
    note(pool.allocate<char>(13));
    {
      sp::ScratchScope scope(pool);
      note(pool.allocate<double>(3));
      note(pool.allocate<char>(1, sp::align(64)));
    }
    note(pool.allocate<float>(8));
    return sum * 1000 + pool.used() + pool.peak();
  };
  sp::Poison poison;
  CHECK(trace(nullptr) == trace(&poison));
}
