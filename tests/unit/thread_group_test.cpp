// SPDX-License-Identifier: MIT
/// \file
/// Groups of threads that share a region: the fence of their scopes and the copy they make together, on emulated blocks.
#include <scratchpad/thread_group.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <scratchpad/copy_to.hpp>
#include <scratchpad/pool_observer.hpp>
#include <scratchpad/scratch_scope.hpp>
#include <scratchpad/shared_space.hpp>
#include <scratchpad/tensor.hpp>
#include <scratchpad/workspace_bytes.hpp>

#include "support/catch.hpp"
#include "support/constant.hpp"
#include "support/emulated_block.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::EmulatedBlock;
using test::EmulatedGroup;
using Pool = sp::BumpAllocator<sp::SharedSpace>;

namespace {

// ---- groups that need no block --------------------------------------------------------------------------------------

/// One of `count` threads that nobody waits for; counts the barriers it comes to.
struct Member {
  int* syncs;
  std::size_t rank = 0;
  std::size_t count = 1;
  std::size_t thread_rank() const { return rank; }
  std::size_t size() const { return count; }
  void sync() const { ++*syncs; }
};

struct Alone {
  static constexpr std::size_t thread_rank() { return 0; }
  static constexpr std::size_t size() { return 1; }
  static constexpr void sync() {}
};

struct WithoutSync {
  std::size_t thread_rank() const;
  std::size_t size() const;
};
struct OnlyMutable {
  std::size_t thread_rank();
  std::size_t size();
  void sync();
};

static_assert(sp::ThreadGroup<EmulatedGroup> && sp::ThreadGroup<Member> && sp::ThreadGroup<Alone>);
static_assert(!sp::ThreadGroup<WithoutSync> && !sp::ThreadGroup<OnlyMutable> && !sp::ThreadGroup<int>);

// ---- a kernel: every thread sums up, over the tiles, what its mirror image has loaded -----------------------------------

constexpr std::size_t threads = 4;
constexpr std::size_t tiles = 3;

template <class Fence, class Body>
constexpr void mirrored_sums(Pool& pool, const Fence& fence, Body body) {
  const auto sum = sp::tensor<float>(pool, "sum", threads);
  for (std::size_t j = 0; j < tiles; ++j) {
    const sp::ScratchScope tile(pool, fence);
    const auto x = sp::tensor<float>(pool, "x", threads);
    body(sum, x, j);
  }
}
constexpr std::size_t mirrored_bytes =
    sp::workspace_bytes([](Pool& pool) { mirrored_sums(pool, sp::NoFence{}, sp::no_work); });
static_assert(mirrored_bytes == 2 * threads * sizeof(float));

/// Thread r loads 100 j + r in tile j.
template <class Group, class Fence>
void mirrored_kernel(const Group& group, std::span<std::byte> shared, const Fence& fence, std::span<float> out) {
  Pool pool(shared);
  const std::size_t r = group.thread_rank();
  mirrored_sums(pool, fence, [&](auto sum, auto x, std::size_t j) {
    x(r) = static_cast<float>(100 * j + r);
    group.sync();
    sum(r) = (j == 0 ? 0.0F : sum(r)) + x(threads - 1 - r);
    if (j + 1 == tiles) out[r] = sum(r);
  });
}

// Thread r: (0 + 100 + 200) + 3 (3 - r).
const std::vector<float> right_sums{309, 306, 303, 300};

/// What the kernel gives with `make_fence(group)`.
template <class MakeFence>
std::vector<float> sums(const test::Late& late, MakeFence make_fence) {
  EmulatedBlock block(threads, mirrored_bytes, late);
  std::vector<float> out(threads, -1);
  block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
    mirrored_kernel(group, shared, make_fence(group), out);
  });
  CHECK(!block.any_error());
  return out;
}

constexpr auto no_fence = [](const EmulatedGroup&) { return sp::NoFence{}; };
constexpr auto plain_fence = [](const EmulatedGroup& group) { return sp::group_fence<false>(group); };
constexpr auto checked_fence = [](const EmulatedGroup& group) { return sp::group_fence<true>(group); };

}  // namespace

// ---- fences ---------------------------------------------------------------------------------------------------------

TEST_CASE("without a fence a thread that comes second reads the next tile's bytes, every time") {
  // Of two mirror images the first to go on loads the next tile in front of the other's eyes, which then reads 100 too
  // much; so in each tile that has a next one, and in every pair.
  int as_expected = 0;
  for (int round = 0; round < 200; ++round) {
    const std::vector<float> wrong = sums(test::everybody(threads), no_fence);
    as_expected += wrong[0] + wrong[3] == 309 + 300 + 200 && wrong[1] + wrong[2] == 306 + 303 + 200;
  }
  CHECK(as_expected == 200);
}

