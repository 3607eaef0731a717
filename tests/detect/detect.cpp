// SPDX-License-Identifier: MIT
// One fault, or the control that has none, on a pool in heap, static or stack memory. Built and run by run.py under each
// detector; a plain main, because there is no instrumented Catch2 for MemorySanitizer.
//
//   detect FAULT heap|static|stack default|own|nobody
//
// The last word says who watches the pool: the build's default observer; an observer of the program's own, made where the
// optimiser sees all of it; nobody.
//
// Exit status 0: nothing was noticed. 3: the result is NaN (what Poison leads to). A detector ends the program otherwise.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <scratchpad/scratchpad.hpp>
#include <span>
#include <string_view>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

namespace {

constexpr std::size_t bytes = 4096;
volatile float sink;
volatile char char_sink;

// Plain accesses at constant offsets, not volatile ones: the compiler may reason about them, and a detector has to see
// them all the same. Nothing here hides from the optimiser which memory a pool is on.
inline float use(const float* data, std::size_t i) {
  const float value = data[i];
  sink = value;
  return value;
}

inline void fill(std::span<float> block, float value) {
  for (float& x : block) x = value;
}

// ---- the control: everything that is allowed, to the last byte -----------------------------------------------------

inline float none(Pool& pool) {
  auto kept = sp::tensor<float>(pool, "kept", 8);
  fill(kept, 1.0F);
  float sum = 0.0F;
  for (int turn = 0; turn < 3; ++turn) {
    sp::ScratchScope scope(pool);
    auto block = sp::tensor<float>(pool, "block", 7);
    fill(block, 2.0F);
    auto odd = pool.allocate<char>(13);
    std::memset(odd.data(), 1, odd.size());
    scope.rewind();
    auto again = sp::tensor<float>(pool, "again", 64);
    fill(again, 3.0F);
    sum += use(again.data(), 63);
  }
  return sum + use(kept.data(), 7);
}

// ---- the faults ----------------------------------------------------------------------------------------------------

inline float read_after_scope(Pool& pool) {
  const float* stale = nullptr;
  {
    sp::ScratchScope scope(pool);
    auto block = sp::tensor<float>(pool, "block", 8);
    fill(block, 2.0F);
    stale = block.data();
  }
  return use(stale, 3);
}
inline float read_after_scope_rewind(Pool& pool) {
  sp::ScratchScope scope(pool);
  auto block = sp::tensor<float>(pool, "block", 8);
  fill(block, 2.0F);
  scope.rewind();
  return use(block.data(), 3);
}
inline float read_after_reset(Pool& pool) {
  auto block = sp::tensor<float>(pool, "block", 8);
  fill(block, 2.0F);
  pool.reset();
  return use(block.data(), 3);
}
inline float read_uninitialised(Pool& pool) {
  auto block = sp::tensor<float>(pool, "block", 8);
  return use(block.data(), 3);
}
inline float read_free(Pool& pool) {
  auto block = sp::tensor<float>(pool, "block", 8);
  fill(block, 2.0F);
  return use(block.data() + 8, 16);
}
inline float write_past_block(Pool& pool) {
  auto odd = pool.allocate<char>(13);
  std::memset(odd.data(), 1, 13);
  odd.data()[13] = 1;
  return 0.0F;
}
inline float read_padding(Pool& pool) {
  auto odd = pool.allocate<char>(13);
  std::memset(odd.data(), 1, 13);
  char_sink = odd.data()[15];
  return 0.0F;
}

// ---- where the memory is -------------------------------------------------------------------------------------------

struct alignas(16) Memory {
  std::byte data[bytes];
};
Memory static_memory;

struct OnHeap {
  std::unique_ptr<Memory> owner = std::make_unique<Memory>();
  std::byte* memory() { return owner->data; }
};
struct Static {
  std::byte* memory() { return static_memory.data; }
};
struct OnStack {
  Memory own;
  std::byte* memory() { return own.data; }
};

#if SCRATCHPAD_ASAN || SCRATCHPAD_MSAN || SCRATCHPAD_VALGRIND
using Observer = sp::Sanitizer;
#else
using Observer = sp::Poison;
#endif

template <float (*Fault)(Pool&), class Storage>
int run(std::string_view watched_by) {
  Storage storage;
  // Defined and not NaN, so that without an observer no detector has anything to report.
  std::memset(storage.memory(), 0, bytes);
  float result = 0.0F;
  if (watched_by == "default") {
    Pool pool(storage.memory(), bytes);
    result = Fault(pool);
  } else if (watched_by == "own") {
    Observer observer;
    Pool pool(storage.memory(), bytes, &observer);
    result = Fault(pool);
  } else {
    Pool pool(storage.memory(), bytes, nullptr);
    result = Fault(pool);
  }
  // The pool has ended: every byte is its owner's again, in every build.
  std::memset(storage.memory(), 0, bytes);
  for (std::size_t i = 0; i < bytes; ++i) char_sink = static_cast<char>(storage.memory()[i]);
  // What a kernel does with a result: it decides by it. (MemorySanitizer and Memcheck report undefined values here.)
  if (result > 0.0F) return 0;
  return std::isnan(result) ? 3 : 0;
}

template <float (*Fault)(Pool&)>
int run_on(std::string_view storage, std::string_view watched_by) {
  if (storage == "static") return run<Fault, Static>(watched_by);
  if (storage == "stack") return run<Fault, OnStack>(watched_by);
  return run<Fault, OnHeap>(watched_by);
}

struct Entry {
  std::string_view name;
  int (*run)(std::string_view, std::string_view);
};
constexpr Entry entries[] = {
    {"none", run_on<none>},
    {"read_after_scope", run_on<read_after_scope>},
    {"read_after_scope_rewind", run_on<read_after_scope_rewind>},
    {"read_after_reset", run_on<read_after_reset>},
    {"read_uninitialised", run_on<read_uninitialised>},
    {"read_free", run_on<read_free>},
    {"write_past_block", run_on<write_past_block>},
    {"read_padding", run_on<read_padding>},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  for (const Entry& entry : entries) {
    if (entry.name == argv[1]) return entry.run(argv[2], argv[3]);
  }
  std::fprintf(stderr, "detect: unknown fault\n");
  return 2;
}
