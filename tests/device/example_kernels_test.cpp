// SPDX-License-Identifier: MIT
/// \file
/// The kernels of the CUDA examples on emulated blocks: the same templates, under every schedule that emulated_block.hpp
/// has. Compiled twice, once with device_branch.hpp in front.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include <scratchpad/core.hpp>

#include "support/attention.hpp"
#include "support/attention_figures.hpp"
#include "support/attention_reference.hpp"
#include "support/catch.hpp"
#include "support/cuda_attention.hpp"
#include "support/cuda_matrix_product.hpp"
#include "support/cuda_medians.hpp"
#include "support/cuda_pipeline.hpp"
#include "support/embedding.hpp"
#include "support/emulated_block.hpp"

namespace sp = scratchpad;
using test::EmulatedBlock;
using test::EmulatedGroup;
using test::Late;
using Pool = sp::BumpAllocator<sp::SharedSpace>;

namespace {

constexpr auto plain_fence = [](const EmulatedGroup& group) { return sp::group_fence<false>(group); };
constexpr auto checked_fence = [](const EmulatedGroup& group) { return sp::group_fence<true>(group); };
constexpr auto no_fence = [](const EmulatedGroup&) { return sp::NoFence{}; };

// ---- 110_shared_memory ----------------------------------------------------------------------------------------------

constexpr matrix_product::Problem problem{8, 16, 24};
constexpr matrix_product::Tile tile{4, 8, 8};
// C 4 x 8 x 4 B, A 4 x 8 x 4 B, B 8 x 8 x 4 B; the larger packed tile is B's, 8 x 4 B.
constexpr std::size_t product_bytes = 128 + 128 + 256 + 32;

template <class MakeFence>
std::vector<float> product(const Late& late, MakeFence make_fence) {
  const auto a = matrix_product::some_bytes(problem.rows * problem.depth / 2, 1);
  const auto b = matrix_product::some_bytes(problem.depth * problem.columns / 2, 2);
  std::vector<float> c(problem.rows * problem.columns, -1.0F);
  for (std::size_t row = 0; row < problem.rows / tile.rows; ++row) {
    for (std::size_t column = 0; column < problem.columns / tile.columns; ++column) {
      EmulatedBlock block(4, product_bytes, late);
      block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
        Pool pool(shared.data(), shared.size());
        const matrix_product::Compute compute(group, problem, a, b, std::span<float>(c), row, column);
        matrix_product::product(pool, tile, problem.depth / tile.depth, make_fence(group), compute);
      });
      CHECK(!block.any_error());
    }
  }
  return c;
}

}  // namespace

TEST_CASE("the matrix product's blocks need what was worked out by hand") {
  CHECK(sp::workspace_bytes([](Pool& pool) { matrix_product::product(pool, tile, 3, sp::NoFence{}, sp::no_work); }) ==
        product_bytes);
}

TEST_CASE("the matrix product is exact under every schedule") {
  const auto expected =
      matrix_product::reference(problem, matrix_product::some_bytes(problem.rows * problem.depth / 2, 1),
                                matrix_product::some_bytes(problem.depth * problem.columns / 2, 2));
  for (const Late& late : test::schedules(4)) {
    CHECK(product(late, plain_fence) == expected);
    CHECK(product(late, checked_fence) == expected);
  }
  // All but the first thread unpack A from where B's bytes are by then.
  CHECK(product(test::everybody(4), no_fence) != expected);
}

// ---- 120_attention_kernel -------------------------------------------------------------------------------------------

TEST_CASE("a block's attention needs what the demo's does") {
  CHECK(attention::figures[0].peak == attention::group_bytes<Pool>({16, 16, 128}));
}

TEST_CASE("attention by a block is within the tolerance, under every schedule") {
  constexpr attention::Shape shape{8, 8, 32};
  constexpr std::size_t tokens = 20;
  constexpr std::size_t group_size = 2;
  constexpr std::size_t rows = tokens * group_size;
  std::string text(tokens, ' ');
  for (std::size_t i = 0; i < tokens; ++i) text[i] = static_cast<char>('a' + embedding::mix(i) % 7);
  const embedding::GroupedHeads heads(group_size, shape.head_dim);
  const std::vector<Bf16> keys = heads.keys(text);
  const std::vector<Bf16> values = heads.values(text);
  std::vector<Bf16> queries(rows * shape.head_dim);
  for (std::size_t r = 0; r < rows; ++r) {
    heads.query(text, r, std::span(queries).subspan(r * shape.head_dim, shape.head_dim));
  }

  // More threads than rows, fewer, and a number that divides nothing.
  const std::size_t threads = GENERATE(std::size_t{3}, std::size_t{4}, std::size_t{11});
  for (const Late& late : test::schedules(threads)) {
    std::vector<float> output(queries.size(), -1.0F);
    for (std::size_t i = 0; i < attention::query_blocks(shape, tokens, group_size); ++i) {
      EmulatedBlock block(threads, attention::group_bytes<Pool>(shape), late);
      block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
        Pool pool(shared.data(), shared.size());
        attention::attend_by_group(group, pool, shape, {queries, keys, values, output, tokens, group_size}, i);
      });
      CHECK(!block.any_error());
    }
    int outside = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t visible = r / group_size + 1;
      const auto exact = attention::reference_row(std::span(queries).subspan(r * shape.head_dim, shape.head_dim), keys,
                                                  values, visible);
      const double tolerance = attention::tolerance(exact, shape.head_dim, visible, 1 + (visible - 1) / shape.keys);
      const auto row = std::span(output).subspan(r * shape.head_dim, shape.head_dim);
      outside += !(attention::largest_difference(row, exact) <= tolerance);
    }
    CHECK(outside == 0);
  }
}