TEST_CASE("with a group's fence no schedule changes the result") {
  int right = 0;
  for (int round = 0; round < 200; ++round) right += sums(test::everybody(threads), plain_fence) == right_sums;
  CHECK(right == 200);
  for (const test::Late& late : test::schedules(threads)) {
    right = 0;
    for (int round = 0; round < 50; ++round) right += sums(late, plain_fence) == right_sums;
    for (int round = 0; round < 50; ++round) right += sums(late, checked_fence) == right_sums;
    CHECK(right == 100);
  }
}

TEST_CASE("a fence costs one barrier per rewind, a checked one two") {
  int plain = 0;
  int checked = 0;
  alignas(16) std::byte memory[64];
  Pool pool(memory);
  {
    sp::ScratchScope scope(pool, sp::group_fence<false>(Member{&plain}));
    CHECK(plain == 0);
    scope.rewind();
    CHECK(plain == 1);
  }
  CHECK(plain == 2);
  {
    sp::ScratchScope scope(pool, sp::group_fence<true>(Member{&checked}));
    CHECK(checked == 0);
    scope.rewind();
    CHECK(checked == 2);
  }
  CHECK(checked == 4);
}

TEST_CASE("a fence is run by every thread of a block, once per scope") {
  EmulatedBlock block(threads, mirrored_bytes);
  std::vector<float> out(threads);
  block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
    mirrored_kernel(group, shared, sp::group_fence<false>(group), out);
  });
  // The kernel's own barrier and the fence, in each of three tiles.
  for (std::size_t r = 0; r < threads; ++r) CHECK(block.syncs(r) == 6);
  block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
    mirrored_kernel(group, shared, sp::group_fence<true>(group), out);
  });
  for (std::size_t r = 0; r < threads; ++r) CHECK(block.syncs(r) == 9);
}

TEST_CASE("a fence is run when an exception leaves the scope") {
  int syncs = 0;
  alignas(16) std::byte memory[64];
  Pool pool(memory);
  const auto leave = [&] {
    const sp::ScratchScope scope(pool, sp::group_fence<false>(Member{&syncs}));
    throw std::runtime_error("leaves");
  };
  CHECK_THROWS_AS(leave(), std::runtime_error);
  CHECK(syncs == 1);
  CHECK(pool.depth() == 0);
}

TEST_CASE("the build decides whether a fence is checked") {
  using Fence = decltype(sp::group_fence(Alone{}));
  STATIC_REQUIRE(std::is_same_v<Fence, sp::GroupFence<Alone, SCRATCHPAD_CHECKS != 0>>);
}

TEST_CASE("after a checked fence a thread that kept a pointer into the scope reads NaN") {
  const bool checked = GENERATE(false, true);
  for (const test::Late& late : test::schedules(threads)) {
    EmulatedBlock block(threads, 16, late);
    std::vector<float> read(threads);
    block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
      Pool pool(shared);
      const std::size_t r = group.thread_rank();
      const float* kept = nullptr;
      const auto use = [&](const auto& fence) {
        const sp::ScratchScope scope(pool, fence);
        const auto x = sp::tensor<float>(pool, "x", threads);
        x(r) = static_cast<float>(r);
        kept = &x(r);
      };
      if (checked) {
        use(sp::group_fence<true>(group));
      } else {
        use(sp::group_fence<false>(group));
      }
      read[r] = *kept;
    });
    if (checked) {
      CHECK(std::all_of(read.begin(), read.end(), [](float x) { return std::isnan(x); }));
    } else {
      CHECK(read == std::vector<float>{0, 1, 2, 3});
    }
  }
}

TEST_CASE("a checked fence fills what the scope gives back, and nothing else") {
  int syncs = 0;
  alignas(16) std::byte memory[128] = {};
  Pool pool(memory);
  (void)pool.allocate<std::byte>(16);
  {
    sp::ScratchScope scope(pool, sp::group_fence<true>(Member{&syncs}));
    (void)pool.allocate<std::byte>(20);
    (void)pool.allocate<std::byte>(1);
  }
  // 16 bytes stay; 20 are rounded up to 32, 1 to 16.
  const auto filled = [](std::byte b) { return b == std::byte{0xFF}; };
  CHECK(std::none_of(memory, memory + 16, filled));
  CHECK(std::all_of(memory + 16, memory + 64, filled));
  CHECK(std::none_of(memory + 64, memory + 128, filled));
}

