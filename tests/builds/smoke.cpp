// SPDX-License-Identifier: MIT
// A broad slice of the library as a plain program: no Catch2, no fmt, nothing that one of the builds in run.py lacks.
// What it expects is worked out by hand, at the default quantum of 16.
//
//   smoke                   checks everything that must work; exit status 0, or 1 after naming what did not
//   smoke --failures        names the calls that must fail
//   smoke NAME HOW          without exceptions: makes that call; HOW is "returns" (with a failure handler that returns),
//                           "exits" (with one that ends the program with status 42) or "none" (without one)
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory_resource>
#include <scratchpad/pmr.hpp>
#include <scratchpad/scratchpad.hpp>
#include <scratchpad/workspace/workspace_arena.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace sp = scratchpad;

namespace {

int failures = 0;

void expect(bool holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  std::printf("smoke.cpp:%d: not so: %s\n", line, what);
}
#define EXPECT(...) expect(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __LINE__)

struct Tcm : sp::HostSpace {
  static constexpr std::string_view name = "tcm";
};
using Pool = sp::BumpAllocator<Tcm>;

struct Device : sp::HostSpace {
  static constexpr std::string_view name = "device";
  static constexpr std::size_t quantum = sp::dynamic_quantum;
};
using DevicePool = sp::BumpAllocator<Device>;

struct alignas(64) Line {
  std::byte bytes[64];
};

template <std::size_t Bytes>
struct alignas(256) Memory {
  std::byte bytes[Bytes];
};

// ---- sizing -------------------------------------------------------------------------------------------------------

template <class Body>
constexpr void sweep(Pool& pool, int tiles, Body body) {
  auto o = sp::tensor<float>(pool, "O", 16, 16);  // 1,024 bytes
  for (int j = 0; j < tiles; ++j) {
    sp::ScratchScope tile(pool);
    auto s = sp::tensor<float>(pool, "s", 16, 8);  // 512 bytes
    auto p = sp::tensor<float>(pool, "p", 16, 8);  // 512 bytes
    body(o, s, p, j);
  }
}
constexpr std::size_t sweep_bytes = sp::workspace_bytes([](Pool& pool) { sweep(pool, 5, sp::no_work); });
static_assert(sweep_bytes == 2'048);

// A byte, then a line: 16 bytes, padding to 64, 64 bytes.
void byte_and_line(Pool& pool) {
  (void)pool.allocate<std::byte>(1, "byte");
  (void)pool.allocate<Line>(1, "line");
}

void sizes_at_compile_time_and_at_run_time_agree() {
  volatile int tiles = 5;
  const std::size_t measured = sp::workspace_bytes([&](Pool& pool) { sweep(pool, tiles, sp::no_work); });
  EXPECT(measured == 2'048);

  static Memory<2'048> memory;
  Pool pool(memory.bytes);
  int turns = 0;
  sweep(pool, tiles, [&](auto& o, auto& s, auto& p, int j) {
    if (j == 0) {
      for (float& x : o.span()) x = 0.0F;
    }
    for (float& x : s.span()) x = 1.0F;
    for (float& x : p.span()) x = 2.0F;
    for (std::size_t i = 0; i < s.size(); ++i) o.data()[i] += s.data()[i] + p.data()[i];
    ++turns;
    if (j == 4) EXPECT(o(7, 15) == 15.0F && o(8, 0) == 0.0F);
  });
  EXPECT(turns == 5 && pool.used() == 1'024 && pool.peak() == 2'048 && pool.depth() == 0);
}

void over_aligned_blocks_fit_at_every_base() {
  EXPECT(sp::workspace_requirement(byte_and_line) == sp::Requirement{128, 64});
  EXPECT(sp::workspace_bytes(byte_and_line) == 176);
  static Memory<256> memory;
  for (std::size_t shift = 0; shift < 64; shift += 16) {
    Pool pool(memory.bytes + shift, 176);
    (void)pool.allocate<std::byte>(1);
    const auto line = pool.allocate<Line>(1);
    EXPECT(line.size() == 1 && reinterpret_cast<std::uintptr_t>(line.data()) % 64 == 0);
    EXPECT(pool.used() == (shift == 0 ? 128U : 128U - shift));
  }
  Pool pool(memory.bytes, 128);
  EXPECT(pool.allocate<char>(3, sp::align(64)).size() == 3 && pool.used() == 16);
  const auto aligned = pool.allocate<char>(3, sp::align(64), "second");
  EXPECT(reinterpret_cast<std::uintptr_t>(aligned.data()) % 64 == 0 && pool.used() == 80);
}

void a_dynamic_quantum_is_the_alignment_of_everything() {
  const auto two_bytes = [](DevicePool& pool) {
    (void)pool.allocate<std::byte>(1);
    (void)pool.allocate<std::byte>(1);
  };
  EXPECT(sp::workspace_bytes(two_bytes, 128) == 256);
  EXPECT(sp::workspace_bytes(two_bytes, 32) == 64);
  static Memory<256> memory;
  DevicePool pool(memory.bytes, 256, 128);
  const auto first = pool.allocate<std::byte>(1);
  const auto second = pool.allocate<std::byte>(1);
  EXPECT(second.data() - first.data() == 128 && pool.quantum() == 128 && pool.remaining() == 0);
}

void largest_fit_scans_down() {
  const auto floats = [](int n) {
    return [n](Pool& pool) { (void)pool.allocate<float>(static_cast<std::size_t>(n)); };
  };
  // 24 floats are 96 bytes, 25 are 112 rounded up.
  EXPECT(sp::largest_fit<Pool>(100, 1, 90, 1, floats) == 24);
  EXPECT(sp::largest_fit<Pool>(100, 2, 90, 11, floats) == 24);
  EXPECT(sp::largest_fit<Pool>(15, 1, 90, 1, floats) == std::nullopt);
}

// ---- blocks, scopes, handles --------------------------------------------------------------------------------------

void scopes_nest() {
  static Memory<512> memory;
  Pool pool(memory.bytes);
  (void)pool.allocate<char>(100);  // 112
  {
    sp::ScratchScope outer(pool);
    (void)pool.allocate<char>(17);  // 144
    {
      sp::ScratchScope inner(pool);
      (void)pool.allocate<double>(10);  // 224
      EXPECT(pool.depth() == 2 && pool.used() == 224);
      EXPECT(pool.save_points().size() == 2 && pool.save_points()[0] == 112 && pool.save_points()[1] == 144);
    }
    EXPECT(pool.used() == 144);
    outer.rewind();
    EXPECT(pool.used() == 112 && pool.depth() == 1);
  }
  EXPECT(pool.used() == 112 && pool.depth() == 0 && pool.peak() == 224 && pool.remaining() == 400);
  (void)pool.allocate<char>(0);
  EXPECT(pool.used() == 112);
  EXPECT(!pool.try_allocate<char>(401) && pool.try_allocate<char>(400) && pool.remaining() == 0);
  pool.reset();
  EXPECT(pool.used() == 0 && pool.peak() == 0);
}

void save_and_rewind_are_a_stack() {
  static Memory<256> memory;
  Pool pool(memory.bytes);
  const sp::SavePoint outer = pool.save();
  (void)pool.allocate<char>(20);
  const sp::SavePoint inner = pool.save();
  (void)pool.allocate<char>(20);
  EXPECT(pool.used() == 64 && pool.depth() == 2 && pool.is_live(inner));
  pool.rewind(inner);
  EXPECT(pool.used() == 32 && pool.depth() == 1 && !pool.is_live(inner) && pool.is_live(outer));
  pool.rewind(outer);
  EXPECT(pool.used() == 0 && pool.depth() == 0);
}

void a_fence_runs_before_every_rewind_but_not_while_measuring() {
  int calls = 0;
  const auto fenced = [&](Pool& pool) {
    sp::ScratchScope scope(pool, [&] { ++calls; });
    (void)pool.allocate<char>(1);
    scope.rewind();
  };
  EXPECT(sp::workspace_bytes(fenced) == 16 && calls == 0);
  static Memory<64> memory;
  Pool pool(memory.bytes);
  fenced(pool);
  EXPECT(calls == 2);
}

void handles_know_whether_they_are_live() {
  static Memory<256> memory;
  Pool pool(memory.bytes);
  const auto kept = sp::tensor<int>(pool, "kept", 4);
  sp::Tensor<int, 1, Tcm> stale;
  EXPECT(!pool.is_live(stale) && pool.is_live(kept));
  {
    sp::ScratchScope scope(pool);
    stale = sp::tensor<int>(pool, "scoped", 4);
    EXPECT(pool.is_live(stale));
  }
  EXPECT(!pool.is_live(stale));
  sp::ScratchScope scope(pool);
  const auto again = sp::tensor<int>(pool, "again", 4);
  EXPECT(again.data() == stale.data() && pool.is_live(again) && !pool.is_live(stale));
}

void copy_to_keeps_what_a_scope_made() {
  static Memory<256> memory;
  Pool pool(memory.bytes);
  const auto kept = sp::tensor<int>(pool, "kept", 2, 3);
  for (int& x : kept.span()) x = 0;
  {
    sp::ScratchScope scope(pool);
    const auto made = sp::tensor<int>(pool, "made", 2, 3);
    int next = 1;
    for (int& x : made.span()) x = next++;
    sp::copy_to(pool, kept, made);
    sp::copy_to(pool, kept, kept);
  }
  EXPECT(kept(0, 0) == 1 && kept(1, 2) == 6 && kept.row(1)[0] == 4);
}

void a_scratch_buffer_feeds_a_pool() {
  sp::ScratchBuffer buffer(sp::workspace_requirement(byte_and_line));
  EXPECT(buffer.size() == 128 && buffer.alignment() == 64);
  EXPECT(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
  sp::ScratchBuffer moved(std::move(buffer));
  Pool pool(moved);
  byte_and_line(pool);
  EXPECT(pool.used() == 128 && pool.remaining() == 0);
}

void a_pmr_container_lives_in_a_scope() {
  static Memory<256> memory;
  Pool pool(memory.bytes);
  {
    sp::ScratchScope scope(pool);
    sp::PoolResource resource(pool);
    std::pmr::vector<int> numbers(&resource);
    numbers.reserve(4);
    for (int i = 0; i < 4; ++i) numbers.push_back(i);
    EXPECT(numbers[3] == 3 && pool.used() == 16);
  }
  EXPECT(pool.used() == 0);
}

struct InOrder {
  bool is_in_order() const { return true; }
  void wait() {}
};

void an_arena_lends_the_same_bytes_again() {
  InOrder queue;
  sp::WorkspaceArena<InOrder> arena(queue);
  std::byte* first = nullptr;
  for (int turn = 0; turn < 3; ++turn) {
    sp::WorkspaceLease lease = arena.lease(1'000);
    if (turn == 0) first = lease.data();
    EXPECT(lease.data() == first && lease.size() == 1'000 && arena.statistics().used == 1'008);
    Pool pool(lease);
    sp::WorkspaceLease other = arena.lease(sp::Requirement{100, 64});
    EXPECT(reinterpret_cast<std::uintptr_t>(other.data()) % 64 == 0);
    std::memset(other.data(), 1, other.size());
    EXPECT(pool.capacity() == 992 && pool.allocate<double>(124).size() == 124);
  }
  EXPECT(arena.statistics().used == 0 && arena.statistics().capacity == 65'536);
}

// Blocks at whatever the request asks for, the first one at an odd multiple of 16.
class Shifted : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    used_ += (alignment - used_ % alignment) % alignment;
    void* const data = memory_.bytes + used_;
    used_ += bytes;
    return data;
  }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  static inline Memory<262'144> memory_;
  std::size_t used_ = 16;
};

void an_aligned_lease_is_aligned_in_every_block() {
  InOrder queue;
  Shifted upstream;
  sp::WorkspaceArena<InOrder> arena(queue, &upstream);
  const sp::WorkspaceLease first = arena.lease(65'536);
  EXPECT(reinterpret_cast<std::uintptr_t>(first.data()) % 64 == 16);
  const sp::WorkspaceLease second = arena.lease(100, sp::align(64));
  EXPECT(arena.statistics().blocks == 2 && reinterpret_cast<std::uintptr_t>(second.data()) % 64 == 0);
}

// ---- observers ----------------------------------------------------------------------------------------------------

void a_recorder_makes_the_plan_that_a_check_accepts() {
  static Memory<2'048> memory;
  sp::Recorder recorder;
  {
    Pool pool(memory.bytes, &recorder);
    sweep(pool, 2, sp::no_work);
    EXPECT(recorder.live_blocks().size() == 1 && recorder.live_blocks()[0].bytes == 1'024);
  }
  // attach, O, 2 x (save, s, p, rewind), detach
  EXPECT(recorder.events().size() == 11);
  const sp::Plan plan = recorder.plan();
  EXPECT(plan.required_bytes() == 2'048 && plan.pool.blocks.size() == 1 && plan.pool.scopes[1].size() == 1);

  sp::PlanCheck check(plan);
  Pool pool(memory.bytes, &check);
  sweep(pool, 7, sp::no_work);
  EXPECT(pool.used() == 1'024);
}

void poison_reads_as_nan() {
  static Memory<64> memory;
  sp::Poison poison;
  Pool pool(memory.bytes, &poison);
  float value = 0.0F;
  {
    sp::ScratchScope scope(pool);
    const auto block = pool.allocate<float>(4);
    EXPECT(block[2] != block[2]);
    for (float& x : block) x = 1.0F;
  }
  std::memcpy(&value, memory.bytes + 8, sizeof value);
  EXPECT(value != value);
}

// ---- what must fail -----------------------------------------------------------------------------------------------

// Each names the kind of failure that follows, and how its message begins.
struct MustFail {
  const char* name;
  sp::FailureKind kind;
  const char* begins_with;
  void (*call)();
};

void overflow() {
  static Memory<64> memory;
  Pool pool(memory.bytes);
  (void)pool.allocate<float>(4, "first");  // 16 of 64
  sp::ScratchScope scope(pool);
  (void)pool.allocate<double>(7, "second");  // 56, 64 rounded up; 16 are missing
}
void wrapping_product() {
  static Memory<64> memory;
  Pool pool(memory.bytes);
  (void)sp::tensor<std::byte>(pool, "wraps", static_cast<std::size_t>(-1) / 2 + 1, 4);
}
void shifted_base() {
  static Memory<64> memory;
  Pool pool(memory.bytes + 1, 16);
}
void reset_inside_a_scope() {
  static Memory<64> memory;
  Pool pool(memory.bytes);
  sp::ScratchScope scope(pool);
  pool.reset();
}
void rewind_twice() {
  static Memory<64> memory;
  Pool pool(memory.bytes);
  const sp::SavePoint at = pool.save();
  pool.rewind(at);
  pool.rewind(at);
}
void odd_alignment() {
  static Memory<64> memory;
  Pool pool(memory.bytes);
  (void)pool.allocate<char>(1, sp::align(24), "odd");
}
void negative_extent() {
  static Memory<64> memory;
  Pool pool(memory.bytes);
  (void)sp::tensor<float>(pool, "negative", 2, -1);
}
void size_of_a_serving_pool() {
  static Memory<64> memory;
  Pool pool(memory.bytes);
  (void)pool.required_bytes();
}
void other_shape() {
  static Memory<64> memory;
  Pool pool(memory.bytes);
  const auto dst = sp::tensor<char>(pool, "dst", 2, 3);
  const auto src = sp::tensor<char>(pool, "src", 2, 4);
  sp::copy_to(pool, dst, src);
}
void other_layout() {
  static Memory<2'048> memory;
  sp::Recorder recorder;
  {
    Pool pool(memory.bytes, &recorder);
    sweep(pool, 1, sp::no_work);
  }
  sp::PlanCheck check(recorder.plan());
  Pool pool(memory.bytes, &check);
  (void)pool.allocate<float>(255, "O");
}

constexpr MustFail must_fail[] = {
    {"overflow", sp::FailureKind::overflow, "scratch overflow: second asks for 56 bytes (7 x 8, 64 rounded up)",
     overflow},
    {"wrapping_product", sp::FailureKind::overflow, "scratch overflow: wraps asks for", wrapping_product},
    {"shifted_base", sp::FailureKind::misuse, "BumpAllocator: the base 0x", shifted_base},
    {"reset_inside_a_scope", sp::FailureKind::misuse, "BumpAllocator::reset: 1 save-points", reset_inside_a_scope},
    {"rewind_twice", sp::FailureKind::misuse, "BumpAllocator::rewind: the save-point at depth 1", rewind_twice},
    {"odd_alignment", sp::FailureKind::misuse, "BumpAllocator::allocate: an alignment of 24 bytes for 'odd'",
     odd_alignment},
    {"negative_extent", sp::FailureKind::misuse, "tensor 'negative': extent 1 is negative, -1", negative_extent},
    {"size_of_a_serving_pool", sp::FailureKind::misuse, "BumpAllocator::required_bytes()", size_of_a_serving_pool},
    {"other_shape", sp::FailureKind::shape, "copy_to: dst is 2 x 3, src is 2 x 4", other_shape},
    {"other_layout", sp::FailureKind::divergence, "PlanCheck: block 0 of pool 'tcm' at depth 0", other_layout},
};

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

bool has_the_numbers(const sp::Overflow& o) {
  return o.elements == 7 && o.element_bytes == 8 && o.bytes == 56 && o.reserved == 64 && o.padding == 0 &&
         o.used == 16 && o.capacity == 64 && o.missing == 16 && o.peak == 16 && o.depth == 1 && !o.measuring;
}

bool as_expected(const MustFail& expected, const sp::Failure& failure) {
  const bool right = failure.kind == expected.kind && begins_with(failure.message, expected.begins_with) &&
                     (failure.overflow != nullptr) == (failure.kind == sp::FailureKind::overflow);
  return right && (expected.call != overflow || has_the_numbers(*failure.overflow));
}

#if SCRATCHPAD_HAS_EXCEPTIONS

// By the standard's types first: what a caller who knows nothing of this library catches.
template <class Exception, class Standard>
bool leaves_as(const MustFail& expected) {
  try {
    expected.call();
  } catch (const Standard& error) {
    const bool same_text = begins_with(error.what(), expected.begins_with);
    try {
      throw;
    } catch (const Exception& own) {
      return same_text && as_expected(expected, own.failure());
    }
  }
  return false;
}

void failures_are_exceptions() {
  for (const MustFail& expected : must_fail) {
    bool right = false;
    switch (expected.kind) {
      case sp::FailureKind::overflow:
        right = leaves_as<sp::ScratchOverflow, std::bad_alloc>(expected);
        break;
      case sp::FailureKind::misuse:
        right = leaves_as<sp::ApiMisuse, std::logic_error>(expected);
        break;
      case sp::FailureKind::divergence:
        right = leaves_as<sp::LayoutDivergence, std::logic_error>(expected);
        break;
      case sp::FailureKind::shape:
        right = leaves_as<sp::ShapeMismatch, std::invalid_argument>(expected);
        break;
    }
    expect(right, expected.name, __LINE__);
  }
}

#else

const MustFail* expected_failure = nullptr;

void look(const sp::Failure& failure) {
  std::printf("handler: %s\n", as_expected(*expected_failure, failure) ? "as expected" : failure.message);
  std::fflush(stdout);
}
void look_and_exit(const sp::Failure& failure) {
  look(failure);
  std::_Exit(42);
}

// Returns only if the call did not fail, which it must.
int fail(std::string_view name, std::string_view how) {
  for (const MustFail& expected : must_fail) {
    if (name != expected.name) continue;
    expected_failure = &expected;
    if (how == "returns") sp::set_failure_handler(look);
    if (how == "exits") sp::set_failure_handler(look_and_exit);
    expected.call();
  }
  return 0;
}

#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--failures") {
    for (const MustFail& expected : must_fail) std::puts(expected.name);
    return 0;
  }
#if SCRATCHPAD_HAS_EXCEPTIONS
  failures_are_exceptions();
#else
  if (argc == 3) return fail(argv[1], argv[2]);
#endif
  sizes_at_compile_time_and_at_run_time_agree();
  over_aligned_blocks_fit_at_every_base();
  a_dynamic_quantum_is_the_alignment_of_everything();
  largest_fit_scans_down();
  scopes_nest();
  save_and_rewind_are_a_stack();
  a_fence_runs_before_every_rewind_but_not_while_measuring();
  handles_know_whether_they_are_live();
  copy_to_keeps_what_a_scope_made();
  a_scratch_buffer_feeds_a_pool();
  a_pmr_container_lives_in_a_scope();
  an_arena_lends_the_same_bytes_again();
  an_aligned_lease_is_aligned_in_every_block();
  a_recorder_makes_the_plan_that_a_check_accepts();
  poison_reads_as_nan();
  return failures == 0 ? 0 : 1;
}
