// SPDX-License-Identifier: MIT
// The sizing theorem, held against programs: a measured sequence has peak P and coarsest alignment A. Then
//   P bytes at a base aligned to A serve it, and P - 1 do not;
//   P + (A - q) bytes serve it at every base that is a multiple of q, also when a caller hands them on as plain bytes;
// and what is measured and where every block lies is what the naive model says.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <scratchpad/core.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/naive_model.hpp"

namespace sp = scratchpad;

namespace {

// ---- programs -----------------------------------------------------------------------------------------------------------

struct Step {
  enum Kind : std::uint8_t { block, open, close, again, save, rewind, reset };
  Kind kind = block;
  unsigned element = 0;
  std::size_t n = 0;
  std::size_t alignment = 1;  // 1: none asked for
};
using Program = std::vector<Step>;

std::string text_of(const Program& program) {
  std::string text;
  for (const Step& step : program) {
    switch (step.kind) {
      case Step::block:
        text += std::string(elements::name(step.element)) + " " + std::to_string(step.n);
        if (step.alignment != 1) text += " align " + std::to_string(step.alignment);
        text += "; ";
        break;
      case Step::open:
        text += "{ ";
        break;
      case Step::close:
        text += "} ";
        break;
      case Step::again:
        text += "scope.rewind(); ";
        break;
      case Step::save:
        text += "save(); ";
        break;
      case Step::rewind:
        text += "rewind(); ";
        break;
      case Step::reset:
        text += "reset(); ";
        break;
    }
  }
  return text;
}

// What is open, as far as it decides which step may come next: scopes and raw save-points, the innermost last.
class Open {
 public:
  bool allows(Step::Kind kind) const {
    switch (kind) {
      case Step::block:
        return true;
      case Step::open:
      case Step::save:
        return levels_.size() < 8;
      case Step::close:
      case Step::again:
        return levels_.find('{') != std::string::npos;
      case Step::rewind:
        return !levels_.empty() && levels_.back() == 's';
      case Step::reset:
        return levels_.empty();
    }
    return false;
  }
  void apply(Step::Kind kind) {
    if (kind == Step::open) levels_ += '{';
    if (kind == Step::save) levels_ += 's';
    // Both discard what was saved above the innermost scope.
    if (kind == Step::close) levels_.resize(levels_.rfind('{'));
    if (kind == Step::again) levels_.resize(levels_.rfind('{') + 1);
    if (kind == Step::rewind) levels_.pop_back();
  }

 private:
  std::string levels_;
};

// ---- what a program does --------------------------------------------------------------------------------------------------

struct Figures {
  std::size_t bytes = 0;      // P
  std::size_t alignment = 0;  // A
  std::size_t required = 0;   // at any base
  friend bool operator==(const Figures&, const Figures&) = default;
};

struct Run {
  std::vector<std::uint64_t> offsets;  // of every block
  std::vector<std::uint64_t> used;     // after every step
  std::uint64_t peak = 0;
  std::optional<std::size_t> failed_at;  // the step that overflowed
  std::vector<Figures> figures;          // measured before each reset and at the end

  friend bool operator==(const Run&, const Run&) = default;

  // A reset begins a new sequence, and the bytes must do for each of them.
  Figures largest() const {
    Figures all;
    for (const Figures& f : figures) {
      all.bytes = std::max(all.bytes, f.bytes);
      all.alignment = std::max(all.alignment, f.alignment);
      all.required = std::max(all.required, f.required);
    }
    return all;
  }
};

template <class Pool>
class LibraryRun {
 public:
  explicit LibraryRun(Pool& pool)
      : pool_(pool), base_(reinterpret_cast<std::uintptr_t>(pool.template allocate<std::byte>(0).data())) {}

  Run run(const Program& program) {
    for (std::size_t i = 0; i < program.size() && !result_.failed_at; ++i) {
      try {
        step(program[i]);
        result_.used.push_back(pool_.used());
      } catch (const sp::ScratchOverflow&) {
        result_.failed_at = i;
      }
    }
    while (!scopes_.empty()) end_scope();
    note_figures();
    result_.peak = pool_.peak();
    return result_;
  }

