// SPDX-License-Identifier: MIT
/// \file
/// Real workloads: a flash-attention sweep with its five requirements (recycling, correctness, long context, isolation,
/// nesting), and the allocation sequences of a batched solver. The figures come from an independent model.
#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <scratchpad/scratchpad.hpp>

#include "support/attention.hpp"
#include "support/attention_figures.hpp"
#include "support/attention_reference.hpp"
#include "support/catch.hpp"
#include "support/embedding.hpp"

namespace sp = scratchpad;
using attention::QueryBlock;
using attention::Shape;

namespace {

struct Tcm : sp::HostSpace {
  static constexpr std::string_view name = "tcm";
};
using Pool = sp::BumpAllocator<Tcm>;

// ---- a problem with data, and what an attention kernel makes of it --------------------------------------------------

struct Problem {
  Problem(std::size_t tokens, std::size_t group, const Shape& tile)
      : shape(tile), heads(group, tile.head_dim), text(tokens, ' ') {
    // Few different bytes, so that a token has others like it to attend to.
    for (std::size_t i = 0; i < tokens; ++i) text[i] = static_cast<char>('a' + embedding::mix(i) % 7);
    keys = heads.keys(text);
    values = heads.values(text);
    queries.resize(rows() * tile.head_dim);
    for (std::size_t r = 0; r < rows(); ++r) {
      heads.query(text, r, std::span(queries).subspan(r * tile.head_dim, tile.head_dim));
    }
  }

  std::size_t rows() const { return text.size() * heads.group(); }
  std::vector<QueryBlock> blocks() const {
    std::vector<QueryBlock> result;
    for (std::size_t i = 0; i < attention::query_blocks(shape, text.size(), heads.group()); ++i) {
      result.push_back(attention::query_block(shape, text.size(), heads.group(), i));
    }
    return result;
  }
  attention::Reference reference(std::size_t row) const {
    return attention::reference_row(std::span(queries).subspan(row * shape.head_dim, shape.head_dim), keys, values,
                                    row / heads.group() + 1);
  }

  Shape shape;
  embedding::GroupedHeads heads;
  std::string text;
  std::vector<Bf16> keys;
  std::vector<Bf16> values;
  std::vector<Bf16> queries;
};

/// The body of `attend` that computes all rows of a problem into `output`.
class Solve {
 public:
  Solve(const Problem& problem, std::vector<float>& output) : problem_(problem), output_(output) {
    output_.assign(problem.rows() * problem.shape.head_dim, -1.0F);
  }
  template <class When, class... Scratch>
  void operator()(const QueryBlock& block, When when, const Scratch&... scratch) const {
    const std::size_t d = problem_.shape.head_dim;
    const std::size_t first = block.first_row * d;
    const std::size_t size = std::min(problem_.shape.queries * d, output_.size() - first);
    const attention::Inputs inputs{std::span(problem_.queries).subspan(first, size), problem_.keys, problem_.values,
                                   block.first_row, problem_.heads.group()};
    attention::Compute<>(inputs, std::span(output_).subspan(first, size))(when, scratch...);
  }

