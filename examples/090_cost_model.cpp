// SPDX-License-Identifier: MIT
// Watching a pool: a cost model that charges what a tiled kernel does. A copy_to is work on scratch bytes, so it is
// charged to the arithmetic unit; only what is fetched from outside is charged to the transfer engine.
#include <cstddef>

#include <fmt/core.h>

#include <scratchpad/core.hpp>

#include "support/check.hpp"

namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::HostSpace>;

class CostModel : public sp::PoolObserver {
 public:
  static constexpr std::size_t lanes = 64;           // elements a cycle
  static constexpr std::size_t transfer_bytes = 32;  // bytes a cycle

  std::size_t compute_cycles = 0;
  std::size_t transfer_cycles = 0;
  std::size_t copies = 0;

  void compute(std::size_t elements) { compute_cycles += (elements + lanes - 1) / lanes; }
  void transfer(std::size_t bytes) { transfer_cycles += (bytes + transfer_bytes - 1) / transfer_bytes; }

  // The pool reports a copy; who writes a kernel does not have to.
  void on_copy(const sp::PoolView&, const sp::CopyEvent& event) override {
    ++copies;
    compute(event.elements);
  }
};

// The sum of all tiles of a matrix, each of which is fetched.
template <class Fetch, class Add>
constexpr void accumulate(Pool& pool, int tiles, Fetch fetch, Add add) {
  auto sum = sp::tensor<float>(pool, "sum", 128, 64);
  auto staged = sp::tensor<float>(pool, "staged", 128, 64);
  for (int j = 0; j < tiles; ++j) {
    sp::ScratchScope tile(pool);
    auto result = sp::tensor<float>(pool, "result", 128, 64);
    fetch(staged, j);
    add(sum, staged, result, j);
    sp::copy_to(pool, sum, result);
  }
}

constexpr int tiles = 4;
constexpr auto layout = [](Pool& pool) { accumulate(pool, tiles, sp::no_work, sp::no_work); };
static_assert(sp::workspace_bytes(layout) == 98'304);  // 3 x 32,768

}  // namespace

int main() {
  examples::Checks checks;
  CostModel cost;
  alignas(16) static std::byte scratch[sp::workspace_bytes(layout)];
  float corner = 0.0F;
  {
    Pool pool(scratch);
    pool.watch(&cost);
    accumulate(
        pool, tiles,
        [&](auto& staged, int j) {
          for (float& x : staged.span()) x = static_cast<float>(j + 1);
          cost.transfer(staged.size_bytes());
        },
        [&](auto& sum, auto& staged, auto& result, int j) {
          for (int r = 0; r < 128; ++r) {
            for (int c = 0; c < 64; ++c) result(r, c) = staged(r, c) + (j == 0 ? 0.0F : sum(r, c));
          }
          cost.compute(result.size());
          corner = result(127, 63);
        });
  }
  checks.equal("the sum is 1 + 2 + 3 + 4", corner, 10.0F);
  checks.equal("every copy was seen", cost.copies, 4);
  // A tile has 128 x 64 = 8,192 elements: 128 cycles to add, 128 to copy.
  checks.equal("adding and copying are computed: 4 x (128 + 128)", cost.compute_cycles, 1'024);
  // 4 x 32,768 bytes at 32 a cycle: the copies add nothing.
  checks.equal("only the fetches are transferred: 4 x 1,024", cost.transfer_cycles, 4'096);

  // The layout can be watched as well: a copy is then reported, although no byte moves.
  CostModel planned;
  Pool measuring = Pool::measuring();
  measuring.watch(&planned);
  layout(measuring);
  checks.equal("a measured layout reports its copies", planned.copies, 4);
  checks.equal("and their cost: 4 x 128", planned.compute_cycles, 512);

  fmt::print("compute: {} cycles, {} of them for {} copies; transfer: {} cycles\n", cost.compute_cycles,
             cost.copies * 128, cost.copies, cost.transfer_cycles);
  return checks.result();
}