 private:
  struct OpenScope {
    explicit OpenScope(Pool& pool) : scope(pool) {}
    sp::ScratchScope<typename Pool::space_type> scope;
    std::size_t saves_below = 0;
  };

  void step(const Step& step) {
    switch (step.kind) {
      case Step::block:
        return block(step);
      case Step::open:
        scopes_.push_back(std::make_unique<OpenScope>(pool_));
        scopes_.back()->saves_below = saves_.size();
        return;
      case Step::close:
        return end_scope();
      case Step::again:
        scopes_.back()->scope.rewind();
        saves_.resize(scopes_.back()->saves_below);
        return;
      case Step::save:
        saves_.push_back(pool_.save());
        return;
      case Step::rewind:
        pool_.rewind(saves_.back());
        saves_.pop_back();
        return;
      case Step::reset:
        note_figures();
        pool_.reset();
        return;
    }
  }

  void block(const Step& step) {
    elements::with_element(step.element, [&]<class T>() {
      const std::span<T> block = step.alignment == 1 ? pool_.template allocate<T>(step.n)
                                                     : pool_.template allocate<T>(step.n, sp::align(step.alignment));
      result_.offsets.push_back(reinterpret_cast<std::uintptr_t>(block.data()) - base_);
    });
  }

  void end_scope() {
    saves_.resize(scopes_.back()->saves_below);
    scopes_.pop_back();
  }

  void note_figures() {
    if (!pool_.is_measuring()) return;
    result_.figures.push_back({pool_.requirement().bytes, pool_.requirement().alignment, pool_.required_bytes()});
  }

  Pool& pool_;
  std::uint64_t base_;
  std::vector<std::unique_ptr<OpenScope>> scopes_;
  std::vector<sp::SavePoint> saves_;
  Run result_;
};

Run model_run(naive::Model model, const Program& program) {
  struct Level {
    naive::Bytes life;
    bool is_scope;
  };
  std::vector<Level> open;
  Run result;
  const auto note_figures = [&] {
    if (!model.is_measuring()) return;
    result.figures.push_back({static_cast<std::size_t>(model.peak()), static_cast<std::size_t>(model.coarsest()),
                              static_cast<std::size_t>(model.required_bytes())});
  };
  const auto discard_saves = [&] {
    while (!open.back().is_scope) open.pop_back();
  };
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Step& step = program[i];
    switch (step.kind) {
      case Step::block: {
        naive::Request request;
        elements::with_element(step.element, [&]<class T>() {
          request = {step.n, sizeof(T), step.alignment > alignof(T) ? step.alignment : alignof(T)};
        });
        const auto block = model.allocate(request);
        if (block) {
          result.offsets.push_back(block->begin);
        } else {
          result.failed_at = i;
        }
        break;
      }
      case Step::open:
      case Step::save:
        open.push_back({model.save().value(), step.kind == Step::open});
        break;
      case Step::close:
        discard_saves();
        model.unwind(open.back().life);
        open.pop_back();
        break;
      case Step::again:
        discard_saves();
        open.back().life = model.renew(open.back().life).value();
        break;
      case Step::rewind:
        model.rewind(open.back().life);
        open.pop_back();
        break;
      case Step::reset:
        note_figures();
        model.reset();
        break;
    }
    if (result.failed_at) break;
    result.used.push_back(model.used());
  }
  result.peak = model.peak();
  note_figures();
  return result;
}

// ---- pools ----------------------------------------------------------------------------------------------------------------

struct Unit : sp::HostSpace {
  static constexpr std::size_t quantum = 1;
};
struct Coarse : sp::HostSpace {
  static constexpr std::size_t quantum = 128;
};
struct Dynamic : sp::HostSpace {
  static constexpr std::size_t quantum = sp::dynamic_quantum;
};
struct Unchecked : sp::HostSpace {
  static constexpr bool bounds_checked = false;
};