TEST_CASE("the threads of a checked fence share the bytes out") {
  int syncs = 0;
  alignas(16) std::byte memory[32] = {};
  Pool pool(memory);
  {
    sp::ScratchScope scope(pool, sp::group_fence<true>(Member{&syncs, 1, 3}));
    (void)pool.allocate<std::byte>(16);
  }
  for (std::size_t i = 0; i < 32; ++i) {
    const bool filled = i < 16 && i % 3 == 1;
    CHECK(memory[i] == (filled ? std::byte{0xFF} : std::byte{0}));
  }
}

TEST_CASE("a measuring pool comes to no barrier") {
  int syncs = 0;
  const Member member{&syncs};
  CHECK(sp::workspace_bytes([&](Pool& pool) {
          const auto kept = sp::tensor<float>(pool, "kept", 4);
          for (int j = 0; j < 2; ++j) {
            sp::ScratchScope scope(pool, sp::group_fence<true>(member));
            const auto x = sp::tensor<float>(pool, "x", 4);
            sp::copy_to(member, pool, kept, x);
            scope.rewind();
          }
        }) == 32);
  CHECK(syncs == 0);
}

TEST_CASE("a layout with the fence of a literal group is sized at compile time") {
  CHECK(test::is_constant_and_true([] {
    return sp::workspace_bytes([](Pool& pool) { mirrored_sums(pool, sp::group_fence(Alone{}), sp::no_work); }) == 32;
  }));
}

// ---- the copy that threads make together --------------------------------------------------------------------------------

TEST_CASE("a thread of a group copies every size-th element, beginning with its own") {
  int syncs = 0;
  alignas(16) std::byte memory[128];
  Pool pool(memory);
  const auto dst = sp::tensor<int>(pool, "dst", 2, 5);
  const auto src = sp::tensor<int>(pool, "src", 2, 5);
  std::fill_n(dst.data(), 10, -1);
  std::iota(src.data(), src.data() + 10, 0);
  sp::copy_to(Member{&syncs, 1, 4}, pool, dst, src);
  CHECK(std::vector<int>(dst.data(), dst.data() + 10) == std::vector<int>{-1, 1, -1, -1, -1, 5, -1, -1, -1, 9});
  CHECK(syncs == 1);
}

namespace {

/// How many of `elements` elements each thread finds in dst when the copy returns to it, under all schedules; -1: differs.
int found_after_copy(std::size_t block_threads, std::size_t elements) {
  int found = static_cast<int>(elements);
  for (const test::Late& late : test::schedules(block_threads)) {
    EmulatedBlock block(block_threads, 1024, late);
    std::vector<int> counts(block_threads, -1);
    block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
      Pool pool(shared);
      const auto dst = sp::tensor<int>(pool, "dst", elements);
      const sp::ScratchScope scope(pool, sp::group_fence<false>(group));
      const auto src = sp::tensor<int>(pool, "src", elements);
      for (std::size_t i = group.thread_rank(); i < elements; i += group.size()) src(i) = static_cast<int>(i) + 1000;
      group.sync();
      sp::copy_to(group, pool, dst, src);
      int equal = 0;
      for (std::size_t i = 0; i < elements; ++i) equal += dst(i) == static_cast<int>(i) + 1000;
      counts[group.thread_rank()] = equal;
    });
    CHECK(!block.any_error());
    for (int count : counts) {
      if (count != static_cast<int>(elements)) found = -1;
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a copy by a group is complete when it returns, to every thread") {
  CHECK(found_after_copy(4, 100) == 100);
  CHECK(found_after_copy(3, 4) == 4);
  CHECK(found_after_copy(1, 7) == 7);
}

TEST_CASE("a group with more threads than elements copies all of them") {
  CHECK(found_after_copy(5, 3) == 3);
  CHECK(found_after_copy(4, 1) == 1);
}

TEST_CASE("a copy of no elements by a group does nothing") { CHECK(found_after_copy(4, 0) == 0); }

TEST_CASE("a copy onto itself by a group does nothing") {
  EmulatedBlock block(threads, 16);
  block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
    Pool pool(shared);
    const auto x = sp::tensor<int>(pool, "x", threads);
    x(group.thread_rank()) = 7;
    group.sync();
    sp::copy_to(group, pool, x, x);
  });
  CHECK(!block.any_error());
  const auto* x = reinterpret_cast<const int*>(block.shared().data());
  CHECK(std::vector<int>(x, x + threads) == std::vector<int>{7, 7, 7, 7});
}

