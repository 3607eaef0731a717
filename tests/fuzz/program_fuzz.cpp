// SPDX-License-Identifier: MIT
// Every input is a program of calls of a pool, compared call by call with the naive model: see support/program.hpp.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "support/program.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  program::Counts counts;
  try {
    program::run(std::span<const std::uint8_t>(data, size), counts);
  } catch (const program::Mismatch& mismatch) {
    std::fprintf(stderr, "%s\n", mismatch.what());
    std::abort();
  }
  return 0;
}