 private:
  const Problem& problem_;
  std::vector<float>& output_;
};

template <class Recycling>
std::vector<float> solve(const Problem& problem, std::size_t bytes, const Recycling& recycling) {
  std::vector<float> output;
  sp::ScratchBuffer buffer(bytes);
  Pool pool(buffer);
  attention::attend(pool, problem.shape, problem.blocks(), Solve(problem, output), recycling);
  return output;
}

/// The largest difference from the float64 reference, in units of what is tolerated.
double worst(const Problem& problem, const std::vector<float>& output) {
  double result = 0;
  for (std::size_t row = 0; row < problem.rows(); ++row) {
    const std::size_t d = problem.shape.head_dim;
    const std::size_t visible = row / problem.heads.group() + 1;
    const attention::Reference reference = problem.reference(row);
    const double difference = attention::largest_difference(std::span(output).subspan(row * d, d), reference);
    const double bound = attention::tolerance(reference, d, visible, 1 + (visible - 1) / problem.shape.keys);
    result = std::max(result, difference / bound);
  }
  return result;
}

// 16 x 8 tiles over d = 32. By hand: s, s - m, P 512 each; seven vectors of 64; P in 16 bits 256; three of 2,048.
constexpr Shape small{16, 8, 32};
constexpr std::size_t small_tile = 3 * 512 + 7 * 64 + 256 + 3 * 2'048;
// m, l 64 each, O 2,048; Q 1,024; K and V 512, twice each.
constexpr std::size_t small_state = 64 + 64 + 2'048;
constexpr std::size_t small_staged = 1'024 + 4 * 512;
constexpr std::size_t small_peak = small_state + small_staged + small_tile;
static_assert(small_tile == 8'384 && small_peak == 13'632);

/// m, l or O is not kept: the sweep goes on with what was there before its first tile.
struct Forgetful : attention::Scoped {
  std::size_t forgotten;  // 0, 1, 2: they are kept in this order
  std::size_t* copies;
  template <class Space, class Tensor>
  void keep(sp::BumpAllocator<Space>& pool, const Tensor& dst, const Tensor& src) const {
    if ((*copies)++ % 3 != forgotten) sp::copy_to(pool, dst, src);
  }
};

// 40 tokens in groups of 4: 160 rows, 10 blocks of 4 positions; the last sees 5 tiles of 8 keys.
constexpr std::size_t small_tokens = 40;
constexpr std::size_t small_group = 4;
constexpr std::size_t small_tiles = 5;

/// How many tiles a sweep computes in `bytes` before it overflows; `tiles` if it does not.
template <class Recycling>
std::size_t tiles_done(const Shape& shape, std::size_t tiles, std::size_t bytes, const Recycling& recycling) {
  sp::ScratchBuffer buffer(bytes);
  Pool pool(buffer);
  std::size_t done = 0;
  const auto count = [&](auto when, const auto&...) {
    if constexpr (std::is_same_v<decltype(when), std::size_t>) done = when + 1;
  };
  try {
    attention::sweep(pool, shape, tiles, count, recycling);
    return tiles;
  } catch (const sp::ScratchOverflow&) {
    return done;
  }
}

template <class Recycling>
std::size_t sweep_bytes(const Shape& shape, std::size_t tiles, const Recycling& recycling) {
  return sp::workspace_bytes<Pool>([&](Pool& pool) { attention::sweep(pool, shape, tiles, sp::no_work, recycling); });
}

}  // namespace

// ---- attention: the figures -----------------------------------------------------------------------------------------

TEST_CASE("the scratch of an attention tile has the size that an independent model gives") {
  for (const attention::Figures& figures : attention::figures) {
    const Shape shape{figures.queries, figures.keys, 128};
    CAPTURE(shape.queries, shape.keys);
    CHECK(sp::workspace_bytes([&](Pool& pool) { attention::Tile<Tcm>(pool, shape); }) == figures.temporaries);
    CHECK(sp::workspace_bytes([&](Pool& pool) { attention::State<Tcm>(pool, shape); }) == figures.state);
    CHECK(sp::workspace_bytes([&](Pool& pool) { attention::Staged<Tcm>(pool, shape); }) == figures.staged);
    for (const std::size_t tiles : {1U, 2U, 3U, 128U}) {
      CAPTURE(tiles);
      CHECK(sweep_bytes(shape, tiles, attention::Scoped{}) == figures.peak);
      CHECK(sweep_bytes(shape, tiles, attention::Unscoped{}) ==
            figures.state + figures.staged + tiles * figures.temporaries);
    }
  }
}

