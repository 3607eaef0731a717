// SPDX-License-Identifier: MIT
// Whether the caller brings a workspace is a matter of types: two overloads. It is not to be read off a pointer. An
// empty span means "how much?" to one author and "borrow one and run" to the next, and a measuring pool's pointers are
// not null at all. This example first does it wrong and shows what happens.
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <fmt/core.h>

#include <scratchpad/scratchpad.hpp>

#include "support/check.hpp"

namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::HostSpace>;

// One pass of a running sum, through a copy of the old values.
void smooth(std::span<float> data, std::span<float> old) {
  for (std::size_t i = 0; i < data.size(); ++i) old[i] = data[i];
  for (std::size_t i = 1; i < data.size(); ++i) data[i] = old[i] + old[i - 1];
}

// ---- wrong: "no workspace" is a null pointer ------------------------------------------------------------------------

namespace wrong {

// The convenience: who has no workspace passes none, and the function borrows one.
void smooth(std::span<float> data, std::span<float> work = {}) {
  std::vector<float> own;
  if (work.data() == nullptr) {
    own.resize(data.size());
    work = own;
  }
  ::smooth(data, work);
}

// The layout of a caller that believes the other convention: an empty span only asks.
void layout(Pool& pool, std::span<float> data) {
  (void)pool.allocate<float>(data.size(), "old");
  smooth(data, {});  // runs
}

}  // namespace wrong

// ---- right: the skeleton, and one overload for each of the two callers ----------------------------------------------

namespace right {

template <class Body>
constexpr void skeleton(Pool& pool, std::size_t n, Body body) {
  sp::ScratchScope scope(pool);
  body(pool.allocate<float>(n, "old"));
}

// For the caller that has a pool.
void smooth(Pool& pool, std::span<float> data) {
  skeleton(pool, data.size(), [&](std::span<float> old) { ::smooth(data, old); });
}

// For the caller that has none.
void smooth(std::span<float> data) {
  const auto layout = [&](Pool& pool) { skeleton(pool, data.size(), sp::no_work); };
  sp::ScratchBuffer buffer(sp::workspace_bytes(layout));
  Pool pool(buffer);
  smooth(pool, data);
}

}  // namespace right

}  // namespace

int main() {
  examples::Checks checks;
  constexpr std::array<float, 4> before{1, 2, 3, 4};
  constexpr std::array<float, 4> after{1, 3, 5, 7};

  // Wrong: asking for a size has changed the data.
  std::array<float, 4> data = before;
  const std::size_t asked = sp::workspace_bytes([&](Pool& pool) { wrong::layout(pool, data); });
  checks.equal("the wrong layout gives a size", asked, 16);
  checks.holds("and has run while it was only asked", data == after);

  // The other test does not help either: these pointers are never null, wherever somebody looks at run time.
  Pool measuring = Pool::measuring();
  checks.holds("a measuring pool hands out pointers that are not null", measuring.allocate<float>(4).data() != nullptr);
  // And a workspace may be there and empty: a problem of size 0 on an empty pool.
  Pool empty(nullptr, 0);
  checks.holds("an empty pool's empty block is null", empty.allocate<float>(0).data() == nullptr);

  // Right: asking changes nothing, and either call runs once.
  data = before;
  const std::size_t need = sp::workspace_bytes([&](Pool& pool) { right::skeleton(pool, data.size(), sp::no_work); });
  checks.equal("the right layout gives the same size", need, 16);
  checks.holds("and has not touched the data", data == before);

  alignas(16) std::byte memory[16];
  Pool pool(memory);
  right::smooth(pool, data);
  checks.holds("with a pool it runs once", data == after);
  checks.equal("in the bytes that were asked for", pool.peak(), 16);
  data = before;
  right::smooth(data);
  checks.holds("without one it runs once", data == after);

  fmt::print("null test: the data were changed by asking for a size; overloads: they were not\n");
  return checks.result();
}
