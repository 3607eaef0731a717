// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/scratch_scope.hpp>
#include <scratchpad/workspace/queue.hpp>
#include <scratchpad/workspace_bytes.hpp>
#include <support/catch.hpp>
#include <support/mock_queue.hpp>

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

namespace {

// The two members that sycl::queue has (SYCL 2020, 4.6.5), with their signatures.
class SyclLikeQueue {
 public:
  bool is_in_order() const { return false; }
  void wait() {}
};

struct NoWait {
  bool is_in_order() const { return true; }
};
struct NotConst {
  bool is_in_order() { return true; }
  void wait() {}
};
struct NoEvent {
  void wait() {}
};

struct ByMember : SyclLikeQueue {
  std::size_t device_alignment() const { return 128; }
};

}  // namespace

namespace elsewhere {
struct ByFunction {
  bool is_in_order() const { return true; }
  void wait() {}
};
std::size_t device_alignment(const ByFunction&) { return 256; }
}  // namespace elsewhere

TEST_CASE("a queue is whatever has sycl::queue's two members") {
  STATIC_REQUIRE(sp::Queue<SyclLikeQueue>);
  STATIC_REQUIRE(sp::Queue<mock::Queue>);
  STATIC_REQUIRE(sp::Queue<mock::QueueHandle>);
  STATIC_REQUIRE_FALSE(sp::Queue<NoWait>);
  STATIC_REQUIRE_FALSE(sp::Queue<NotConst>);
  STATIC_REQUIRE_FALSE(sp::Queue<int>);
  STATIC_REQUIRE(sp::Event<mock::Event>);
  STATIC_REQUIRE_FALSE(sp::Event<NoEvent>);
}

TEST_CASE("the device alignment is 16 unless the queue knows better") {
  CHECK(sp::device_alignment(SyclLikeQueue()) == 16);
  CHECK(sp::device_alignment(ByMember()) == 128);
  CHECK(sp::device_alignment(elsewhere::ByFunction()) == 256);
}

TEST_CASE("a drained scope waits for an out-of-order queue before it rewinds") {
  mock::Queue queue(mock::Order::out_of_order);
  alignas(16) std::array<std::byte, 256> memory{};
  Pool pool(memory);
  {
    sp::ScratchScope scope(pool, sp::drain(queue));
    static_cast<void>(pool.allocate<float>(8));
    queue.submit("k", {[] {}});
    scope.rewind();
    CHECK(queue.log == std::vector<std::string>{"submit k", "wait", "done k"});
    queue.submit("l", {[] {}});
  }
  CHECK(queue.waits == 2);
  CHECK(queue.is_idle());
}

TEST_CASE("a drained scope does nothing on an in-order queue") {
  mock::Queue queue(mock::Order::in_order);
  alignas(16) std::array<std::byte, 256> memory{};
  Pool pool(memory);
  {
    sp::ScratchScope scope(pool, sp::drain(queue));
    scope.rewind();
  }
  CHECK(queue.waits == 0);
}

TEST_CASE("measuring a layout with a drained scope asks the queue nothing") {
  mock::Queue queue(mock::Order::out_of_order);
  const std::size_t bytes = sp::workspace_bytes([&](Pool& pool) {
    for (int i = 0; i < 3; ++i) {
      sp::ScratchScope scope(pool, sp::drain(queue));
      static_cast<void>(pool.allocate<float>(8));
    }
  });
  CHECK(bytes == 32);
  CHECK(queue.waits == 0);
}

namespace {

// Kernels that write a number into the same scoped bytes and, a step later, read it back from them. How many of ten got
// their own number.
int rounds_right(mock::Order order) {
  mock::Queue queue(order);
  alignas(16) std::array<std::byte, 64> memory{};
  Pool pool(memory);
  pool.watch(nullptr);  // a sanitized build would stop at what the lying queue does, which is its task
  std::array<int, 10> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    sp::ScratchScope scope(pool, sp::drain(queue));
    int* const scratch = pool.allocate<int>(1).data();
    queue.submit("k", {[=] { *scratch = static_cast<int>(i); }, [=, &out] { out[i] = *scratch; }});
  }
  queue.run();
  int right = 0;
  for (std::size_t i = 0; i < out.size(); ++i) right += out[i] == static_cast<int>(i) ? 1 : 0;
  return right;
}

}  // namespace

TEST_CASE("kernels that share scoped bytes are right on every queue, and wrong on one that lies about its order") {
  CHECK(rounds_right(mock::Order::in_order) == 10);
  CHECK(rounds_right(mock::Order::out_of_order) == 10);
  // The newest writes first and the oldest last, so all read the oldest one's number, 0: right for it alone.
  CHECK(rounds_right(mock::Order::lies) == 1);
}

namespace {
struct QueueBytes : sp::HostSpace {
  static constexpr std::string_view name = "queue bytes";
  static constexpr bool host_accessible = false;
};

// The number that a kernel, put into an in-order queue and not waited for, has put into bytes of a scope that has ended.
template <class Space>
int read_after_scope() {
  mock::Queue queue(mock::Order::in_order);
  alignas(16) std::array<std::byte, 64> memory{};
  int out = 0;
  sp::BumpAllocator<Space> pool(memory);
  {
    sp::ScratchScope scope(pool, sp::drain(queue));
    int* const scratch = pool.template allocate<int>(1).data();
    *scratch = 7;  // staged by the host
    queue.submit("k", {[=, &out] { out = *scratch; }});
  }
  queue.run();
  return out;
}
}  // namespace

TEST_CASE("bytes that queued work reads belong to a space that says the host cannot reach them: nobody fills them") {
  CHECK(read_after_scope<QueueBytes>() == 7);
#if SCRATCHPAD_CHECKS && !SCRATCHPAD_ASAN && !SCRATCHPAD_MSAN && !SCRATCHPAD_VALGRIND
  // The control: a pool that is poisoned by default writes under the work.
  CHECK(read_after_scope<sp::HostSpace>() == -1);
#endif
}
