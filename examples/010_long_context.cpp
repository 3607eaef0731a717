// SPDX-License-Identifier: MIT
/// \file
/// Long contexts in a small scratch memory: flash attention over the bytes of real files, one 1 MiB pool per thread.
///
/// The scratch of a sweep is described once, in support/attention.hpp. Here that description is measured, run, and run
/// once more without the scope per tile, and what the three say is held against each other and against figures that
/// were worked out elsewhere. Status: 0; 1 if a claim does not hold; 2 for a command line that makes no sense.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include <scratchpad/scratchpad.hpp>

#include "support/attention.hpp"
#include "support/attention_figures.hpp"
#include "support/attention_reference.hpp"
#include "support/command_line.hpp"
#include "support/embedding.hpp"
#include "support/text_source.hpp"

namespace sp = scratchpad;
using attention::QueryBlock;
using attention::Shape;
using command_line::counted;
using command_line::grouped;
using command_line::UsageError;

namespace {

struct Tcm : sp::HostSpace {
  static constexpr std::string_view name = "tcm";
};
using Pool = sp::BumpAllocator<Tcm>;

// The size of the main case is known to the compiler, from the same function that runs.
static_assert(sp::workspace_bytes([](Pool& pool) { attention::sweep(pool, Shape{}, 128, sp::no_work); }) == 479'744);

constexpr std::size_t query_heads = 64;
constexpr std::size_t kv_heads = 8;
constexpr std::size_t group = query_heads / kv_heads;
constexpr std::size_t head_dim = 128;
constexpr std::size_t layers = 80;

constexpr std::size_t most_tokens = 1'048'576;
constexpr std::size_t most_threads = 256;
constexpr std::size_t most_budget = std::size_t{1} << 30;
constexpr std::size_t rows_checked = 64;
constexpr std::size_t sizes_only[] = {32'768, 131'072};

constexpr std::string_view help = R"(Flash attention over the bytes of files, with one small scratch pool per thread.

usage: 010_long_context [options] [FILE...]

  FILE...        the text; a byte is a token (default: this project's headers and docs, from the working directory)
  --tile MxN     M query rows x N keys; may be repeated; 'all': the seven shapes of the size table (default 128x64)
  --tokens N     a context length; may be repeated (default 1,024 2,048 4,096 8,192, and sizes for 32,768 and 131,072)
  --budget B     bytes of scratch per thread; K, M and G may follow the number (default 1M)
  --threads T    default: one per core
  --quick        computes a small part of the query blocks, for tests
  --help

Exit status: 0; 1 if something that is printed here as a fact turns out wrong; 2 for a command line without sense.

Every tile shape and length ends in a line for scripts: the word long_context, then key=value pairs, always all of
them and in this order; a value that there is not is 'none', sizes are in bytes:
  tile tokens tiles budget  the case; tiles of the longest sweep
  scoped                    scratch needed with a scope per tile, measured without data
  run_peak                  the most that any thread's pool had in use (none: sizes only)
  unscoped                  scratch needed without the scope per tile, measured without data
  unscoped_whole_tiles      tiles that run without it before the budget is gone
  unscoped_fits             yes or no
  computed_blocks query_blocks    query blocks computed, and all there are for one key/value head
  difference tolerance      largest |O - float64 softmax(QK^T)V| over the rows checked, and the smallest bound there
  tokens_per_second         of one layer and one key/value head (none: sizes only)
)";

struct Options {
  std::vector<Shape> tiles;
  std::vector<std::size_t> tokens;
  std::size_t budget = attention::figures_budget;
  std::size_t threads = 1;
  std::vector<std::string> files;
  bool quick = false;
  bool help = false;
};

/// What computing a case showed.
struct Run {
  std::size_t peak = 0;
  std::size_t computed_blocks = 0;
  std::size_t unscoped_whole_tiles = 0;
  std::string unscoped_error;  // empty: it fits
  double difference = 0;
  double tolerance = 0;
  double tokens_per_second = 0;
};

/// A tile and a context length: what the measuring pool says of it, and what a run does, where there was one.
struct Case {
  Shape shape;
  std::size_t tokens = 0;
  std::size_t tiles = 0;
  std::size_t query_blocks = 0;
  std::size_t scoped = 0;
  std::size_t unscoped = 0;
  std::size_t whole_tiles = 0;
  std::optional<Run> run;
};

/// What this program says of itself, checked while it says it.
class Claims {
 public:
  template <class... Parts>
  void hold(bool holds, fmt::format_string<Parts...> text, Parts&&... parts) {
    ++claims_;
    if (holds) return;
    ++broken_;
    fmt::print(stderr, "does not hold: {}\n", fmt::format(text, std::forward<Parts>(parts)...));
  }
  std::size_t claims() const { return claims_; }
  std::size_t broken() const { return broken_; }

 private:
  std::size_t claims_ = 0;
  std::size_t broken_ = 0;
};

// ---- sizes: the measuring pool, no data -----------------------------------------------------------------------------

template <class Recycling>
std::size_t bytes_of(const Shape& shape, const QueryBlock& block, Recycling recycling) {
  return sp::workspace_bytes<Pool>([&](Pool& pool) {
    attention::attend(pool, shape, std::initializer_list<QueryBlock>{block}, sp::no_work, recycling);
  });
}

/// How many tiles are carved in full within `budget` if none is given back.
std::size_t whole_tiles_of(const Shape& shape, std::size_t tiles, std::size_t budget) {
  std::size_t whole = 0;
  Pool pool = Pool::measuring();
  const auto count = [&](auto when, const auto&...) {
    if constexpr (std::is_same_v<decltype(when), std::size_t>) {
      if (pool.used() <= budget) whole = when + 1;
    }
  };
  attention::sweep(pool, shape, tiles, count, attention::Unscoped{});
  return whole;
}

Case measure(const Shape& shape, std::size_t tokens, std::size_t budget) {
  Case result;
  result.shape = shape;
  result.tokens = tokens;
  result.query_blocks = attention::query_blocks(shape, tokens, group);
  const QueryBlock last = attention::query_block(shape, tokens, group, result.query_blocks - 1);
  result.tiles = last.tiles;
  result.scoped = bytes_of(shape, last, attention::Scoped{});
  result.unscoped = bytes_of(shape, last, attention::Unscoped{});
  result.whole_tiles = whole_tiles_of(shape, last.tiles, budget);
  return result;
}

// ---- the run --------------------------------------------------------------------------------------------------------

/// What is computed on: the text, and one key/value head's keys and values of it, in main memory.
struct Context {
  explicit Context(std::string_view bytes)
      : text(bytes), heads(group, head_dim), keys(heads.keys(bytes)), values(heads.values(bytes)) {}

  std::size_t rows() const { return text.size() * group; }

  std::string_view text;
  embedding::GroupedHeads heads;
  std::vector<Bf16> keys;
  std::vector<Bf16> values;
};

/// Progress on a terminal; silent elsewhere.
class Progress {
 public:
  Progress(std::string what, std::size_t blocks) : what_(std::move(what)), blocks_(blocks) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// \param show for one of the threads only
  void block_done(bool show) {
    const std::size_t done = ++done_;
    const auto now = std::chrono::steady_clock::now();
    if (!show || !terminal_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    fmt::print(stderr, "\r\x1b[K{}: {} of {} query blocks", what_, done, blocks_);
    std::fflush(stderr);
    shown_ = true;
  }

 private:
  std::string what_;
  std::size_t blocks_;
  std::atomic<std::size_t> done_ = 0;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  // Of the thread that shows.
  std::chrono::steady_clock::time_point next_;
  bool shown_ = false;
};

struct FinishedRow {
  std::size_t row;
  std::vector<float> output;
};

/// The body of `attend` on one thread.
class Worker {
 public:
  /// \param wanted rows whose results are kept, in ascending order
  Worker(const Context& context, const Shape& shape, const std::vector<std::size_t>& wanted)
      : context_(context), wanted_(wanted), queries_(shape.queries * head_dim), output_(shape.queries * head_dim) {}

  template <class When, class... Scratch>
  void operator()(const QueryBlock& block, When when, const Scratch&... scratch) {
    constexpr bool begins = std::is_same_v<When, attention::Begin>;
    constexpr bool ends = std::is_same_v<When, attention::End>;
    if constexpr (begins) rows_ = std::min(queries_.size() / head_dim, context_.rows() - block.first_row);
    if constexpr (begins) load_queries(block.first_row);
    const attention::Inputs inputs{queries(), context_.keys, context_.values, block.first_row, group};
    attention::Compute<>(inputs, output())(when, scratch...);
    if constexpr (!begins && !ends) whole_tiles_ = when + 1;
    if constexpr (ends) {
      rows_done_ += rows_;
      keep_wanted(block.first_row);
    }
  }

  /// Of the last block, as far as it came.
  std::span<float> output() { return std::span(output_).first(rows_ * head_dim); }
  std::size_t whole_tiles() const { return whole_tiles_; }
  std::size_t rows_done() const { return rows_done_; }
  const std::vector<FinishedRow>& kept() const { return kept_; }

 private:
  std::span<Bf16> queries() { return std::span(queries_).first(rows_ * head_dim); }

  void load_queries(std::size_t first_row) {
    whole_tiles_ = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      context_.heads.query(context_.text, first_row + i, queries().subspan(i * head_dim, head_dim));
    }
  }
  void keep_wanted(std::size_t first_row) {
    auto row = std::lower_bound(wanted_.begin(), wanted_.end(), first_row);
    for (; row != wanted_.end() && *row < first_row + rows_; ++row) {
      const auto result = output().subspan((*row - first_row) * head_dim, head_dim);
      kept_.push_back({*row, {result.begin(), result.end()}});
    }
  }

  const Context& context_;
  const std::vector<std::size_t>& wanted_;
  std::vector<Bf16> queries_;
  std::vector<float> output_;
  std::size_t rows_ = 0;
  std::size_t whole_tiles_ = 0;
  std::size_t rows_done_ = 0;
  std::vector<FinishedRow> kept_;
};

/// Every `stride`-th query block, the last one among them.
std::vector<QueryBlock> chosen_blocks(const Case& c, double work) {
  std::vector<QueryBlock> all;
  double operations = 0;
  for (std::size_t i = 0; i < c.query_blocks; ++i) {
    all.push_back(attention::query_block(c.shape, c.tokens, group, i));
    operations +=
        4.0 * static_cast<double>(c.shape.queries * c.shape.keys * head_dim) * static_cast<double>(all.back().tiles);
  }
  const double wanted = std::clamp(std::ceil(operations / work), 1.0, static_cast<double>(all.size()));
  const auto stride = static_cast<std::size_t>(wanted);
  std::vector<QueryBlock> chosen;
  for (std::size_t i = (all.size() - 1) % stride; i < all.size(); i += stride) chosen.push_back(all[i]);
  return chosen;
}

/// One row in each of up to `rows_checked` blocks spread over `blocks`; the very last row is among them.
std::vector<std::size_t> chosen_rows(const std::vector<QueryBlock>& blocks, const Shape& shape, std::size_t all_rows) {
  std::vector<std::size_t> rows;
  const std::size_t count = std::min(rows_checked, blocks.size());
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t first = blocks[i * blocks.size() / count - 1].first_row;
    const std::size_t there = std::min(shape.queries, all_rows - first);
    rows.push_back(first + (i == count ? there - 1 : embedding::mix(i) % there));
  }
  return rows;
}

/// Joins what it has started on every way out.
class Threads {
 public:
  Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() {
    for (std::thread& thread : threads_) thread.join();
  }
  template <class Work>
  void start(const Work& work, std::size_t index) {
    threads_.emplace_back([&work, index] { work(index); });
  }