// ---- 130_pipeline_stages --------------------------------------------------------------------------------------------

namespace {

/// Copies that arrive as late as they may: when they are waited for.
class LateCopy {
 public:
  explicit LateCopy(std::deque<std::vector<std::pair<float*, const float*>>>& batches) : batches_(&batches) {}
  void start(float* to, const float* from) const { batches_->back().push_back({to, from}); }
  void commit() const { batches_->emplace_back(); }
  void wait(std::size_t in_flight) const {
    // The last one is open and not committed yet.
    while (batches_->size() > in_flight + 1) {
      for (const auto& [to, from] : batches_->front()) std::memcpy(to, from, 4 * sizeof(float));
      batches_->pop_front();
    }
  }

 private:
  std::deque<std::vector<std::pair<float*, const float*>>>* batches_;
};

/// Copies that arrive as early as they may.
struct EarlyCopy {
  void start(float* to, const float* from) const { std::memcpy(to, from, 4 * sizeof(float)); }
  void commit() const {}
  void wait(std::size_t) const {}
};

template <class MakeCopy>
float streamed(const std::vector<float>& in, std::size_t stages, std::size_t threads, const Late& late,
               MakeCopy make_copy) {
  const std::size_t bytes = sp::workspace_bytes([&](Pool& pool) { pipeline::stream(pool, stages, sp::no_work); });
  float result = -1;
  EmulatedBlock block(threads, bytes, late);
  block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
    Pool pool(shared.data(), shared.size());
    std::deque<std::vector<std::pair<float*, const float*>>> batches(1);
    pipeline::stream(pool, stages, pipeline::Sum(group, make_copy(batches), std::span<const float>(in), &result));
  });
  CHECK(!block.any_error());
  return result;
}

}  // namespace

TEST_CASE("a stream is summed up with any number of stages, however early or late its copies arrive") {
  std::vector<float> in(5 * pipeline::tile);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 7) - 3;
  // 20,480 = 2,925 x 7 + 5: whole rounds of -3, ..., 3 come to 0, the rest is -3 - 2 - 1 + 0 + 1.
  constexpr float expected = -5;
  const std::size_t stages = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{8});
  for (const Late& late : test::schedules(4)) {
    CHECK(streamed(in, stages, 4, late, [](auto& batches) { return LateCopy(batches); }) == expected);
    CHECK(streamed(in, stages, 4, late, [](auto&) { return EarlyCopy{}; }) == expected);
  }
}

TEST_CASE("a stage takes 16,384 bytes of shared memory") {
  const auto bytes = [](std::size_t stages) {
    return sp::workspace_bytes([stages](Pool& pool) { pipeline::stream(pool, stages, sp::no_work); });
  };
  CHECK(bytes(1) == 1'024 + 16'384);
  CHECK(bytes(14) == 230'400);
}

// ---- 140_block_and_thread_pools -------------------------------------------------------------------------------------

namespace {

template <class MakeFence>
std::vector<float> medians_of(const std::vector<float>& in, std::size_t threads, std::size_t rows, const Late& late,
                              MakeFence make_fence) {
  const std::size_t bytes =
      sp::workspace_bytes([&](Pool& pool) { medians::rows(pool, threads, rows, sp::NoFence{}, sp::no_work); });
  std::vector<float> out(threads * rows, -1.0F);
  EmulatedBlock block(threads, bytes, late);
  block.run([&](const EmulatedGroup& group, std::span<std::byte> shared) {
    Pool pool(shared.data(), shared.size());
    medians::rows(pool, threads, rows, make_fence(group),
                  medians::Compute(group, std::span<const float>(in), std::span<float>(out)));
  });
  CHECK(!block.any_error());
  return out;
}

}  // namespace

TEST_CASE("medians by threads with pools of their own are right under every schedule") {
  constexpr std::size_t threads = 5;
  constexpr std::size_t rows = 6;
  constexpr std::size_t length = threads + medians::window - 1;
  std::vector<float> in(rows * length);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 37 % 101);
  std::vector<float> expected;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t r = 0; r < threads; ++r) {
      std::vector<float> sorted(medians::window);
      std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(row * length + r), medians::window, sorted.begin());
      std::sort(sorted.begin(), sorted.end());
      expected.push_back(sorted[medians::window / 2]);
    }
  }
  for (const Late& late : test::schedules(threads)) {
    CHECK(medians_of(in, threads, rows, late, plain_fence) == expected);
    CHECK(medians_of(in, threads, rows, late, checked_fence) == expected);
  }
  CHECK(medians_of(in, threads, rows, test::everybody(threads), no_fence) != expected);
}
