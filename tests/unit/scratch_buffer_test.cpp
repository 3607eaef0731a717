// SPDX-License-Identifier: MIT
#include <scratchpad/scratch_buffer.hpp>

#include <cstddef>
#include <memory_resource>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/workspace_bytes.hpp>

#include "support/catch.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<test::Tcm>;

namespace {

/// Writes down what it is asked for and what comes back, and may refuse.
class Upstream : public std::pmr::memory_resource {
 public:
  struct Request {
    const void* memory;
    std::size_t bytes;
    std::size_t alignment;
    friend bool operator==(const Request&, const Request&) = default;
  };
  std::vector<Request> taken;
  std::vector<Request> returned;
  bool refuses = false;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (refuses) throw std::bad_alloc();
    void* const memory = std::pmr::new_delete_resource()->allocate(bytes, alignment);
    taken.push_back({memory, bytes, alignment});
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    returned.push_back({memory, bytes, alignment});
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

TEST_CASE("a buffer has the bytes and the alignment that were asked for") {
  const std::size_t alignment = GENERATE(1U, 16U, 64U, 4096U, 65'536U);
  sp::ScratchBuffer buffer(sp::Requirement{1000, alignment});
  CHECK(buffer.size() == 1000);
  CHECK(buffer.alignment() == alignment);
  CHECK(buffer.data() != nullptr);
  CHECK(test::is_aligned(buffer.data(), alignment));
  CHECK(buffer.span().data() == buffer.data());
  CHECK(buffer.span().size() == 1000);
  for (std::byte& b : buffer.span()) b = std::byte{1};  // all of it is there
}

TEST_CASE("a number of bytes alone is aligned to the quantum of ordinary memory") {
  Upstream upstream;
  sp::ScratchBuffer buffer(100, &upstream);
  CHECK(buffer.size() == 100);
  CHECK(buffer.alignment() == 16);
  CHECK(upstream.taken == std::vector<Upstream::Request>{{buffer.data(), 100, 16}});
}

TEST_CASE("a buffer gives back to its upstream exactly what it took, once") {
  Upstream upstream;
  {
    sp::ScratchBuffer buffer(sp::Requirement{192, 64}, &upstream);
    CHECK(upstream.taken == std::vector<Upstream::Request>{{buffer.data(), 192, 64}});
    CHECK(upstream.returned.empty());
  }
  CHECK(upstream.returned == upstream.taken);
}

TEST_CASE("a pool serves from a buffer that has the measured size") {
  const auto layout = [](Pool& pool) {
    (void)pool.allocate<char>(3);
    (void)pool.allocate<double>(3, sp::align(64));
  };
  sp::ScratchBuffer exact(sp::workspace_requirement(layout));  // {96, 64}
  sp::ScratchBuffer any(sp::workspace_bytes(layout));          // 96 + 48
  CHECK(exact.size() == 96);
  CHECK(any.size() == 144);
  Pool a(exact);
  Pool b(any);
  layout(a);
  layout(b);
  CHECK(a.remaining() == 0);
}

TEST_CASE("no bytes ask the upstream for nothing and give nothing back") {
  Upstream upstream;
  {
    sp::ScratchBuffer buffer(sp::Requirement{0, 64}, &upstream);
    CHECK(buffer.data() == nullptr);
    CHECK(buffer.size() == 0);
    CHECK(buffer.span().empty());
    Pool pool(buffer);
    CHECK(pool.capacity() == 0);
  }
  CHECK(upstream.taken.empty());
  CHECK(upstream.returned.empty());
}

TEST_CASE("a default buffer is empty") {
  sp::ScratchBuffer buffer;
  CHECK(buffer.data() == nullptr);
  CHECK(buffer.size() == 0);
  Pool pool(buffer);
  CHECK(pool.capacity() == 0);
}

TEST_CASE("what the upstream throws comes through and nothing is given back") {
  Upstream upstream;
  upstream.refuses = true;
  CHECK_THROWS_AS(sp::ScratchBuffer(100, &upstream), std::bad_alloc);
  CHECK(upstream.taken.empty());
  CHECK(upstream.returned.empty());
}

TEST_CASE("an alignment that is no power of two is refused by number, before anything is taken") {
  Upstream upstream;
  const std::size_t alignment = GENERATE(0U, 3U, 24U);
  const std::string text = test::text_of<sp::ApiMisuse>([&] {
    sp::ScratchBuffer buffer(sp::Requirement{64, alignment}, &upstream);
  });
  CHECK(test::missing_from(text, {std::to_string(alignment)}).empty());
  CHECK(upstream.taken.empty());
}

TEST_CASE("no upstream is refused") {
  const std::string text = test::text_of<sp::ApiMisuse>([] { sp::ScratchBuffer buffer(64, nullptr); });
  CHECK(test::missing_from(text, {"upstream", "64"}).empty());
}

TEST_CASE("a moved buffer takes its bytes along and leaves nothing behind") {
  Upstream upstream;
  {
    sp::ScratchBuffer from(sp::Requirement{64, 32}, &upstream);
    std::byte* const memory = from.data();
    sp::ScratchBuffer to(std::move(from));
    CHECK(to.data() == memory);
    CHECK(to.size() == 64);
    CHECK(to.alignment() == 32);
    CHECK(from.data() == nullptr);
    CHECK(from.size() == 0);
    CHECK(upstream.returned.empty());
  }
  CHECK(upstream.returned == upstream.taken);
}

TEST_CASE("a buffer that is assigned to gives its own bytes back first") {
  Upstream first;
  Upstream second;
  {
    sp::ScratchBuffer a(64, &first);
    sp::ScratchBuffer b(128, &second);
    std::byte* const memory = b.data();
    a = std::move(b);
    CHECK(first.returned == first.taken);
    CHECK(second.returned.empty());
    CHECK(a.data() == memory);
    CHECK(a.size() == 128);
    CHECK(b.data() == nullptr);
    CHECK(b.size() == 0);
  }
  CHECK(first.returned.size() == 1);
  CHECK(second.returned == second.taken);
}

TEST_CASE("a buffer assigned to itself keeps its bytes") {
  Upstream upstream;
  sp::ScratchBuffer a(64, &upstream);
  sp::ScratchBuffer& same = a;
  std::byte* const memory = a.data();
  a = std::move(same);
  CHECK(a.data() == memory);
  CHECK(a.size() == 64);
  CHECK(upstream.returned.empty());
}

TEST_CASE("a moved buffer can be assigned to again") {
  Upstream upstream;
  sp::ScratchBuffer a(64, &upstream);
  sp::ScratchBuffer b(std::move(a));
  a = sp::ScratchBuffer(32, &upstream);
  CHECK(a.size() == 32);
  CHECK(b.size() == 64);
}

TEST_CASE("the default upstream is the default resource of the moment") {
  Upstream upstream;
  std::pmr::memory_resource* const before = std::pmr::set_default_resource(&upstream);
  {
    sp::ScratchBuffer buffer(64);
    CHECK(upstream.taken.size() == 1);
  }
  std::pmr::set_default_resource(before);
  CHECK(upstream.returned.size() == 1);
}

TEST_CASE("a buffer has one owner and no view of a temporary") {
  STATIC_REQUIRE(!std::is_copy_constructible_v<sp::ScratchBuffer>);
  STATIC_REQUIRE(!std::is_copy_assignable_v<sp::ScratchBuffer>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<sp::ScratchBuffer>);
  STATIC_REQUIRE(std::is_nothrow_move_assignable_v<sp::ScratchBuffer>);
  STATIC_REQUIRE(std::is_convertible_v<sp::ScratchBuffer&, std::span<std::byte>>);
  STATIC_REQUIRE(!std::is_convertible_v<sp::ScratchBuffer, std::span<std::byte>>);
  STATIC_REQUIRE(!std::is_constructible_v<Pool, sp::ScratchBuffer>);
  STATIC_REQUIRE(std::is_constructible_v<Pool, sp::ScratchBuffer&>);
}
