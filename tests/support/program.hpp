// SPDX-License-Identifier: MIT
/// \file
/// Programs made of bytes: they are decoded into calls of every operation that a pool has, right ones and wrong ones, on
/// two pools at once. After each call everything that can be observed is compared with the naive model, and every live
/// block still holds what was written into it. A property test feeds it random bytes, a fuzzer feeds it worse.
///
/// Left out is only what the library cannot refuse: ending scopes in the wrong order stops the program, so no call is made
/// that would take a living scope's save-point away; and a copy into a dead tensor of *another* pool cannot be seen.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <scratchpad/core.hpp>

#include "support/elements.hpp"
#include "support/naive_model.hpp"

namespace program {

namespace sp = scratchpad;

#if defined(PROGRAM_WRONG_RULE)
inline constexpr bool wrong_rule = true;
#else
inline constexpr bool wrong_rule = false;
#endif

struct Unit : sp::HostSpace {
  static constexpr std::string_view name = "unit";
  static constexpr std::size_t quantum = 1;
  static constexpr std::uint32_t max_depth = 5;
};
struct Coarse : sp::HostSpace {
  static constexpr std::string_view name = "coarse";
  static constexpr std::size_t quantum = 64;
  static constexpr std::uint32_t max_depth = 1;
};
struct Dynamic : sp::HostSpace {
  static constexpr std::string_view name = "dynamic";
  static constexpr std::size_t quantum = sp::dynamic_quantum;
  static constexpr std::uint32_t max_depth = 4;
};
struct Unchecked : sp::HostSpace {
  static constexpr std::string_view name = "unchecked";
  static constexpr bool bounds_checked = false;
};

/// The library did something else than the model.
class Mismatch : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What the programs did, so that a test can tell that they did everything.
struct Counts {
  std::uint64_t programs = 0;
  std::uint64_t calls = 0;
  std::uint64_t blocks = 0;
  std::uint64_t over_aligned_blocks = 0;
  std::uint64_t empty_blocks = 0;
  std::uint64_t overflows = 0;
  std::uint64_t overflows_while_measuring = 0;
  std::uint64_t failed_tries = 0;
  std::uint64_t bad_alignments = 0;
  std::uint64_t negative_extents = 0;
  std::uint64_t wrapping_extents = 0;
  std::uint64_t scopes = 0;
  std::uint64_t scope_rewinds = 0;
  std::uint64_t saves = 0;
  std::uint64_t saves_too_deep = 0;
  std::uint64_t rewinds = 0;
  std::uint64_t rewinds_refused_stale = 0;
  std::uint64_t rewinds_refused_order = 0;
  std::uint64_t rewinds_refused_foreign = 0;
  std::uint64_t resets = 0;
  std::uint64_t resets_refused = 0;
  std::uint64_t copies = 0;
  std::uint64_t copies_between_pools = 0;
  std::uint64_t copies_onto_itself = 0;
  std::uint64_t copies_refused_shape = 0;
  std::uint64_t copies_refused_dead = 0;
  std::uint64_t copies_refused_foreign = 0;
  std::uint64_t copies_refused_overlap = 0;
  std::uint64_t observer_refusals = 0;
  std::uint64_t watches = 0;
  std::uint64_t watches_refused = 0;
  std::uint64_t figures_refused = 0;
  std::uint64_t constructions_refused = 0;
  std::uint64_t dead_tensors_seen = 0;
};

/// The bytes of a program; zeros without end after the last one.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool is_at_end() const { return at_ >= bytes_.size(); }
  unsigned byte() { return is_at_end() ? 0u : bytes_[at_++]; }
  unsigned below(unsigned n) { return byte() % n; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

/// Thrown by an observer that was told to.
struct ObserverRefusal {};

/// Notes every event as numbers: its kind and what it carried.
class Notes final : public sp::PoolObserver {
 public:
  enum Kind : std::uint64_t { request, allocate, save, rewind, copy, overflow };
  using Event = std::array<std::uint64_t, 8>;
  static constexpr std::size_t layout_bytes = 4711;

  void on_attach(const sp::PoolView&) override { ++attached; }
  void on_detach(const sp::PoolView&) override { ++detached; }
  void before_allocate(const sp::PoolView&, const sp::Block& b) override {
    if (std::exchange(refuse_next, false)) throw ObserverRefusal{};
    events.push_back({request, b.offset, b.bytes, b.reserved, b.alignment, b.depth, b.serial, 0});
  }
  void on_allocate(const sp::PoolView&, const sp::Block& b) override {
    events.push_back({allocate, b.offset, b.bytes, b.reserved, b.alignment, b.depth, b.serial, 0});
  }
  void on_save(const sp::PoolView&, const sp::SavePointEvent& e) override {
    if (std::exchange(refuse_next, false)) throw ObserverRefusal{};
    events.push_back({save, e.offset, e.used_before, e.depth, 0, 0, 0, 0});
  }
  void on_rewind(const sp::PoolView&, const sp::SavePointEvent& e) override {
    events.push_back({rewind, e.offset, e.used_before, e.depth, e.stays_open ? 1u : 0u, 0, 0, 0});
  }
  void on_copy(const sp::PoolView&, const sp::CopyEvent& e) override {
    events.push_back({copy, reinterpret_cast<std::uintptr_t>(e.destination), reinterpret_cast<std::uintptr_t>(e.source),
                      e.elements, e.bytes, 0, 0, 0});
  }
  void on_overflow(const sp::PoolView&, sp::Overflow& o) override {
    o.layout_bytes = layout_bytes;
    events.push_back({overflow, 0, 0, 0, 0, 0, 0, 0});
  }

  std::vector<Event> events;
  bool refuse_next = false;
  unsigned attached = 0;
  unsigned detached = 0;
};
class Idle final : public sp::PoolObserver {};

/// How a call ended.
enum class Ending : std::uint8_t { done, overflow, misuse, shape, observer };

inline const char* name(Ending ending) {
  constexpr const char* names[] = {"done", "ScratchOverflow", "ApiMisuse", "ShapeMismatch", "the observer's exception"};
  return names[static_cast<unsigned>(ending)];
}

template <class Space>
class Runner {
 public:
  using Pool = sp::BumpAllocator<Space>;
  using Tensor = sp::Tensor<std::uint32_t, 2, Space>;
  static constexpr bool has_dynamic_quantum = Pool::has_dynamic_quantum;

  Runner(Reader& in, Counts& counts, std::string* log) : in_(in), counts_(counts), log_(log) {}

  void run() {
    ++counts_.programs;
    measuring_ = in_.below(4) == 0;
    quantum_ = has_dynamic_quantum ? std::size_t{1} << in_.below(11) : Space::quantum;
    try {
      make(0);
      make(1);
      remember_first_handles();
      while (!in_.is_at_end()) {
        step();
        check();
      }
      for (Side& side : sides_) {
        while (!side.scopes.empty()) {
          end_scope(side);
          check();
        }
      }
    } catch (...) {
      // Scopes of a pool that is out of step would stop the program instead of reporting it.
      for (Side& side : sides_) {
        for (auto& scope : side.scopes) static_cast<void>(scope.release());
      }
      throw;
    }
    for (Side& side : sides_) {
      side.pool.reset();
      expect("observers detached", side.notes.detached, side.notes.attached);
    }
  }

 private:
  // What fences were called with, and how often.
  struct Fences {
    std::uint64_t calls = 0;
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    friend bool operator==(const Fences&, const Fences&) = default;
  };
  struct PlainFence {
    Fences* fences;
    void operator()() const { ++fences->calls; }
  };
  struct ByteFence {
    Fences* fences;
    void operator()(std::span<std::byte> bytes) const {
      *fences = {fences->calls + 1, address_of(bytes.data()), bytes.size()};
    }
  };
  enum class FenceKind : std::uint8_t { none, plain, bytes };

  struct OpenScope {
    OpenScope(Pool& pool, FenceKind kind_of_fence, Fences* fences) : kind(kind_of_fence) {
      if (kind == FenceKind::none) unfenced.emplace(pool);
      if (kind == FenceKind::plain) fenced.emplace(pool, PlainFence{fences});
      if (kind == FenceKind::bytes) byte_fenced.emplace(pool, ByteFence{fences});
    }
    void rewind() {
      if (unfenced) unfenced->rewind();
      if (fenced) fenced->rewind();
      if (byte_fenced) byte_fenced->rewind();
    }
    FenceKind kind;
    std::optional<sp::ScratchScope<Space>> unfenced;
    std::optional<sp::ScratchScope<Space, PlainFence>> fenced;
    std::optional<sp::ScratchScope<Space, ByteFence>> byte_fenced;
    naive::Bytes life = 0;
  };

  struct Side {
    std::size_t number = 0;
    Notes notes;
    std::vector<Notes::Event> expected_events;
    bool watched = false;   // by our notes
    bool observed = false;  // by anybody
    bool refuse_next = false;
    std::uint64_t serial = 0;
    std::byte* base = nullptr;      // of the pool's memory; while measuring of what it pretends to have
    std::size_t bytes = 0;          // of that memory
    std::vector<std::byte> shadow;  // what it should hold
    std::optional<naive::Model> model;
    std::unique_ptr<Pool> pool;
    Fences fences;
    Fences expected_fences;
    std::vector<std::unique_ptr<OpenScope>> scopes;
  };

  struct Handle {
    sp::SavePoint point;
    std::size_t side;  // outside: nobody's
    naive::Bytes life;
  };
  struct KnownTensor {
    Tensor tensor;
    std::size_t side;
    naive::Bytes life;
    std::uint64_t address;
  };

  static constexpr std::size_t outside = 2;
  static constexpr std::size_t most_bytes = 3 * 1024;
  static constexpr std::size_t guard = 1024;  // bytes before the first base; a multiple of every quantum
  static constexpr std::size_t guarded = 64;
  static constexpr std::byte untouched{0x5A};
  static constexpr std::size_t most_known = 48;
  static_assert(3 * guard + most_bytes + 256 + guarded <= 8192);

  // ---- words ----------------------------------------------------------------------------------------------------------

  template <class... Words>
  void say(const Words&... words) {
    if (log_ != nullptr) (append(words), ...);
  }
  void append(const char* text) { *log_ += text; }
  template <std::integral Number>
  void append(Number number) {
    *log_ += std::to_string(number);
  }

  [[noreturn]] static void differ(const std::string& what) { throw Mismatch(what); }
  static void expect(const char* what, std::uint64_t is, std::uint64_t should_be) {
    if (is != should_be)
      differ(std::string(what) + " is " + std::to_string(is) + ", should be " + std::to_string(should_be));
  }

  // ---- two pools ------------------------------------------------------------------------------------------------------

  // `observer`: as a constructor takes it.
  template <class... Observer>
  static std::unique_ptr<Pool> new_pool(void* memory, std::size_t bytes, std::size_t quantum, Observer... observer) {
    if constexpr (has_dynamic_quantum) {
      return std::make_unique<Pool>(memory, bytes, quantum, observer...);
    } else {
      static_cast<void>(quantum);
      return std::make_unique<Pool>(memory, bytes, observer...);
    }
  }
  std::unique_ptr<Pool> new_measuring_pool() const {
    if constexpr (has_dynamic_quantum) {
      return std::unique_ptr<Pool>(new Pool(Pool::measuring(quantum_)));
    } else {
      return std::unique_ptr<Pool>(new Pool(Pool::measuring()));
    }
  }

  void make(std::size_t number) {
    Side& side = sides_[number];
    side.number = number;
    const unsigned size = in_.byte();
    const unsigned shift = in_.byte();
    // As a pool is by default, perhaps with observers; not watched; watched by us; both.
    const unsigned mode = in_.below(4);
    constexpr const char* modes[] = {"default observer", "not watched", "watched", "default observer and watched"};
    if (measuring_) {
      side.pool = new_measuring_pool();
      side.base = side.pool->template allocate<std::byte>(0).data();
      side.model = naive::Model::measuring(quantum_, Space::max_depth);
      say("pool ", number, ": measuring");
    } else {
      side.bytes = size == 0 ? 0 : size * std::size_t{13} % most_bytes + in_.byte();
      side.base = size == 0 ? nullptr : memory_[number] + guard + shift * quantum_ % (2 * guard);
      std::memset(memory_[number], static_cast<int>(untouched), sizeof memory_[number]);
      side.shadow.assign(side.bytes, std::byte{0});
      if (mode == 1) side.pool = new_pool(side.base, side.bytes, quantum_, nullptr);
      if (mode == 2) side.pool = new_pool(side.base, side.bytes, quantum_, &side.notes);
      if (side.pool == nullptr) side.pool = new_pool(side.base, side.bytes, quantum_);
      side.model =
          naive::Model::serving(reinterpret_cast<std::uintptr_t>(side.base), side.bytes, quantum_, Space::max_depth);
      say("pool ", number, ": ", side.bytes, " bytes at ", reinterpret_cast<std::uintptr_t>(side.base) % 4096,
          " mod 4096");
    }
    side.watched = mode >= 2;
    side.observed = side.watched || (mode == 0 && !measuring_ && sp::default_observer<Space>() != nullptr);
    if (mode == 3 || (mode == 2 && measuring_)) side.pool->watch(&side.notes);
    say(", quantum ", quantum_, " (", Space::name.data(), "), ", modes[mode], "\n");
  }

  // A handle to nothing, and one to each pool itself: neither can ever be rewound to.
  void remember_first_handles() {
    for (std::uint32_t i = 0; i < std::size(outside_memory_); ++i) outside_memory_[i] = 1000 + i;
    std::memcpy(outside_shadow_, outside_memory_, sizeof outside_memory_);
    handles_.push_back({{}, outside, 0});
    tensors_.push_back({Tensor{}, outside, 0, 0});
    tensors_.push_back(
        {Tensor(outside_memory_, {2, 3}), outside, 0, reinterpret_cast<std::uintptr_t>(outside_memory_)});
    for (Side& side : sides_) handles_.push_back({side.pool->here(), side.number, side.model->here()});
  }

  // ---- one step -------------------------------------------------------------------------------------------------------

  void step() {
    ++counts_.calls;
    Side& side = sides_[in_.below(4) == 0 ? 1 : 0];
    say("  [", side.number, "] ");
    switch (in_.below(32)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return allocate(side, Form::plain);
      case 5:
      case 6:
      case 7:
        return allocate(side, Form::aligned);
      case 8:
      case 9:
        return allocate(side, Form::attempt);
      case 10:
      case 11:
      case 12:
        return carve(side);
      case 13:
      case 14:
        return open_scope(side);
      case 15:
      case 16:
        return end_scope(side);
      case 17:
        return rewind_scope(side);
      case 18:
      case 19:
        return save(side);
      case 20:
      case 21:
        return rewind(side, handle_for(side));
      case 22:
        return rewind(side, handle_for(side));
      case 23:
        return rewind_scope(side);
      case 24:
        return reset(side);
      case 25:
      case 26:
      case 27:
        return copy(side);
      case 28:
        return view();
      case 29:
        return watch(side);
      case 30:
        return arm(side);
      default:
        return in_.below(2) == 0 ? ask_wrong_figure(side) : construct_badly();
    }
  }

  template <class Call>
  Ending attempt(Call call) {
    Ending ending = Ending::done;
    try {
      call();
    } catch (const sp::ScratchOverflow& error) {
      overflow_ = error.overflow();
      ending = Ending::overflow;
    } catch (const sp::ApiMisuse&) {
      ending = Ending::misuse;
    } catch (const sp::ShapeMismatch&) {
      ending = Ending::shape;
    } catch (const ObserverRefusal&) {
      ending = Ending::observer;
    }
    say(ending == Ending::done ? "" : " -> ", ending == Ending::done ? "" : name(ending), "\n");
    return ending;
  }
  static void expect_ending(const char* what, Ending is, Ending should_be) {
    if (is != should_be) differ(std::string(what) + " ended with " + name(is) + ", should be " + name(should_be));
  }

  // ---- blocks ---------------------------------------------------------------------------------------------------------

  enum class Form : std::uint8_t { plain, aligned, attempt };

  // Small ones, those that fill the pool exactly or miss it by one, and those whose bytes no size_t holds.
  std::size_t decode_elements(const Side& side, std::size_t size) {
    const unsigned kind = in_.byte();
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    if (kind < 150) return kind % 20;
    if (kind < 200) return (kind - 150u) * 8 / size;
    const std::size_t room = static_cast<std::size_t>(side.model->capacity() - side.model->used()) / size;
    switch (kind % 10) {
      case 0:
        return room;
      case 1:
        return room + 1;
      case 2:
        return room / 2;
      case 3:
        return room == 0 ? 0 : room - 1;
      case 4:
        return most / size;
      case 5:
        return most / size + 1;
      case 6:
        return most;
      case 7:
        return most / 2 / size + 1;
      case 8:
        return most - kind;
      default:
        return 0;
    }
  }

  std::size_t decode_alignment() {
    constexpr std::size_t top = std::size_t{1} << (std::numeric_limits<std::size_t>::digits - 1);
    constexpr std::size_t choices[] = {1,   2,   4,    8,    16, 32, 64, 64,  128,     128,       256,
                                       256, 512, 1024, 4096, 0,  3,  24, top, top + 1, top >> 20, 6};
    return choices[in_.below(static_cast<unsigned>(std::size(choices)))];
  }

  void allocate(Side& side, Form form) {
    const unsigned element = in_.below(elements::count);
    elements::with_element(element, [&]<class T>() {
      const std::size_t n = decode_elements(side, sizeof(T));
      const std::size_t asked = form == Form::aligned ? decode_alignment() : 1;
      say(form == Form::attempt ? "try_allocate<" : "allocate<", elements::name(element), ">(", n);
      if (form == Form::aligned) say(", align(", asked, ")");
      say(")");
      allocate<T>(side, form, n, asked);
    });
  }

  template <class T>
  void allocate(Side& side, Form form, std::size_t n, std::size_t asked) {
    const naive::Request request{n, sizeof(T), asked > alignof(T) ? asked : alignof(T)};
    const bool refused = !naive::is_power_of_two(asked);
    const auto expected = side.model->place(request);
    if (!Space::bounds_checked && !measuring_ && !expected && !refused) return say(" (left out)\n");
    std::optional<std::span<T>> block;
    const Ending ending = attempt([&] {
      if (form == Form::aligned) {
        block = side.pool->template allocate<T>(n, sp::align(asked), "block");
      } else if (form == Form::plain) {
        block = side.pool->template allocate<T>(n, "block");
      } else {
        block = side.pool->template try_allocate<T>(n, "block");
      }
    });
    if (refused) {
      ++counts_.bad_alignments;
      return expect_ending("an alignment that is no power of two", ending, Ending::misuse);
    }
    if (form == Form::attempt && !expected) {
      ++counts_.failed_tries;
      expect_ending("try_allocate", ending, Ending::done);
      return expect("try_allocate has a block", block.has_value() ? 1 : 0, 0);
    }
    if (!expect_allocated(side, request, ending)) return;
    expect("a block is there", block.has_value() ? 1 : 0, 1);
    expect("elements of the block", block->size(), n);
    expect_block_at(side, block->data(), expected->begin);
    if (n != 0) expect("address modulo alignof(T)", address_of(block->data()) % alignof(T), 0);
  }

  // Whether there is a block now, and that this is right. Tells the model.
  bool expect_allocated(Side& side, const naive::Request& request, Ending ending) {
    const auto expected = side.model->place(request);
    if (!expected) {
      expect_ending("a request that does not fit", ending, Ending::overflow);
      expect_overflow(side, request);
      return false;
    }
    const bool is_event = side.watched && request.elements != 0;
    if (is_event && std::exchange(side.refuse_next, false)) {
      ++counts_.observer_refusals;
      expect_ending("a block that an observer refuses", ending, Ending::observer);
      return false;
    }
    expect_ending("a request that fits", ending, Ending::done);
    if (is_event) {
      for (const auto kind : {Notes::request, Notes::allocate}) {
        side.expected_events.push_back({kind, expected->begin, expected->bytes, expected->end - expected->begin,
                                        side.model->alignment_of(request), side.model->depth(), side.serial, 0});
      }
    }
    if (side.observed && request.elements != 0) ++side.serial;
    side.model->allocate(request);
    ++(request.elements == 0 ? counts_.empty_blocks : counts_.blocks);
    if (request.elements != 0 && side.model->alignment_of(request) > quantum_) ++counts_.over_aligned_blocks;
    if (!measuring_) fill(side, *expected);
    return true;
  }

  void expect_overflow(Side& side, const naive::Request& request) {
    const naive::Model& model = *side.model;
    ++(measuring_ ? counts_.overflows_while_measuring : counts_.overflows);
    const sp::Overflow& o = *overflow_;
    expect("overflow: elements", o.elements, request.elements);
    expect("overflow: bytes of an element", o.element_bytes, request.element_bytes);
    expect("overflow: used", o.used, model.used());
    expect("overflow: capacity", o.capacity, model.capacity());
    expect("overflow: peak", o.peak, model.peak());
    expect("overflow: depth", o.depth, model.depth());
    expect("overflow: measuring", o.measuring ? 1 : 0, measuring_ ? 1 : 0);
    expect("overflow: space", o.space == Space::name ? 1 : 0, 1);
    expect("overflow: label", std::string_view(o.label) == "block" ? 1 : 0, 1);
    expect("overflow: layout_bytes", o.layout_bytes, side.watched ? Notes::layout_bytes : 0);
    expect("overflow: padding", o.padding, model.padding_of(request));
    constexpr naive::Bytes most = std::numeric_limits<std::size_t>::max();
    if (!naive::Model::is_huge(request)) {
      const naive::Bytes reserved = model.reserved_for(request);
      expect("overflow: bytes", o.bytes, request.elements * request.element_bytes);
      expect("overflow: reserved", o.reserved, reserved);
      // No sum here wraps: reserved is below 2^61, padding at most 2^63 in a size_t of 64 bits.
      expect("overflow: missing", o.missing, model.used() + model.padding_of(request) + reserved - model.capacity());
    } else {
      const long double exact =
          static_cast<long double>(request.elements) * static_cast<long double>(request.element_bytes);
      if (exact > static_cast<long double>(most)) {
        expect("overflow: bytes", o.bytes, most);
      } else {
        expect("overflow: bytes", o.bytes, request.elements * request.element_bytes);
      }
      if (o.reserved < o.bytes || o.missing < o.bytes - model.capacity()) differ("an overflow's figures have wrapped");
    }
    if (side.watched) side.expected_events.push_back({Notes::overflow, 0, 0, 0, 0, 0, 0, 0});
  }

  static std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
  void expect_block_at(const Side& side, const void* data, naive::Bytes offset) {
    expect("offset of the block", address_of(data) - address_of(side.base), offset);
  }

  // Every byte that was asked for differs from what was there, so that a write into another block is seen.
  void fill(Side& side, const naive::Block& block) {
    ++fills_;
    for (naive::Bytes i = 0; i < block.bytes; ++i) {
      const auto value = static_cast<std::byte>(fills_ * 29 + i * 7 + 1);
      side.base[block.begin + i] = value;
      side.shadow[static_cast<std::size_t>(block.begin + i)] = value;
    }
  }

  // ---- tensors --------------------------------------------------------------------------------------------------------

  void carve(Side& side) {
    constexpr auto half = std::numeric_limits<std::size_t>::digits / 2;
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    const unsigned kind = in_.byte();
    switch (kind < 220 ? 0 : kind % 7) {
      case 1:
        return carve(side, -static_cast<int>(in_.below(100)) - 1, 3);
      case 2:
        return carve(side, 5u, std::int64_t{-1});
      case 3:
        return carve(side, std::size_t{1} << half, std::size_t{1} << half);
      case 4:
        return carve(side, most, static_cast<short>(in_.below(4)));
      case 5:
        return carve(side, std::size_t{1} << (half * 2 - 1), 0);
      case 6:
        return carve_nothing(side);
      default:
        return carve(side, static_cast<int>(kind % 5), in_.below(4));
    }
  }

  // The first two extents alone are more than a size_t holds; the third says that there is nothing.
  void carve_nothing(Side& side) {
    constexpr auto half = std::numeric_limits<std::size_t>::digits / 2;
    constexpr std::size_t much = std::size_t{1} << half;
    // Where bounds are not checked, neither are the extents.
    if (!Space::bounds_checked) return say("(left out)\n");
    say("tensor(", much, " x ", much, " x 0)");
    const Ending ending = attempt([&] {
      const auto tensor = sp::tensor<std::uint32_t>(*side.pool, "block", much, much, 0);
      expect("elements", tensor.size(), 0);
    });
    expect_allocated(side, {0, sizeof(std::uint32_t), alignof(std::uint32_t)}, ending);
  }

  template <class Rows, class Columns>
  void carve(Side& side, Rows rows, Columns columns) {
    const bool negative = static_cast<std::int64_t>(rows) < 0 && std::is_signed_v<Rows>;
    const bool negative_too = static_cast<std::int64_t>(columns) < 0 && std::is_signed_v<Columns>;
    say("tensor(", rows, " x ", columns, ")");
    const auto r = static_cast<std::size_t>(rows);
    const auto c = static_cast<std::size_t>(columns);
    const bool refused = negative || negative_too;
    const bool wraps = static_cast<long double>(r) * static_cast<long double>(c) >
                       static_cast<long double>(std::numeric_limits<std::size_t>::max());
    const naive::Request request{wraps ? std::numeric_limits<std::size_t>::max() : r * c, sizeof(std::uint32_t),
                                 alignof(std::uint32_t)};
    // Where bounds are not checked, neither are the extents.
    if (!Space::bounds_checked && (refused || wraps || !side.model->place(request))) return say(" (left out)\n");
    Tensor tensor;
    const naive::Bytes life = side.model->here();
    const Ending ending = attempt([&] { tensor = sp::tensor<std::uint32_t>(*side.pool, "block", rows, columns); });
    if (refused) {
      ++counts_.negative_extents;
      return expect_ending("a negative extent", ending, Ending::misuse);
    }
    if (wraps) ++counts_.wrapping_extents;
    const auto expected = side.model->place(request);
    if (!expect_allocated(side, request, ending)) return;
    expect_block_at(side, tensor.data(), expected->begin);
    expect("rows", tensor.extent(0), r);
    expect("columns", tensor.extent(1), c);
    expect("elements", tensor.size(), request.elements);
    remember({tensor, side.number, life, address_of(tensor.data())});
  }

  void remember(const KnownTensor& known) {
    if (tensors_.size() == most_known) tensors_.erase(tensors_.begin() + 2 + in_.below(most_known - 2));
    tensors_.push_back(known);
  }

  // A tensor over the tail of another: the only way to two that overlap in part.
  void view() {
    const KnownTensor known = tensors_[in_.below(static_cast<unsigned>(tensors_.size()))];
    const std::size_t elements = known.tensor.size();
    if (elements < 2) return say("(nothing to view)\n");
    const std::size_t skipped = in_.below(2);
    say("view of ", elements - 1, " elements after ", skipped, "\n");
    const Tensor tail(known.tensor.data() + skipped, {1, elements - 1}, known.tensor.birth());
    remember({tail, known.side, known.life, known.address + skipped * sizeof(std::uint32_t)});
  }

  bool is_live(const KnownTensor& known) const {
    return known.side != outside && sides_[known.side].model->is_live(known.life);
  }

  // The shadow of a tensor's bytes.
  std::byte* shadow_of(const KnownTensor& known) {
    if (known.side == outside) return outside_shadow_ + (known.address - address_of(outside_memory_));
    return sides_[known.side].shadow.data() + (known.address - address_of(sides_[known.side].base));
  }

  void copy(Side& side) {
    // Half of the time a live destination of the pool that is asked, where there is one.
    std::size_t target = in_.below(static_cast<unsigned>(tensors_.size()));
    const bool wants_live = in_.below(2) == 0;
    for (std::size_t tried = 0; wants_live && tried < tensors_.size(); ++tried) {
      if (tensors_[target].side == side.number && is_live(tensors_[target])) break;
      target = (target + 1) % tensors_.size();
    }
    const KnownTensor& dst = tensors_[target];
    // Mostly one of the same shape from the pool that is asked, where there is one.
    std::size_t number = in_.below(static_cast<unsigned>(tensors_.size()));
    const unsigned wish = in_.below(10);
    for (std::size_t tried = 0; wish != 0 && tried < tensors_.size(); ++tried) {
      const KnownTensor& found = tensors_[number];
      const bool suits = wish < 3 || (&found != &dst && (wish < 6 || found.side == side.number));
      if (suits && found.tensor.extents() == dst.tensor.extents()) break;
      number = (number + 1) % tensors_.size();
    }
    const KnownTensor& src = tensors_[number];
    say("copy_to(",
        dst.side == outside ? "outside"
        : dst.side == 0     ? "pool 0"
                            : "pool 1",
        is_live(dst) ? " live" : " dead", ", ",
        src.side == outside ? "outside"
        : src.side == 0     ? "pool 0"
                            : "pool 1",
        is_live(src) ? " live" : " dead", ")");
    const bool same_shape = dst.tensor.extents() == src.tensor.extents();
    const bool foreign = src.side != outside && src.side != side.number;
    const bool dead = (src.side == side.number && !is_live(src)) || (dst.side == side.number && !is_live(dst));
    const std::uint64_t bytes = src.tensor.size() * sizeof(std::uint32_t);
    // While measuring, all pools pretend to have the same addresses.
    const bool comparable = !measuring_ || dst.side == src.side;
    const bool onto_itself = comparable && dst.address == src.address;
    const bool overlap =
        comparable && !onto_itself && dst.address < src.address + bytes && src.address < dst.address + bytes;
    const bool dst_is_lost = dst.side != outside && dst.side != side.number && !is_live(dst);
    if (same_shape && !foreign && !dead && dst_is_lost) return say(" (left out)\n");
    const Ending ending = attempt([&] { sp::copy_to(*side.pool, dst.tensor, src.tensor); });
    if (!same_shape) {
      ++counts_.copies_refused_shape;
      return expect_ending("a copy between two shapes", ending, Ending::shape);
    }
    if (foreign || dead || overlap) {
      ++(foreign ? counts_.copies_refused_foreign
         : dead  ? counts_.copies_refused_dead
                 : counts_.copies_refused_overlap);
      return expect_ending("a copy that is refused", ending, Ending::misuse);
    }
    expect_ending("a copy", ending, Ending::done);
    if (onto_itself) {
      ++counts_.copies_onto_itself;
      return;
    }
    ++(dst.side == src.side ? counts_.copies : counts_.copies_between_pools);
    if (side.watched)
      side.expected_events.push_back({Notes::copy, dst.address, src.address, src.tensor.size(), bytes, 0, 0, 0});
    if (!measuring_ && bytes != 0) std::memmove(shadow_of(dst), shadow_of(src), bytes);
  }

  // ---- save-points ----------------------------------------------------------------------------------------------------

  void remember(const Handle& handle) {
    if (handles_.size() == most_known) handles_.erase(handles_.begin() + 3 + in_.below(most_known - 3));
    handles_.push_back(handle);
  }

  // One of three times any handle, also the other pool's; else one that was handed out lately, or the innermost.
  Handle handle_for(Side& side) {
    const unsigned kind = in_.byte();
    if (kind % 3 == 0) return handles_[kind / 3 % handles_.size()];
    if (kind % 3 == 1) return {side.pool->here(), side.number, side.model->here()};
    return handles_[handles_.size() - 1 - kind / 3 % (handles_.size() < 6 ? handles_.size() : 6)];
  }

  std::optional<std::size_t> level_of(const Side& side, const Handle& handle) const {
    if (handle.side != side.number) return std::nullopt;
    return side.model->level_of(handle.life);
  }

  // Whether to give this level back would take a living scope's save-point away.
  bool orphans_a_scope(const Side& side, std::size_t level) const {
    for (const auto& scope : side.scopes) {
      if (*side.model->level_of(scope->life) >= level) return true;
    }
    return false;
  }

  void expect_save(Side& side, Ending ending) {
    const naive::Bytes used = side.model->used();
    const std::size_t depth = side.model->depth();
    if (depth == Space::max_depth) {
      ++counts_.saves_too_deep;
      return expect_ending("a save-point too deep", ending, Ending::misuse);
    }
    if (side.watched && std::exchange(side.refuse_next, false)) {
      ++counts_.observer_refusals;
      return expect_ending("a save-point that an observer refuses", ending, Ending::observer);
    }
    expect_ending("a save-point", ending, Ending::done);
    side.model->save();
    if (side.watched) side.expected_events.push_back({Notes::save, used, used, depth + 1, 0, 0, 0, 0});
  }

  void save(Side& side) {
    say("save()");
    sp::SavePoint at;
    const std::size_t depth = side.model->depth();
    const Ending ending = attempt([&] { at = side.pool->save(); });
    expect_save(side, ending);
    if (side.model->depth() == depth) return;
    ++counts_.saves;
    remember({at, side.number, side.model->here()});
  }

  void open_scope(Side& side) {
    const auto kind = static_cast<FenceKind>(in_.below(3));
    say(kind == FenceKind::none ? "{" : kind == FenceKind::plain ? "{ (fenced)" : "{ (fenced, with bytes)");
    const std::size_t depth = side.model->depth();
    std::unique_ptr<OpenScope> scope;
    const Ending ending = attempt([&] { scope = std::make_unique<OpenScope>(*side.pool, kind, &side.fences); });
    expect_save(side, ending);
    if (side.model->depth() == depth) return;
    ++counts_.scopes;
    scope->life = side.model->here();
    side.scopes.push_back(std::move(scope));
    // A scope keeps its handle to itself, but here() has it: for is_live, and to be refused once it is stale.
    remember({side.pool->here(), side.number, side.model->here()});
  }

  // What giving back everything above a level looks like to an observer. Before the model is told.
  void expect_rewind_event(Side& side, std::size_t level, bool stays_open) {
    if (!side.watched) return;
    const naive::Bytes offset = side.model->offset_of_level(level);
    side.expected_events.push_back({Notes::rewind, offset, side.model->used(), level, stays_open ? 1u : 0u, 0, 0, 0});
  }

  // A fence is called with what is about to be given back; before the model is told.
  void expect_fence(Side& side, const OpenScope& scope) {
    if (scope.kind == FenceKind::none || measuring_) return;
    Fences& fences = side.expected_fences;
    ++fences.calls;
    if (scope.kind == FenceKind::plain) return;
    const naive::Bytes offset = side.model->offset_of_level(*side.model->level_of(scope.life));
    fences.begin = address_of(side.base) + offset;
    fences.bytes = side.model->used() - offset;
  }

  void end_scope(Side& side) {
    if (side.scopes.empty()) return say("(no scope)\n");
    say("}\n");
    const std::unique_ptr<OpenScope> scope = std::move(side.scopes.back());
    side.scopes.pop_back();
    expect_rewind_event(side, *side.model->level_of(scope->life), false);
    expect_fence(side, *scope);
    side.model->unwind(scope->life);
  }

  void rewind_scope(Side& side) {
    if (side.scopes.empty()) return say("(no scope)\n");
    OpenScope& scope = *side.scopes.back();
    say("scope.rewind()");
    expect_rewind_event(side, *side.model->level_of(scope.life), true);
    expect_ending("scope.rewind()", attempt([&] { scope.rewind(); }), Ending::done);
    ++counts_.scope_rewinds;
    expect_fence(side, scope);
    scope.life = *side.model->renew(scope.life);
    remember({side.pool->here(), side.number, scope.life});
  }

  void rewind(Side& side, const Handle& handle) {
    const auto level = level_of(side, handle);
    // The control of the fuzzer: a wrong rule, which only a program with two save-points shows.
    const bool allowed =
        level && (side.model->may_rewind(handle.life) || (wrong_rule && *level == 1 && side.model->depth() == 2));
    say("rewind(", level ? "level " : "stale or foreign ", level ? *level : 0, ")");
    if (allowed && orphans_a_scope(side, *level)) return say(" (left out)\n");
    const Ending ending = attempt([&] { side.pool->rewind(handle.point); });
    expect_ending("rewind", ending, allowed ? Ending::done : Ending::misuse);
    if (allowed) {
      ++counts_.rewinds;
      expect_rewind_event(side, *level, false);
      side.model->rewind(handle.life);
    } else {
      ++(handle.side != side.number ? counts_.rewinds_refused_foreign
         : level                    ? counts_.rewinds_refused_order
                                    : counts_.rewinds_refused_stale);
    }
  }

  void reset(Side& side) {
    say("reset()");
    const bool allowed = side.model->depth() == 0;
    expect_ending("reset", attempt([&] { side.pool->reset(); }), allowed ? Ending::done : Ending::misuse);
    ++(allowed ? counts_.resets : counts_.resets_refused);
    if (!allowed) return;
    expect_rewind_event(side, 0, true);
    side.model->reset();
    side.serial = 0;
  }

  // ---- observers, and questions that are refused ----------------------------------------------------------------------

  void watch(Side& side) {
    const bool allowed = side.model->used() == 0 && side.model->depth() == 0;
    const unsigned kind = in_.below(3);
    say(kind == 0 ? "watch(nullptr)" : kind == 1 ? "watch(notes)" : "watch(too many)");
    const Ending expected = allowed ? Ending::done : Ending::misuse;
    ++(allowed ? counts_.watches : counts_.watches_refused);
    expect_ending("watch(nullptr)", attempt([&] { side.pool->watch(nullptr); }), expected);
    if (!allowed) return;
    side.watched = false;
    side.observed = false;
    if (kind == 2) {
      for (std::uint32_t i = 0; i < sp::ObserverChain::max_observers; ++i) side.pool->watch(&idle_);
      expect_ending("one observer too many", attempt([&] { side.pool->watch(&idle_); }), Ending::misuse);
      side.pool->watch(nullptr);
    }
    if (kind == 0) return;
    side.pool->watch(&side.notes);
    side.watched = true;
    side.observed = true;
  }

  // The next block or save-point is refused by the observer.
  void arm(Side& side) {
    say("the observer will refuse\n");
    side.refuse_next = side.watched;
    side.notes.refuse_next = side.watched;
  }

  void ask_wrong_figure(Side& side) {
    say("figures that there are none of\n");
    ++counts_.figures_refused;
    const Pool& pool = *side.pool;
    const auto refused = [&](const char* what, auto call) { expect_ending(what, attempt(call), Ending::misuse); };
    if (measuring_) {
      refused("capacity()", [&] { static_cast<void>(pool.capacity()); });
      refused("remaining()", [&] { static_cast<void>(pool.remaining()); });
    } else {
      refused("required_bytes()", [&] { static_cast<void>(pool.required_bytes()); });
      refused("requirement()", [&] { static_cast<void>(pool.requirement()); });
    }
  }

  void construct_badly() {
    ++counts_.constructions_refused;
    std::byte* const memory = memory_[0];
    say("pools that cannot be");
    const auto refused = [&](void* at, std::size_t bytes, std::size_t quantum) {
      const Ending ending = attempt([&] { new_pool(at, bytes, quantum); });
      expect_ending("a pool that cannot be", ending, Ending::misuse);
    };
    refused(nullptr, 1 + in_.byte(), quantum_);
    refused(memory, (std::numeric_limits<std::size_t>::max() >> 1) + 1 + in_.byte(), quantum_);
    if (quantum_ > 1) refused(memory + 1 + in_.byte() % (quantum_ - 1), 64, quantum_);
    if (has_dynamic_quantum) refused(memory, 64, 3 * quantum_);
    if (has_dynamic_quantum) refused(memory, 64, 0);
  }

  // ---- everything that can be seen ------------------------------------------------------------------------------------

  void check() {
    for (Side& side : sides_) check(side);
    for (const Handle& handle : handles_) {
      for (const Side& side : sides_) {
        const bool live = handle.side == side.number && side.model->is_live(handle.life);
        expect("is_live(handle)", side.pool->is_live(handle.point) ? 1 : 0, live ? 1 : 0);
        expect("is_origin_of(handle)", side.pool->is_origin_of(handle.point) ? 1 : 0,
               handle.side == side.number ? 1 : 0);
      }
    }
    for (const KnownTensor& known : tensors_) {
      for (const Side& side : sides_) {
        const bool live = known.side == side.number && is_live(known);
        if (known.side == side.number && !live) ++counts_.dead_tensors_seen;
        expect("is_live(tensor)", side.pool->is_live(known.tensor) ? 1 : 0, live ? 1 : 0);
      }
    }
    if (std::memcmp(outside_memory_, outside_shadow_, sizeof outside_memory_) != 0)
      differ("bytes outside have changed");
  }

  static std::string text_of(const std::vector<Notes::Event>& events) {
    std::string text;
    for (const Notes::Event& event : events) {
      text += " {";
      for (const std::uint64_t number : event) text += std::to_string(number) + " ";
      text += "}";
    }
    return text;
  }

  void check(Side& side) {
    const Pool& pool = *side.pool;
    const naive::Model& model = *side.model;
    expect("used", pool.used(), model.used());
    expect("peak", pool.peak(), model.peak());
    expect("depth", pool.depth(), model.depth());
    expect("quantum", pool.quantum(), quantum_);
    expect("is_measuring", pool.is_measuring() ? 1 : 0, measuring_ ? 1 : 0);
    const std::vector<naive::Bytes> save_points = model.save_points();
    expect("number of save-points", pool.save_points().size(), save_points.size());
    for (std::size_t i = 0; i < save_points.size(); ++i) expect("save-point", pool.save_points()[i], save_points[i]);
    expect("here().depth", pool.here().depth, model.depth());
    expect("here() is live", pool.is_live(pool.here()) ? 1 : 0, 1);
    expect("calls of fences", side.fences.calls, side.expected_fences.calls);
    if (side.fences != side.expected_fences) differ("a fence was called with other bytes than are given back");
    if (measuring_) {
      expect("required_bytes", pool.required_bytes(), model.required_bytes());
      expect("requirement: bytes", pool.requirement().bytes, model.peak());
      expect("requirement: alignment", pool.requirement().alignment, model.coarsest());
    } else {
      expect("capacity", pool.capacity(), model.capacity());
      expect("remaining", pool.remaining(), model.capacity() - model.used());
      check_contents(side);
    }
    if (side.notes.events != side.expected_events) {
      differ("the observer has seen" + text_of(side.notes.events) + ", should have" + text_of(side.expected_events));
    }
    side.notes.events.clear();
    side.expected_events.clear();
    if (side.watched) expect("observer armed", side.notes.refuse_next ? 1 : 0, side.refuse_next ? 1 : 0);
  }

  void check_contents(const Side& side) const {
    if (side.base == nullptr) return;
    for (const naive::Block& block : side.model->blocks()) {
      const auto begin = static_cast<std::size_t>(block.begin);
      if (std::memcmp(side.base + begin, side.shadow.data() + begin, static_cast<std::size_t>(block.bytes)) != 0) {
        differ("the contents of the block at " + std::to_string(begin) + " have changed");
      }
    }
    // Neither the bytes around what is served, nor the rest of the last quantum of what was passed.
    const std::byte* const around[] = {side.base - guarded, side.base + side.model->capacity()};
    for (const std::byte* bytes : around) {
      for (std::size_t i = 0; i < guarded; ++i) {
        if (bytes[i] != untouched) differ("bytes that the pool does not serve have changed");
      }
    }
  }

  Reader& in_;
  Counts& counts_;
  std::string* log_;
  bool measuring_ = false;
  std::size_t quantum_ = 0;
  unsigned fills_ = 0;
  std::optional<sp::Overflow> overflow_;
  Idle idle_;
  alignas(4096) std::byte memory_[2][8192];
  std::uint32_t outside_memory_[6] = {};
  std::byte outside_shadow_[sizeof outside_memory_] = {};
  std::array<Side, 2> sides_;
  std::vector<Handle> handles_;
  std::vector<KnownTensor> tensors_;
};

inline void run_once(std::span<const std::uint8_t> bytes, Counts& counts, std::string* log) {
  Reader in(bytes);
  switch (in.below(5)) {
    case 0:
      return std::make_unique<Runner<Unit>>(in, counts, log)->run();
    case 1:
      return std::make_unique<Runner<Coarse>>(in, counts, log)->run();
    case 2:
      return std::make_unique<Runner<Dynamic>>(in, counts, log)->run();
    case 3:
      return std::make_unique<Runner<Unchecked>>(in, counts, log)->run();
    default:
      return std::make_unique<Runner<sp::HostSpace>>(in, counts, log)->run();
  }
}

/// Runs the program of these bytes. Throws Mismatch, with the calls up to the one that went wrong, if the library does
/// something else than the model.
inline void run(std::span<const std::uint8_t> bytes, Counts& counts) {
  try {
    run_once(bytes, counts, nullptr);
  } catch (const Mismatch& mismatch) {
    std::string log;
    Counts again;
    try {
      run_once(bytes, again, &log);
    } catch (const Mismatch&) {
    }
    throw Mismatch("program mismatch: " + std::string(mismatch.what()) + ", after\n" + log);
  }
}

}  // namespace program