 private:
  std::vector<std::thread> threads_;
};

/// `blocks` shared out among threads, each with a pool of its own.
struct Computed {
  std::size_t peak = 0;
  std::size_t rows = 0;
  double seconds = 0;
  std::vector<FinishedRow> kept;
};
Computed compute(const Case& c, const Context& context, const std::vector<QueryBlock>& blocks,
                 const std::vector<std::size_t>& rows, const Options& options) {
  Computed result;
  const std::size_t threads = std::min(options.threads, blocks.size());
  std::vector<sp::ScratchBuffer> buffers;
  std::vector<Worker> workers;
  std::vector<std::size_t> peaks(threads);
  std::vector<std::exception_ptr> errors(threads);
  try {
    for (std::size_t t = 0; t < threads; ++t) {
      buffers.emplace_back(options.budget);
      workers.emplace_back(context, c.shape, rows);
    }
  } catch (const std::bad_alloc&) {
    throw UsageError(fmt::format("there is no memory for {} pools of {} bytes", threads, grouped(options.budget)));
  }
  Progress progress(fmt::format("{} x {} at {} tokens", c.shape.queries, c.shape.keys, grouped(c.tokens)),
                    blocks.size());

  // The cost of a block grows with its number, so that dealing them out in turn shares the work evenly.
  const auto work = [&](std::size_t t) {
    try {
      std::vector<QueryBlock> mine;
      for (std::size_t i = t; i < blocks.size(); i += threads) mine.push_back(blocks[i]);
      Pool pool(buffers[t]);
      attention::attend(pool, c.shape, mine, [&](const QueryBlock& block, auto when, const auto&... scratch) {
        workers[t](block, when, scratch...);
        if constexpr (std::is_same_v<decltype(when), attention::End>) progress.block_done(t == 0);
      });
      peaks[t] = pool.peak();
    } catch (...) {
      errors[t] = std::current_exception();
    }
  };
  const auto start = std::chrono::steady_clock::now();
  {
    Threads others;
    for (std::size_t t = 1; t < threads; ++t) others.start(work, t);
    work(0);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  for (std::size_t t = 0; t < threads; ++t) {
    if (errors[t]) std::rethrow_exception(errors[t]);
    result.peak = std::max(result.peak, peaks[t]);
    result.rows += workers[t].rows_done();
    result.kept.insert(result.kept.end(), workers[t].kept().begin(), workers[t].kept().end());
  }
  return result;
}

/// The last block once more without a scope per tile, for real and in the same budget.
void run_unscoped(const Case& c, const Context& context, const Options& options, Run& run, Claims& claims) {
  const std::vector<std::size_t> none;
  const auto last = {attention::query_block(c.shape, c.tokens, group, c.query_blocks - 1)};
  sp::ScratchBuffer buffer(options.budget);
  Worker unscoped(context, c.shape, none);
  try {
    Pool pool(buffer);
    attention::attend(pool, c.shape, last, unscoped, attention::Unscoped{});
    run.unscoped_whole_tiles = unscoped.whole_tiles();
  } catch (const sp::ScratchOverflow& overflow) {
    run.unscoped_whole_tiles = unscoped.whole_tiles();
    run.unscoped_error = overflow.what();
    return;
  }
  Worker scoped(context, c.shape, none);
  Pool pool(buffer);
  attention::attend(pool, c.shape, last, scoped);
  claims.hold(std::memcmp(scoped.output().data(), unscoped.output().data(), scoped.output().size_bytes()) == 0,
              "{} x {}, {} tokens: the same result, bit for bit, with and without scopes", c.shape.queries,
              c.shape.keys, c.tokens);
}

void run(Case& c, const Context& context, double work, const Options& options, Claims& claims) {
  const std::vector<QueryBlock> blocks = chosen_blocks(c, work);
  const std::vector<std::size_t> rows = chosen_rows(blocks, c.shape, context.rows());
  const Computed computed = compute(c, context, blocks, rows, options);

  Run& run = c.run.emplace();
  run.peak = computed.peak;
  run.computed_blocks = blocks.size();
  run.tokens_per_second = static_cast<double>(computed.rows) / static_cast<double>(group) / computed.seconds;
  run.tolerance = HUGE_VAL;
  std::vector<Bf16> query(head_dim);
  for (const FinishedRow& finished : computed.kept) {
    const std::size_t visible = finished.row / group + 1;
    context.heads.query(context.text, finished.row, query);
    const auto reference = attention::reference_row(query, context.keys, context.values, visible);
    const double difference = attention::largest_difference(finished.output, reference);
    const double tolerance = attention::tolerance(reference, head_dim, visible, 1 + (visible - 1) / c.shape.keys);
    claims.hold(difference <= tolerance,
                "{} x {}, {} tokens, row {}: {:.2e} from the float64 reference, at most {:.2e}", c.shape.queries,
                c.shape.keys, c.tokens, finished.row, difference, tolerance);
    run.difference = std::max(run.difference, difference);
    run.tolerance = std::min(run.tolerance, tolerance);
  }
  claims.hold(computed.kept.size() == rows.size(), "{} rows were to be checked, {} were", rows.size(),
              computed.kept.size());
  run_unscoped(c, context, options, run, claims);
}

// ---- what is claimed ------------------------------------------------------------------------------------------------

const attention::Figures* figures_of(const Shape& shape) {
  for (const attention::Figures& figures : attention::figures) {
    if (figures.queries == shape.queries && figures.keys == shape.keys) return &figures;
  }
  return nullptr;
}

void check(const Case& c, const Options& options, Claims& claims) {
  const std::string name = fmt::format("{} x {} at {} tokens", c.shape.queries, c.shape.keys, c.tokens);
  claims.hold(c.scoped == bytes_of(c.shape, {0, 1}, attention::Scoped{}), "{}: the peak of one tile, {} measured", name,
              c.scoped);
  claims.hold((c.whole_tiles == c.tiles) == (c.unscoped <= options.budget), "{}: fits without scopes, or does not",
              name);
  if (const attention::Figures* figures = figures_of(c.shape)) {
    claims.hold(c.scoped == figures->peak, "{}: {} with scopes, {} measured", name, figures->peak, c.scoped);
    if (options.budget == attention::figures_budget) {
      claims.hold(c.whole_tiles == std::min(c.tiles, figures->whole_tiles), "{}: {} tiles without scopes, {} measured",
                  name, figures->whole_tiles, c.whole_tiles);
    }
  }
  for (const attention::UnscopedFigure& figure : attention::unscoped_figures) {
    if (c.shape.queries != 128 || c.shape.keys != 64 || c.tokens != figure.tokens) continue;
    claims.hold(c.unscoped == figure.bytes, "{}: {} without scopes, {} measured", name, figure.bytes, c.unscoped);
  }
  if (!c.run) return;
  claims.hold(c.run->peak == c.scoped, "{}: the run's peak {} is what was measured, {}", name, c.run->peak, c.scoped);
  claims.hold(
      c.run->unscoped_whole_tiles == c.whole_tiles && c.run->unscoped_error.empty() == (c.whole_tiles == c.tiles),
      "{}: without scopes the run ends after {} tiles, measured {}", name, c.run->unscoped_whole_tiles, c.whole_tiles);
}

// ---- the page -------------------------------------------------------------------------------------------------------

std::string stop_of(const Case& c) {
  if (c.whole_tiles == c.tiles) return "fits";
  return "after " + counted(c.whole_tiles, "tile");
}

void print_tile(const std::vector<Case>& cases) {
  const Shape& shape = cases.front().shape;
  const std::string rows =
      shape.queries % group == 0 ? fmt::format(" = {} x {} heads", counted(shape.queries / group, "token"), group) : "";
  fmt::print("\nTile: {}{}, {}\n\n", counted(shape.queries, "query row"), rows, counted(shape.keys, "key"));
  fmt::print(
      R"(          |        | with scopes | without scopes               |  largest    bound  |  query blocks  | tokens per
  context |  tiles |       bytes |       bytes    budget gone   | difference  on it  |    computed    |   second
  --------+--------+-------------+------------------------------+--------------------+----------------+-----------
)");
  for (const Case& c : cases) {
    fmt::print("{:>9} | {:>6} | {:>11} | {:>13}  {:<14} |", grouped(c.tokens), grouped(c.tiles), grouped(c.scoped),
               grouped(c.unscoped), stop_of(c));
    if (c.run) {
      fmt::print("  {:.1e}  {:.1e}  | {:>14} | {:>10}\n", c.run->difference, c.run->tolerance,
                 fmt::format("{} of {}", grouped(c.run->computed_blocks), grouped(c.query_blocks)),
                 grouped(static_cast<std::uint64_t>(c.run->tokens_per_second)));
    } else {
      fmt::print("  {:<17} | {:>14} |\n", "sizes only", fmt::format("0 of {}", grouped(c.query_blocks)));
    }
  }
}

void print_sizes(std::size_t tokens, const Options& options, Claims& claims) {
  fmt::print("\nSeven tile shapes, sizes only, in bytes, at {} tokens\n\n", grouped(tokens));
  fmt::print(R"(  query          |      one tile's                  Q and        with | without scopes
  rows   x keys  |    temporaries     m, l, O      2 K + 2 V      scopes |       bytes    budget gone
  ---------------+-------------------------------------------------------+-----------------------------
)");
  for (const attention::Figures& figures : attention::figures) {
    const Shape shape{figures.queries, figures.keys, head_dim};
    const Case c = measure(shape, tokens, options.budget);
    const std::size_t state = sp::workspace_bytes([&](Pool& pool) { attention::State<Tcm>(pool, shape); });
    const std::size_t staged = sp::workspace_bytes([&](Pool& pool) { attention::Staged<Tcm>(pool, shape); });
    const std::size_t temporaries = sp::workspace_bytes([&](Pool& pool) { attention::Tile<Tcm>(pool, shape); });
    check(c, options, claims);
    claims.hold(state == figures.state && staged == figures.staged && temporaries == figures.temporaries,
                "{} x {}: {}, {} and {} bytes of temporaries, state and inputs; measured {}, {}, {}", shape.queries,
                shape.keys, figures.temporaries, figures.state, figures.staged, temporaries, state, staged);
    fmt::print("  {:>4}   x {:>4}  | {:>14} {:>11} {:>14} {:>11} | {:>13}  {}\n", shape.queries, shape.keys,
               grouped(temporaries), grouped(state), grouped(staged), grouped(c.scoped), grouped(c.unscoped),
               c.scoped > options.budget ? "too large with scopes too" : stop_of(c));
  }
}

void print_legend(const Options& options) {
  fmt::print(R"(
tiles           key tiles of the longest sweep, the last query block's
with scopes     the most scratch in use at once: measured before the run, without data, and counted by every thread's pool
                during it; the two agree
without scopes  what the same sweep needs if no tile gives its buffers back, and after how many whole tiles a budget of
                {0} bytes is gone then; where something is computed, the sweep was run like that too
difference      largest |O - softmax(QK^T)V in float64| over {1} rows at most; the bound is the smallest that the rounding of
                P to 16 bits (2^-8) and the float32 sums allow for any of them
tokens/second   through one layer's computed heads, all threads; a whole model has {2} times as many heads ({3} x {4} layers)
)",
             grouped(options.budget), rows_checked, kv_heads * layers, kv_heads, layers);
}

void print_for_scripts(const Case& c, const Options& options) {
  fmt::print("long_context tile={}x{} tokens={} tiles={} budget={} scoped={} run_peak={} unscoped={} ", c.shape.queries,
             c.shape.keys, c.tokens, c.tiles, options.budget, c.scoped, c.run ? std::to_string(c.run->peak) : "none",
             c.unscoped);
  fmt::print("unscoped_whole_tiles={} unscoped_fits={} computed_blocks={} query_blocks={} ", c.whole_tiles,
             c.whole_tiles == c.tiles ? "yes" : "no", c.run ? c.run->computed_blocks : 0, c.query_blocks);
  if (c.run) {
    fmt::print("difference={:.3e} tolerance={:.3e} tokens_per_second={:.1f}\n", c.run->difference, c.run->tolerance,
               c.run->tokens_per_second);
  } else {
    fmt::print("difference=none tolerance=none tokens_per_second=none\n");
  }
}

// ---- the command line -----------------------------------------------------------------------------------------------

void add_tile(std::string_view text, std::vector<Shape>& tiles) {
  if (text == "all") {
    for (const attention::Figures& figures : attention::figures)
      tiles.push_back({figures.queries, figures.keys, head_dim});
    return;
  }
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) {
    throw UsageError(fmt::format("--tile: {} is not MxN, such as 128x64, nor 'all'", command_line::quoted(text)));
  }
  // Far more than fits anywhere; it only keeps what is counted from them within 64 bits.
  constexpr std::size_t most = std::size_t{1} << 40;
  tiles.push_back({command_line::count("--tile, query rows", text.substr(0, cross), most),
                   command_line::count("--tile, keys", text.substr(cross + 1), most), head_dim});
}