template <class Space>
constexpr bool is_dynamic = Space::quantum == sp::dynamic_quantum;

template <class Space>
sp::BumpAllocator<Space> measuring_pool([[maybe_unused]] std::size_t quantum) {
  if constexpr (is_dynamic<Space>) {
    return sp::BumpAllocator<Space>::measuring(quantum);
  } else {
    return sp::BumpAllocator<Space>::measuring();
  }
}

class Ignore final : public sp::PoolObserver {};
Ignore ignore;

// Watched or not, the offsets are the same; so half of the pools are.
template <class Space>
sp::BumpAllocator<Space> pool_over(std::byte* base, std::size_t bytes, [[maybe_unused]] std::size_t quantum,
                                   bool watched) {
  sp::PoolObserver* const observer = watched ? &ignore : nullptr;
  if constexpr (is_dynamic<Space>) {
    return sp::BumpAllocator<Space>(base, bytes, quantum, observer);
  } else {
    return sp::BumpAllocator<Space>(base, bytes, observer);
  }
}

constexpr std::size_t period = 4096;  // every alignment that a program asks for divides it
constexpr std::size_t most_bytes = 128 * 1024;
alignas(period) std::byte memory[period + most_bytes];

struct Tally {
  std::uint64_t programs = 0;
  std::uint64_t runs = 0;
  std::uint64_t over_aligned = 0;      // programs with A > q
  std::uint64_t refused_one_less = 0;  // runs with P - 1 bytes that failed
  std::uint64_t need_every_byte = 0;   // programs with A > q that fail somewhere with one quantum less than P + (A - q)
};

template <class Space>
class Theorem {
 public:
  Theorem(std::size_t quantum, Tally& tally) : quantum_(quantum), tally_(tally) {}

  // Empty if everything holds, else what does not.
  std::string check(const Program& program) {
    ++tally_.programs;
    auto measuring = measuring_pool<Space>(quantum_);
    const Run measured = LibraryRun(measuring).run(program);
    const Run expected = model_run(naive::Model::measuring(quantum_, Space::max_depth), program);
    if (measured != expected) return "measuring: " + difference(measured, expected);
    const Figures need = measured.largest();
    if (need.required + quantum_ > most_bytes) return "the test's memory is too small";
    if (need.alignment > quantum_) ++tally_.over_aligned;

    // P bytes at an aligned base, and one less.
    if (auto wrong = serve(program, need.alignment % period, need.bytes, false); !wrong.empty()) return wrong;
    if (need.bytes != 0 && Space::bounds_checked) {
      if (auto wrong = serve(program, 0, need.bytes - 1, true); !wrong.empty()) return wrong;
      ++tally_.refused_one_less;
    }
    // P + (A - q) bytes at every base of one period of A.
    bool needs_every_byte = false;
    for (std::size_t base = 0; base < need.alignment; base += quantum_) {
      if (auto wrong = serve(program, base, need.required, false); !wrong.empty()) return wrong;
      if (need.required > need.bytes && Space::bounds_checked) {
        auto pool = pool_over<Space>(memory + base, need.required - quantum_, quantum_, false);
        needs_every_byte = LibraryRun(pool).run(program).failed_at.has_value() || needs_every_byte;
      }
    }
    if (needs_every_byte) ++tally_.need_every_byte;
    return serve_again(program, need);
  }

