// SPDX-License-Identifier: MIT
// A state that every step replaces: swap two handles, or copy_to? Swapping moves no byte but keeps a second buffer
// through the whole step. Copying moves the state once a step but needs the second buffer only where the step writes it.
//
// Computed: a step that gathers 64 sums through a large table, and then moves the state by them.
#include <cstddef>
#include <utility>

#include <fmt/core.h>

#include <scratchpad/core.hpp>

#include "support/check.hpp"

namespace sp = scratchpad;

namespace {

using Pool = sp::BumpAllocator<sp::HostSpace>;

constexpr int size = 1'024;
constexpr int steps = 9;

// Two handles, both born outside of the loop, so that both live through it. What is swapped are the handles.
template <class Begin, class Gather, class Move, class End>
constexpr void run_swapping(Pool& pool, Begin begin, Gather gather, Move move, End end) {
  auto now = sp::tensor<float>(pool, "state a", size);   // 4,096 B
  auto next = sp::tensor<float>(pool, "state b", size);  // 4,096 B
  begin(now);
  for (int i = 0; i < steps; ++i) {
    sp::ScratchScope step(pool);
    auto sums = sp::tensor<float>(pool, "sums", 64);  // 256 B
    {
      sp::ScratchScope first_phase(pool);
      auto table = sp::tensor<float>(pool, "table", 64, 64);  // 16,384 B
      gather(now, table, sums);
    }
    move(now, sums, next);
    std::swap(now, next);
  }
  end(now);  // after an odd number of steps this is "state b"
}

// One handle that stays where it is. The new state is a temporary of the step's second phase, where the table is gone.
template <class Begin, class Gather, class Move, class End>
constexpr void run_copying(Pool& pool, Begin begin, Gather gather, Move move, End end) {
  auto state = sp::tensor<float>(pool, "state", size);  // 4,096 B
  begin(state);
  for (int i = 0; i < steps; ++i) {
    sp::ScratchScope step(pool);
    auto sums = sp::tensor<float>(pool, "sums", 64);  // 256 B
    {
      sp::ScratchScope first_phase(pool);
      auto table = sp::tensor<float>(pool, "table", 64, 64);  // 16,384 B
      gather(state, table, sums);
    }
    auto next = sp::tensor<float>(pool, "next", size);  // 4,096 B, in the table's bytes
    move(state, sums, next);
    sp::copy_to(pool, state, next);
  }
  end(state);
}

constexpr auto swapping = [](Pool& pool) { run_swapping(pool, sp::no_work, sp::no_work, sp::no_work, sp::no_work); };
constexpr auto copying = [](Pool& pool) { run_copying(pool, sp::no_work, sp::no_work, sp::no_work, sp::no_work); };
static_assert(sp::workspace_bytes(swapping) == 24'832);  // 2 x 4,096 + 256 + 16,384
static_assert(sp::workspace_bytes(copying) == 20'736);   //     4,096 + 256 + max(16,384, 4,096)

// The numbers are integers and the steps small, so a float holds every result exactly.
void begin(auto& state) {
  for (int i = 0; i < size; ++i) state(i) = static_cast<float>(i % 7);
}
void gather(const auto& state, auto& table, auto& sums) {
  for (int r = 0; r < 64; ++r) {
    for (int c = 0; c < 64; ++c) table(r, c) = state((r * 64 + c) % size);
    sums(r) = 0.0F;
    for (int c = 0; c < 64; ++c) sums(r) += table(r, c);
  }
}
void move(const auto& state, const auto& sums, auto& next) {
  // A neighbour is read, so the step cannot be done in place.
  for (int i = 0; i < size; ++i) next(i) = state((i + 1) % size) + (sums(i % 64) > 190.0F ? 1.0F : -1.0F);
}
double digest(const auto& state) {
  double sum = 0.0;
  for (int i = 0; i < size; ++i) sum += static_cast<double>(state(i)) * (i % 13);
  return sum;
}

struct CopiedBytes : sp::PoolObserver {
  std::size_t bytes = 0;
  void on_copy(const sp::PoolView&, const sp::CopyEvent& event) override { bytes += event.bytes; }
};

// The same steps on two arrays that no pool knows of.
double expected_digest() {
  static float states[2][size];
  static float table[64][64];
  float sums[64];
  const auto at = [](int which) { return [which](int i) -> float& { return states[which][i]; }; };
  auto now = at(0);
  auto next = at(1);
  begin(now);
  for (int i = 0; i < steps; ++i) {
    auto sum = [&](int r) -> float& { return sums[r]; };
    auto cell = [&](int r, int c) -> float& { return table[r][c]; };
    gather(now, cell, sum);
    move(now, sum, next);
    for (int k = 0; k < size; ++k) states[0][k] = states[1][k];
  }
  return digest(now);
}

}  // namespace

int main() {
  examples::Checks checks;
  alignas(16) static std::byte memory[24'832];
  const double expected = expected_digest();

  struct Outcome {
    double digest = 0.0;
    std::size_t peak = 0;
    std::size_t copied = 0;
    const float* first = nullptr;
    const float* last = nullptr;
  };
  const auto measure = [&](auto run) {
    Outcome outcome;
    CopiedBytes observer;
    Pool pool(memory);
    pool.watch(&observer);
    run(
        pool, [&](auto& state) { begin(state), outcome.first = state.data(); },
        [](auto& state, auto& table, auto& sums) { gather(state, table, sums); },
        [](auto& state, auto& sums, auto& next) { move(state, sums, next); },
        [&](auto& state) { outcome.digest = digest(state), outcome.last = state.data(); });
    outcome.peak = pool.peak();
    outcome.copied = observer.bytes;
    return outcome;
  };
  const Outcome swapped = measure([](auto&&... arguments) { run_swapping(arguments...); });
  const Outcome copied = measure([](auto&&... arguments) { run_copying(arguments...); });

  checks.equal("swapping gives the result", swapped.digest, expected);
  checks.equal("copying gives the result", copied.digest, expected);
  checks.equal("swapping copies nothing", swapped.copied, 0);
  checks.equal("copying moves the state once a step: 9 x 4,096", copied.copied, 36'864);
  checks.equal("swapping needs both states beside the table", swapped.peak, 24'832);
  checks.equal("copying needs one state less", copied.peak, 20'736);
  checks.holds("after an odd number of swaps the state is in the other buffer", swapped.first != swapped.last);
  checks.holds("copying leaves the state where it was", copied.first == copied.last);

  // What must not be swapped: a handle that was born in the step's scope. The pool knows it as dead.
  Pool pool(memory);
  auto state = sp::tensor<float>(pool, "state", size);
  {
    sp::ScratchScope step(pool);
    auto next = sp::tensor<float>(pool, "next", size);
    std::swap(state, next);
  }
  checks.holds("a handle swapped out of its scope is not live", !pool.is_live(state));

  fmt::print("swap: {} bytes of scratch, {} copied;  copy_to: {} bytes of scratch, {} copied\n", swapped.peak,
             swapped.copied, copied.peak, copied.copied);
  return checks.result();
}