Options parse(int argc, char** argv) {
  Options options;
  options.threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most_threads);
  command_line::Arguments arguments(argc, argv);
  while (!arguments.empty()) {
    const std::string_view argument = arguments.next();
    if (argument == "--tile") {
      add_tile(arguments.value(), options.tiles);
    } else if (argument == "--tokens") {
      options.tokens.push_back(command_line::count("--tokens", arguments.value(), most_tokens));
    } else if (argument == "--budget") {
      options.budget = command_line::bytes("--budget", arguments.value(), most_budget);
    } else if (argument == "--threads") {
      options.threads = command_line::count("--threads", arguments.value(), most_threads);
    } else if (argument == "--quick" || argument == "--help") {
      arguments.no_value();
      (argument == "--quick" ? options.quick : options.help) = true;
    } else if (argument.starts_with("-")) {
      throw UsageError(fmt::format("unknown option {}; try --help", command_line::quoted(argument)));
    } else {
      options.files.emplace_back(argument);
    }
  }
  if (options.tiles.empty()) options.tiles.push_back({});
  return options;
}

/// A budget in which a tile does not even fit with scopes is refused before any work.
void refuse_what_does_not_fit(const Options& options) {
  for (const Shape& shape : options.tiles) {
    const auto layout_of = [&](std::size_t keys) {
      return [&shape, keys](Pool& pool) { attention::sweep(pool, {shape.queries, keys, head_dim}, 1, sp::no_work); };
    };
    const std::string name = fmt::format("--tile {}x{}", shape.queries, shape.keys);
    std::size_t needed = 0;
    try {
      needed = sp::workspace_bytes<Pool>(layout_of(shape.keys));
    } catch (const sp::ScratchOverflow&) {
      throw UsageError(
          fmt::format("{} needs more bytes than any memory has; the budget is {}", name, grouped(options.budget)));
    }
    if (needed <= options.budget) continue;
    // The inverse question scans, hence not from numbers that nobody means.
    const std::size_t from = std::min<std::size_t>(shape.keys, 4'096);
    const auto fitting = sp::largest_fit<Pool>(options.budget, std::size_t{1}, from, 1, layout_of);
    throw UsageError(fmt::format("{} needs {} bytes of scratch, the budget is {}; {}", name, grouped(needed),
                                 grouped(options.budget),
                                 fitting ? fmt::format("with {} rows, {} keys fit", shape.queries, grouped(*fitting))
                                         : fmt::format("with {} rows, not one key fits", shape.queries)));
  }
}

int run_all(const Options& options) {
  const bool default_lengths = options.tokens.empty();
  const std::vector<std::size_t> lengths =
      default_lengths ? std::vector<std::size_t>{1'024, 2'048, 4'096, 8'192} : options.tokens;
  const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());

  const std::vector<std::string> files = options.files.empty() ? text_source::own_files() : options.files;
  if (files.empty()) throw UsageError("no headers or docs of this project in the working directory; name a file");
  std::string text = text_source::read(files, longest);
  if (text.empty()) throw UsageError("there is not one byte to read in the files named");
  const std::size_t bytes_read = text.size();
  text_source::repeat_to(text, longest);

  fmt::print("Causal flash attention with the shapes of Llama-70B: {} query heads, {} key/value heads, head_dim {}, {} "
             "layers.\n\n",
             query_heads, kv_heads, head_dim, layers);
  fmt::print("Text      {}; a byte is a token\n",
             options.files.empty()
                 ? fmt::format("the first {} of this project's headers and docs", counted(bytes_read, "byte"))
                 : fmt::format("{} of {}", counted(bytes_read, "byte"),
                               command_line::quoted(fmt::format("{}", fmt::join(options.files, " ")))));
  if (bytes_read < longest) {
    fmt::print("          repeated, because {} tokens are asked for\n", grouped(longest));
  }
  fmt::print("Scratch   {} for each of {}\n", counted(options.budget, "byte"), counted(options.threads, "thread"));
  fmt::print(R"(Vectors   hashed from the bytes, in place of a model's projections
Computed  key/value head 0 of one layer with its {} query heads, one of that layer's {}; how many of their query
          blocks the table says, evenly spaced where not all
)",
             group, kv_heads);

  // Multiplications and additions, shared out evenly among the cases.
  const double work = (options.quick ? 3e9 : 6e11) / static_cast<double>(options.tiles.size() * lengths.size());
  Claims claims;
  std::vector<Case> cases;
  for (const Shape& shape : options.tiles) {
    std::vector<Case> of_tile;
    for (const std::size_t tokens : lengths) {
      Case& c = of_tile.emplace_back(measure(shape, tokens, options.budget));
      run(c, Context(std::string_view(text).substr(0, tokens)), work, options, claims);
      check(c, options, claims);
    }
    if (default_lengths) {
      for (const std::size_t tokens : sizes_only)
        check(of_tile.emplace_back(measure(shape, tokens, options.budget)), options, claims);
    }
    print_tile(of_tile);
    cases.insert(cases.end(), of_tile.begin(), of_tile.end());
  }

  for (const Case& c : cases) {
    if (!c.run || c.run->unscoped_error.empty()) continue;
    fmt::print("\nWithout a scope per tile, {} x {} at {} tokens ends with\n\n  {}\n", c.shape.queries, c.shape.keys,
               grouped(c.tokens), c.run->unscoped_error);
    break;
  }
  print_sizes(longest, options, claims);
  print_legend(options);
  fmt::print("\n");
  for (const Case& c : cases) print_for_scripts(c, options);
  if (claims.broken() != 0) {
    fmt::print(stderr, "{} of {} claims do not hold\n", claims.broken(), claims.claims());
    return 1;
  }
  fmt::print("\nAll {} claims checked on the way hold.\n", claims.claims());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    if (options.help) {
      fmt::print("{}", help);
      return 0;
    }
    refuse_what_does_not_fit(options);
    return run_all(options);
  } catch (const UsageError& error) {
    fmt::print(stderr, "010_long_context: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "010_long_context: {}\n", error.what());
    return 1;
  }
}