 private:
  static std::string difference(const Run& is, const Run& should_be) {
    if (is.failed_at != should_be.failed_at) {
      const auto words = [](const Run& run) {
        return run.failed_at ? "step " + std::to_string(*run.failed_at) + " fails" : std::string("nothing fails");
      };
      return words(is) + ", but by the model " + words(should_be);
    }
    for (std::size_t i = 0; i < should_be.offsets.size() && i < is.offsets.size(); ++i) {
      if (is.offsets[i] != should_be.offsets[i]) {
        return "block " + std::to_string(i) + " is at " + std::to_string(is.offsets[i]) + ", by the model at " +
               std::to_string(should_be.offsets[i]);
      }
    }
    for (std::size_t i = 0; i < should_be.used.size() && i < is.used.size(); ++i) {
      if (is.used[i] != should_be.used[i]) {
        return "after step " + std::to_string(i) + " " + std::to_string(is.used[i]) + " bytes are used, by the model " +
               std::to_string(should_be.used[i]);
      }
    }
    if (is.peak != should_be.peak) {
      return "the peak is " + std::to_string(is.peak) + ", by the model " + std::to_string(should_be.peak);
    }
    const auto words = [](const Run& run) {
      std::string text;
      for (const Figures& f : run.figures) {
        text += "{" + std::to_string(f.bytes) + ", " + std::to_string(f.alignment) + ", " + std::to_string(f.required) +
                "}";
      }
      return text;
    };
    return "the figures {P, A, bytes at any base} are " + words(is) + ", by the model " + words(should_be);
  }

  std::string serve(const Program& program, std::size_t base, std::size_t bytes, bool must_fail) {
    auto pool = pool_over<Space>(memory + base, bytes, quantum_, ++tally_.runs % 2 == 0);
    const Run served = LibraryRun(pool).run(program);
    const auto address = reinterpret_cast<std::uintptr_t>(memory + base);
    const Run expected = model_run(naive::Model::serving(address, bytes, quantum_, Space::max_depth), program);
    const std::string where = std::to_string(bytes) + " bytes at a base of " + std::to_string(base) + ": ";
    if (served != expected) return where + difference(served, expected);
    if (served.failed_at.has_value() != must_fail) return where + (must_fail ? "nothing fails" : "a step fails");
    return "";
  }

  // A caller sizes itself with the callee's number as plain bytes, or with {P, A}, after a block of its own; whatever the
  // caller's base, the callee's layout runs on what it gets.
  std::string serve_again(const Program& program, const Figures& need) {
    for (const bool exactly : {false, true}) {
      const auto lend = [&](auto& caller) {
        static_cast<void>(caller.template allocate<std::byte>(3));
        return exactly ? caller.template allocate<std::byte>(need.bytes, sp::align(need.alignment))
                       : caller.template allocate<std::byte>(need.required);
      };
      auto caller_measured = measuring_pool<Space>(quantum_);
      static_cast<void>(lend(caller_measured));
      const std::size_t base = 5 * quantum_ % period;
      if (caller_measured.required_bytes() > most_bytes) return "the test's memory is too small";
      auto caller = pool_over<Space>(memory + base, caller_measured.required_bytes(), quantum_, false);
      const std::span<std::byte> lent = lend(caller);
      ++tally_.runs;
      auto callee = pool_over<Space>(lent.data(), lent.size(), quantum_, false);
      const Run served = LibraryRun(callee).run(program);
      if (served.failed_at)
        return std::string("handed on ") + (exactly ? "exactly" : "as plain bytes") + ": a step fails";
    }
    return "";
  }

  std::size_t quantum_;
  Tally& tally_;
};

// ---- programs at random -----------------------------------------------------------------------------------------------------

Program random_program(std::uint64_t seed, std::size_t quantum) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  constexpr std::size_t alignments[] = {1, 2, 8, 16, 32, 64, 128, 256, 512};
  Open open;
  Program program;
  // Blocks that are over-aligned in every program would leave the case A == q untried.
  const bool plain = below(4) == 0;
  for (std::size_t length = 1 + below(24); program.size() < length;) {
    Step step;
    const std::size_t kind = below(16);
    step.kind = kind < 8    ? Step::block
                : kind < 10 ? Step::open
                : kind < 12 ? Step::close
                : kind < 13 ? Step::again
                : kind < 14 ? Step::save
                : kind < 15 ? Step::rewind
                            : Step::reset;
    if (step.kind == Step::reset && below(4) != 0) continue;
    if (!open.allows(step.kind)) continue;
    if (step.kind == Step::block) {
      step.element = static_cast<unsigned>(below(plain ? 6 : elements::count));
      step.n = below(8) == 0 ? 0 : below(40);
      if (!plain && below(3) == 0) {
        step.alignment = below(16) == 0 ? std::size_t{2048} : alignments[below(std::size(alignments))];
      }
      if (plain && quantum < 8) step.element = 0;
    }
    open.apply(step.kind);
    program.push_back(step);
  }
  return program;
}

