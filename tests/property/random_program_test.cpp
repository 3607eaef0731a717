// SPDX-License-Identifier: MIT
// Programs of random calls, right and wrong ones, against the naive model: support/program.hpp says what is compared.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/program.hpp"

namespace {

// Some programs are short, so that a failure among them is easy to read.
std::vector<std::uint8_t> random_bytes(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> bytes(20 + random() % (seed % 4 == 0 ? 60 : 900));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

}  // namespace

TEST_CASE("a pool does what the naive model does, whatever it is asked for", "[program]") {
  constexpr std::uint64_t first_seed = 1;
  constexpr std::uint64_t programs = 10'000;
  program::Counts seen;
  for (std::uint64_t seed = first_seed; seed < first_seed + programs; ++seed) {
    try {
      program::run(random_bytes(seed), seen);
    } catch (const program::Mismatch& mismatch) {
      FAIL("seed " << seed << ": " << mismatch.what());
    }
  }
  // A program that never gets anywhere proves nothing: each kind of call was made, and refused, often.
  CHECK(seen.programs == programs);
  CHECK(seen.calls > 500'000);
  CHECK(seen.blocks > 80'000);
  CHECK(seen.over_aligned_blocks > 30'000);
  CHECK(seen.empty_blocks > 30'000);
  CHECK(seen.overflows > 40'000);
  CHECK(seen.overflows_while_measuring > 9'000);
  CHECK(seen.failed_tries > 10'000);
  CHECK(seen.bad_alignments > 10'000);
  CHECK(seen.negative_extents > 1'000);
  CHECK(seen.wrapping_extents > 1'000);
  CHECK(seen.scopes > 20'000);
  CHECK(seen.scope_rewinds > 10'000);
  CHECK(seen.saves > 20'000);
  CHECK(seen.saves_too_deep > 10'000);
  CHECK(seen.rewinds > 6'000);
  CHECK(seen.rewinds_refused_stale > 9'000);
  CHECK(seen.rewinds_refused_order > 8'000);
  CHECK(seen.rewinds_refused_foreign > 10'000);
  CHECK(seen.resets > 4'000);
  CHECK(seen.resets_refused > 10'000);
  CHECK(seen.copies > 800);
  CHECK(seen.copies_between_pools > 1'000);
  CHECK(seen.copies_onto_itself > 10'000);
  CHECK(seen.copies_refused_shape > 20'000);
  CHECK(seen.copies_refused_dead > 4'000);
  CHECK(seen.copies_refused_foreign > 3'000);
  CHECK(seen.copies_refused_overlap > 200);
  CHECK(seen.observer_refusals > 6'000);
  CHECK(seen.watches > 1'000);
  CHECK(seen.watches_refused > 10'000);
  CHECK(seen.figures_refused > 7'000);
  CHECK(seen.constructions_refused > 7'000);
  CHECK(seen.dead_tensors_seen > 1'000'000);
}

TEST_CASE("a program that runs out of bytes at any point is a program", "[program]") {
  program::Counts seen;
  const std::vector<std::uint8_t> bytes = random_bytes(2);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    program::run(std::span(bytes).first(size), seen);
  }
  REQUIRE(seen.programs == bytes.size() + 1);
}