TEST_CASE("without a scope per tile an attention sweep overflows 1 MiB at the tile that an independent model gives") {
  for (const attention::Figures& figures : attention::figures) {
    const Shape shape{figures.queries, figures.keys, 128};
    CAPTURE(shape.queries, shape.keys);
    CHECK(tiles_done(shape, 1'000, attention::figures_budget, attention::Unscoped{}) == figures.whole_tiles);
    CHECK(tiles_done(shape, figures.whole_tiles, attention::figures_budget, attention::Unscoped{}) ==
          figures.whole_tiles);
    CHECK(tiles_done(shape, 1'000, attention::figures_budget, attention::Scoped{}) == 1'000);
    CHECK(tiles_done(shape, 1'000, figures.peak, attention::Scoped{}) == 1'000);
    CHECK(tiles_done(shape, 1'000, figures.peak - 1, attention::Scoped{}) == 0);
  }
}

TEST_CASE("the scratch of an attention sweep grows with the context only without a scope per tile") {
  for (const attention::UnscopedFigure& figure : attention::unscoped_figures) {
    const Shape shape{128, 64, 128};
    CAPTURE(figure.tokens);
    const std::size_t last = attention::query_blocks(shape, figure.tokens, 8) - 1;
    const std::array blocks{attention::query_block(shape, figure.tokens, 8, last)};
    CHECK(blocks[0].tiles == figure.tokens / 64);
    const auto bytes = [&](auto recycling) {
      return sp::workspace_bytes<Pool>(
          [&](Pool& pool) { attention::attend(pool, shape, blocks, sp::no_work, recycling); });
    };
    CHECK(bytes(attention::Scoped{}) == 479'744);
    CHECK(bytes(attention::Unscoped{}) == figure.bytes);
  }
}

TEST_CASE("an attention sweep is sized by the compiler") {
  STATIC_REQUIRE(sp::workspace_bytes([](Pool& pool) {
                   attention::sweep(pool, {128, 64, 128}, 128, sp::no_work);
                 }) == 479'744);
  STATIC_REQUIRE(sp::workspace_bytes([](Pool& pool) {
                   attention::sweep(pool, {128, 64, 128}, 128, sp::no_work, attention::Unscoped{});
                 }) == 40'469'504);
}

TEST_CASE("query blocks reach to the position of their last row") {
  // 128 rows are 16 positions of 8 heads: block 0 ends at position 15, block 511 at 8,191, block 63 at 1,023.
  const Shape shape{128, 64, 128};
  CHECK(attention::query_blocks(shape, 8'192, 8) == 512);
  CHECK(attention::query_block(shape, 8'192, 8, 0).tiles == 1);
  CHECK(attention::query_block(shape, 8'192, 8, 3).tiles == 1);  // to position 63
  CHECK(attention::query_block(shape, 8'192, 8, 4).tiles == 2);  // from position 64
  CHECK(attention::query_block(shape, 8'192, 8, 511).tiles == 128);
  CHECK(attention::query_block(shape, 8'192, 8, 511).first_row == 65'408);
  // 17 positions: the second block has 8 rows, and ends at position 16.
  CHECK(attention::query_blocks(shape, 17, 8) == 2);
  CHECK(attention::query_block({128, 16, 128}, 17, 8, 1).tiles == 2);
  CHECK(attention::query_block({128, 17, 128}, 17, 8, 1).tiles == 1);
  CHECK(attention::query_blocks(shape, 1, 1) == 1);
}

// ---- attention: the five requirements -------------------------------------------------------------------------------

TEST_CASE("attention: the peak is one tile's footprint whatever the number of tiles") {
  for (const std::size_t tokens : {1U, 8U, 9U, 16U, 40U, 200U}) {
    CAPTURE(tokens);
    const Problem problem(tokens, small_group, small);
    std::vector<float> output;
    sp::ScratchBuffer buffer(small_peak);  // and not a byte more
    Pool pool(buffer);
    attention::attend(pool, small, problem.blocks(), Solve(problem, output));
    CHECK(pool.peak() == small_peak);
    CHECK(pool.used() == 0);
    CHECK(worst(problem, output) <= 1.0);
  }
}

TEST_CASE("attention: the result is the same, bit for bit, with and without a scope per tile") {
  const Problem problem(small_tokens, small_group, small);
  // By hand: 5,248 + 5 x 8,384.
  const std::vector<float> unscoped = solve(problem, 47'168, attention::Unscoped{});
  CHECK_THROWS_AS(solve(problem, 47'168 - 16, attention::Unscoped{}), sp::ScratchOverflow);
  const std::vector<float> scoped = solve(problem, small_peak, attention::Scoped{});
  REQUIRE(scoped.size() == unscoped.size());
  CHECK(std::memcmp(scoped.data(), unscoped.data(), scoped.size() * sizeof(float)) == 0);
}

TEST_CASE("attention: the result is softmax(QK^T)V up to the rounding of P, in every arrangement of rows and tiles") {
  struct Arrangement {
    std::size_t tokens, group;
    Shape shape;
  };
  for (const auto& [tokens, group, shape] : {
           Arrangement{40, 4, {16, 8, 32}},  // 4 positions of 4 heads
           Arrangement{40, 8, {8, 16, 32}},  // decoding: one position of a group
           Arrangement{40, 1, {16, 8, 32}},  // 16 positions of one head
           Arrangement{37, 3, {7, 5, 19}},   // nothing divides anything
           Arrangement{3, 2, {16, 64, 32}},  // one tile, larger than the problem
           Arrangement{1, 1, {1, 1, 1}},
           Arrangement{150, 8, {128, 64, 128}},
       }) {
    CAPTURE(tokens, group, shape.queries, shape.keys, shape.head_dim);
    const Problem problem(tokens, group, shape);
    CHECK(worst(problem, solve(problem, 479'744, attention::Scoped{})) <= 1.0);
  }
}

TEST_CASE("attention: a result that one of the running values did not survive for is not within the tolerance") {
  const Problem problem(small_tokens, small_group, small);
  for (const std::size_t forgotten : {0U, 1U, 2U}) {
    CAPTURE(forgotten);
    std::size_t copies = 0;
    const Forgetful forgetful{{}, forgotten, &copies};
    CHECK(worst(problem, solve(problem, small_peak, forgetful)) > 10.0);
    CHECK(copies == 3 * 30);  // 10 blocks of 1, 1, 2, 2, ... tiles
  }
}

TEST_CASE("attention: a context that overflows 1 MiB without a scope per tile completes with one") {
  const Shape shape{128, 64, 128};
  const Problem problem(1'024, 8, shape);
  const std::array last{attention::query_block(shape, 1'024, 8, 63)};
  std::vector<float> output;
  const Solve body(problem, output);
  sp::ScratchBuffer buffer(attention::figures_budget);
  {
    Pool pool(buffer);
    std::size_t done = 0;
    const auto counting = [&](const QueryBlock& block, auto when, const auto&... scratch) {
      body(block, when, scratch...);
      if constexpr (std::is_same_v<decltype(when), std::size_t>) done = when + 1;
    };
    std::string label;
    try {
      attention::attend(pool, shape, last, counting, attention::Unscoped{});
    } catch (const sp::ScratchOverflow& overflow) {
      label = overflow.overflow().label;
      // By hand: 164,864 + 2 x 314,880 + what the third tile got before its last block, 314,880 - 65,536.
      CHECK(overflow.overflow().used == 1'043'968);
      CHECK(overflow.overflow().missing == 60'928);
    }
    CHECK(label == "O new");
    CHECK(done == 2);
    CHECK(pool.used() == 0);
  }
  Pool pool(buffer);
  attention::attend(pool, shape, last, body);
  CHECK(pool.peak() == 479'744);
  const std::size_t row = 8'191;
  const attention::Reference reference = problem.reference(row);
  CHECK(attention::largest_difference(std::span(output).subspan(row * 128, 128), reference) <=
        attention::tolerance(reference, 128, 1'024, 16));
}

TEST_CASE(
    "attention: m, l and O keep their values across every scope exit, also where the rewound bytes are poisoned") {
  // Everything that is given back turns into NaNs at once.
  struct Poisoner : sp::PoolObserver {
    std::size_t bytes = 0;
    void on_rewind(const sp::PoolView& pool, const sp::SavePointEvent& event) override {
      bytes += event.used_before - event.offset;
      std::memset(pool.base + event.offset, 0xff, event.used_before - event.offset);
    }
  };
  const Problem problem(small_tokens, small_group, small);
  const std::vector<float> expected = solve(problem, small_peak, attention::Scoped{});

  Poisoner poisoner;
  std::vector<float> output;
  const Solve body(problem, output);
  sp::ScratchBuffer buffer(small_peak);
  Pool pool(buffer);
  pool.watch(nullptr);  // a sanitizer's observer would forbid the bytes before this one writes them
  pool.watch(&poisoner);
  std::array<std::vector<float>, 3> left;
  const auto values = [](const auto& tensor) { return std::vector<float>(tensor.span().begin(), tensor.span().end()); };
  std::size_t exits = 0;
  const auto checking = [&](const QueryBlock& block, auto when, const auto& state, const auto& staged,
                            const auto&... tile) {
    bool is_first = true;
    if constexpr (std::is_same_v<decltype(when), std::size_t>) is_first = when == 0;
    if (!is_first || std::is_same_v<decltype(when), attention::End>) {
      ++exits;
      CHECK(values(state.m) == left[0]);
      CHECK(values(state.l) == left[1]);
      CHECK(values(state.o) == left[2]);
    }
    body(block, when, state, staged, tile...);
    if constexpr (sizeof...(tile) == 1) {
      ((left = {values(tile.m_new), values(tile.l_new), values(tile.o_new)}), ...);
    }
  };
  attention::attend(pool, small, problem.blocks(), checking);
  // 10 blocks, of 1, 1, 2, 2, 3, 3, 4, 4, 5, 5 tiles.
  CHECK(exits == 30);
  CHECK(poisoner.bytes == 30 * small_tile + 10 * (small_state + small_staged));
  REQUIRE(output.size() == expected.size());
  CHECK(std::memcmp(output.data(), expected.data(), output.size() * sizeof(float)) == 0);
  CHECK(small_tiles == problem.blocks().back().tiles);
}

TEST_CASE("attention: a scope per query block around a scope per tile rewinds to the right save-points") {
  struct Journal : sp::PoolObserver {
    std::vector<std::array<std::size_t, 4>> events;  // rewind?, offset, used before, depth
    void on_save(const sp::PoolView&, const sp::SavePointEvent& event) override {
      events.push_back({0, event.offset, event.used_before, event.depth});
    }
    void on_rewind(const sp::PoolView&, const sp::SavePointEvent& event) override {
      events.push_back({1, event.offset, event.used_before, event.depth});
    }
  };
  Journal journal;
  sp::ScratchBuffer buffer(attention::figures_budget);
  Pool pool(buffer);
  pool.watch(&journal);
  const std::array blocks{QueryBlock{0, 2}, QueryBlock{128, 1}};
  // Where the second block and its tiles lie is where the first ones lay.
  std::vector<const void*> addresses;
  attention::attend(pool, {128, 64, 128}, blocks,
                    [&](const QueryBlock&, auto, const auto& state, const auto&, const auto&... tile) {
                      addresses.push_back(state.o.data());
                      (addresses.push_back(tile.s.data()), ...);
                    });
  constexpr std::array<std::size_t, 4> block_opens{0, 0, 0, 1}, block_ends{1, 0, 164'864, 1};
  constexpr std::array<std::size_t, 4> tile_opens{0, 164'864, 164'864, 2}, tile_ends{1, 164'864, 479'744, 2};
  CHECK(journal.events == std::vector{block_opens, tile_opens, tile_ends, tile_opens, tile_ends, block_ends,  //
                                      block_opens, tile_opens, tile_ends, block_ends});
  // m and l are 512 bytes each, in front of O; the tile follows 164,864 bytes of persistent blocks.
  const void* o = buffer.data() + 1'024;
  const void* s = buffer.data() + 164'864;
  CHECK(addresses == std::vector{o, o, s, o, s, o, o, o, s, o});
  CHECK(pool.used() == 0);
  CHECK(pool.depth() == 0);
}

// ---- a batched solver's allocation sequences ------------------------------------------------------------------------

namespace {

template <std::size_t Bytes>
struct Quantum : sp::HostSpace {
  static constexpr std::size_t quantum = Bytes;
};

struct Device : sp::HostSpace {
  static constexpr std::size_t quantum = sp::dynamic_quantum;
};

constexpr auto solver = [](auto& pool) {
  (void)pool.template allocate<float>(97 * 97 * 5);
  (void)pool.template allocate<std::int32_t>(485);
  (void)pool.template allocate<std::byte>(1);
  (void)pool.template allocate<double>(97);
  (void)pool.template allocate<float*>(5);
  (void)pool.template allocate<std::complex<double>>(485);
  (void)pool.template allocate<char>(3);
  (void)pool.template allocate<std::byte>(4'096);
  (void)pool.template allocate<float>(5);
};
constexpr auto eight_types = [](auto& pool) {
  (void)pool.template allocate<char>(100);
  (void)pool.template allocate<short>(50);
  (void)pool.template allocate<int>(25);
  (void)pool.template allocate<std::int64_t>(12);
  (void)pool.template allocate<float>(25);
  (void)pool.template allocate<double>(12);
  (void)pool.template allocate<std::complex<float>>(10);
  (void)pool.template allocate<std::complex<double>>(5);
};

template <std::size_t Bytes, class Layout>
std::size_t at_quantum(const Layout& layout) {
  using QuantumPool = sp::BumpAllocator<Quantum<Bytes>>;
  const std::size_t needed = sp::workspace_bytes<QuantumPool>(layout);
  // The size is what a run takes, to the quantum.
  sp::ScratchBuffer buffer(sp::Requirement{needed, Bytes});
  QuantumPool enough(buffer);
  layout(enough);
  CHECK(enough.used() == needed);
  QuantumPool short_of_one(buffer.data(), needed - 1);
  CHECK_THROWS_AS(layout(short_of_one), sp::ScratchOverflow);
  return needed;
}

template <std::size_t Bytes>
std::size_t bytes_at_quantum(const std::vector<std::size_t>& sizes) {
  return at_quantum<Bytes>([&](auto& pool) {
    for (const std::size_t size : sizes) (void)pool.template allocate<std::byte>(size);
  });
}

}  // namespace

TEST_CASE("a batched solver's allocations take the bytes that an independent model gives, at every quantum") {
  CHECK(at_quantum<16>(solver) == 202'896);
  CHECK(at_quantum<64>(solver) == 203'200);
  CHECK(at_quantum<128>(solver) == 203'648);
  CHECK(at_quantum<256>(solver) == 204'544);
  CHECK(at_quantum<512>(solver) == 205'824);
  CHECK(at_quantum<4096>(solver) == 225'280);
}

TEST_CASE("blocks of eight element types take the bytes that an independent model gives, at every quantum") {
  CHECK(at_quantum<16>(eight_types) == 800);
  CHECK(at_quantum<128>(eight_types) == 1'024);
  CHECK(at_quantum<512>(eight_types) == 4'096);
}

TEST_CASE("short sequences of bytes take the bytes that an independent model gives, at every quantum") {
  struct Row {
    std::vector<std::size_t> sizes;
    std::size_t at_16, at_64, at_128, at_512;
  };
  for (const Row& row : {
           Row{{20}, 32, 64, 128, 512},
           Row{{1}, 16, 64, 128, 512},
           Row{{1, 1}, 32, 128, 256, 1'024},
           Row{{40, 80}, 128, 192, 256, 1'024},
           Row{{40, 40, 64}, 160, 192, 384, 1'536},
           Row{{3, 4'096, 20}, 4'144, 4'224, 4'352, 5'120},
       }) {
    CAPTURE(row.sizes);
    CHECK(bytes_at_quantum<16>(row.sizes) == row.at_16);
    CHECK(bytes_at_quantum<64>(row.sizes) == row.at_64);
    CHECK(bytes_at_quantum<128>(row.sizes) == row.at_128);
    CHECK(bytes_at_quantum<512>(row.sizes) == row.at_512);
  }
}

TEST_CASE("a quantum that is only known at run time gives the same sizes as a static one") {
  using DevicePool = sp::BumpAllocator<Device>;
  const std::pair<std::size_t, std::size_t> expected[] = {{16, 202'896},  {64, 203'200},  {128, 203'648},
                                                          {256, 204'544}, {512, 205'824}, {4'096, 225'280}};
  for (const auto& [quantum, bytes] : expected) {
    CAPTURE(quantum);
    CHECK(sp::workspace_bytes<DevicePool>(solver, quantum) == bytes);
  }
}