// AddressSanitizer takes ten times as long and changes nothing here: no byte is written.
constexpr std::uint64_t share = SCRATCHPAD_ASAN ? 10 : 1;

template <class Space>
void check_random_programs(std::size_t quantum, std::uint64_t first_seed, std::uint64_t programs) {
  const std::uint64_t count = programs / share;
  Tally tally;
  Theorem<Space> theorem(quantum, tally);
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    const Program program = random_program(seed, quantum);
    if (const std::string wrong = theorem.check(program); !wrong.empty()) {
      FAIL("seed " << seed << ", quantum " << quantum << ": " << wrong << "; in: " << text_of(program));
    }
  }
  CHECK(tally.programs == count);
  CHECK(tally.runs > 4 * count);
  CHECK(tally.over_aligned > count / 8);
  CHECK(tally.programs - tally.over_aligned > count / 8);
  if (Space::bounds_checked) {
    CHECK(tally.refused_one_less > count / 2);
    CHECK(tally.need_every_byte > count / 50);
  }
}

// ---- all programs of a few steps --------------------------------------------------------------------------------------------

template <class Check>
void for_every_program(const std::vector<Step>& alphabet, std::size_t length, const Program& begun, const Open& open,
                       const Check& check) {
  check(begun);
  if (length == 0) return;
  for (const Step& step : alphabet) {
    if (!open.allows(step.kind)) continue;
    Open after = open;
    after.apply(step.kind);
    Program longer = begun;
    longer.push_back(step);
    for_every_program(alphabet, length - 1, longer, after, check);
  }
}

}  // namespace

TEST_CASE("P bytes at an aligned base, P + (A - q) at any, serve random programs, and no byte less", "[theorem]") {
  SECTION("quantum 16") { check_random_programs<sp::HostSpace>(16, 1'000'000, 20'000); }
  SECTION("quantum 1") { check_random_programs<Unit>(1, 2'000'000, 1'000); }
  SECTION("quantum 128") { check_random_programs<Coarse>(128, 3'000'000, 20'000); }
  SECTION("a quantum of run time, 8") { check_random_programs<Dynamic>(8, 4'000'000, 5'000); }
  SECTION("a quantum of run time, 64") { check_random_programs<Dynamic>(64, 5'000'000, 20'000); }
  SECTION("quantum 16 without a check of bounds") { check_random_programs<Unchecked>(16, 6'000'000, 10'000); }
}

TEST_CASE("the sizing theorem holds for every program of up to six steps out of eight", "[theorem]") {
  // One quantum, a little more than one, over-aligned twofold and fourfold, scopes and raw save-points.
  const std::vector<Step> alphabet = {
      {Step::block, 0, 1, 1}, {Step::block, 0, 17, 32}, {Step::block, 0, 1, 64}, {Step::open, 0, 0, 1},
      {Step::close, 0, 0, 1}, {Step::again, 0, 0, 1},   {Step::save, 0, 0, 1},   {Step::rewind, 0, 0, 1},
  };
  Tally tally;
  Theorem<sp::HostSpace> theorem(16, tally);
  for_every_program(alphabet, 6, {}, Open(), [&](const Program& program) {
    if (const std::string wrong = theorem.check(program); !wrong.empty()) FAIL(wrong << "; in: " << text_of(program));
  });
  CHECK(tally.programs == 53'102);  // counted apart, by a recursion over what is open
  CHECK(tally.over_aligned > 40'000);
  CHECK(tally.refused_one_less > 40'000);
  // Nobody can lower the formula: these fail at some base with one quantum less.
  CHECK(tally.need_every_byte > 20'000);
}