TEST_CASE("a copy between other shapes is refused in every thread of a group, before an element moves") {
  EmulatedBlock block(threads, 64);
  block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
    Pool pool(shared);
    const auto dst = sp::tensor<int>(pool, "dst", 4);
    const auto src = sp::tensor<int>(pool, "src", 5);
    if (group.thread_rank() < 4) dst(group.thread_rank()) = 1;
    group.sync();
    sp::copy_to(group, pool, dst, src);
  });
  for (std::size_t r = 0; r < threads; ++r) {
    CHECK_THROWS_AS(std::rethrow_exception(block.error(r)), sp::ShapeMismatch);
    CHECK(block.syncs(r) == 1);
  }
  const auto* dst = reinterpret_cast<const int*>(block.shared().data());
  CHECK(std::vector<int>(dst, dst + 4) == std::vector<int>{1, 1, 1, 1});
}

TEST_CASE("a copy of a dead tensor is refused in every thread of a group") {
  EmulatedBlock block(threads, 64);
  block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
    Pool pool(shared);
    const auto dst = sp::tensor<int>(pool, "dst", 4);
    sp::Tensor<int, 1, sp::SharedSpace> src;
    {
      const sp::ScratchScope scope(pool, sp::group_fence<false>(group));
      src = sp::tensor<int>(pool, "src", 4);
    }
    sp::copy_to(group, pool, dst, src);
  });
  for (std::size_t r = 0; r < threads; ++r) {
    CHECK_THROWS_AS(std::rethrow_exception(block.error(r)), sp::ApiMisuse);
  }
}

TEST_CASE("of a copy by a group the first thread's observers are told, once") {
  struct Counter final : sp::PoolObserver {
    std::size_t copies = 0;
    std::size_t bytes = 0;
    void on_copy(const sp::PoolView&, const sp::CopyEvent& event) override {
      ++copies;
      bytes += event.bytes;
    }
  };
  std::vector<Counter> counters(threads);
  EmulatedBlock block(threads, 128);
  block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
    Pool pool(shared, &counters[group.thread_rank()]);
    const auto dst = sp::tensor<int>(pool, "dst", 5);
    const auto src = sp::tensor<int>(pool, "src", 5);
    sp::copy_to(group, pool, dst, src);
  });
  CHECK(!block.any_error());
  CHECK(counters[0].copies == 1);
  CHECK(counters[0].bytes == 20);
  for (std::size_t r = 1; r < threads; ++r) CHECK(counters[r].copies == 0);
}

// ---- groups of other programming models: the same templates, three lines each -------------------------------------------
// These have the names that SYCL and OpenCL use, over the emulated block; neither is a SYCL or OpenCL implementation.

namespace sycl_like {

class group {
 public:
  explicit group(const EmulatedGroup& emulated) : emulated_(emulated) {}
  std::size_t get_local_linear_id() const { return emulated_.thread_rank(); }
  std::size_t get_local_linear_range() const { return emulated_.size(); }
  friend void group_barrier(const group& g) { g.emulated_.sync(); }

 private:
  EmulatedGroup emulated_;
};

struct Threads {
  group g;
  std::size_t thread_rank() const { return g.get_local_linear_id(); }
  std::size_t size() const { return g.get_local_linear_range(); }
  void sync() const { group_barrier(g); }
};
static_assert(sp::ThreadGroup<Threads>);

}  // namespace sycl_like

namespace opencl_like {

thread_local const EmulatedGroup* work_group = nullptr;
constexpr int CLK_LOCAL_MEM_FENCE = 1;
std::size_t get_local_id(unsigned) { return work_group->thread_rank(); }
std::size_t get_local_size(unsigned) { return work_group->size(); }
void barrier(int) { work_group->sync(); }

struct Threads {
  std::size_t thread_rank() const { return get_local_id(0); }
  std::size_t size() const { return get_local_size(0); }
  void sync() const { barrier(CLK_LOCAL_MEM_FENCE); }
};
static_assert(sp::ThreadGroup<Threads>);

}  // namespace opencl_like

TEST_CASE("a group with SYCL's names runs the same kernel") {
  for (const test::Late& late : test::schedules(threads)) {
    EmulatedBlock block(threads, mirrored_bytes, late);
    std::vector<float> out(threads);
    block.run([&](const EmulatedGroup& emulated, std::span<std::byte> local) {
      const sycl_like::Threads group{sycl_like::group(emulated)};
      mirrored_kernel(group, local, sp::group_fence(group), out);
    });
    CHECK(out == right_sums);
  }
}

TEST_CASE("a group with OpenCL's names runs the same kernel") {
  for (const test::Late& late : test::schedules(threads)) {
    EmulatedBlock block(threads, mirrored_bytes, late);
    std::vector<float> out(threads);
    block.run([&](const EmulatedGroup& emulated, std::span<std::byte> local) {
      opencl_like::work_group = &emulated;
      mirrored_kernel(opencl_like::Threads{}, local, sp::group_fence(opencl_like::Threads{}), out);
    });
    CHECK(out == right_sums);
  }
}
