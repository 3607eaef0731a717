// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstring>
#include <string_view>

#include "linked.hpp"

namespace linked::UNIT {

const char* switches() {
#if SCRATCHPAD_ASAN
  return SCRATCHPAD_CHECKS ? "checks, AddressSanitizer" : "no checks, AddressSanitizer";
#else
  return SCRATCHPAD_CHECKS ? "checks" : "no checks";
#endif
}

bool watched_as_built() {
  static Memory memory;  // zeros
  Pool pool(memory.bytes);
#if SCRATCHPAD_ASAN
  return __asan_address_is_poisoned(memory.bytes) != 0;
#else
  return memory.bytes[0] == (SCRATCHPAD_CHECKS ? std::byte{0xFF} : std::byte{0});
#endif
}

#define SIZE(type) \
  { "sizeof " #type, sizeof(type) }
#define OFFSET(type, member) \
  { #type "::" #member, offsetof(type, member) }

std::vector<Number> sizes() {
  return {SIZE(Pool),
          SIZE(sp::ScratchScope<sp::HostSpace>),
          SIZE(Floats),
          SIZE(sp::SavePoint),
          SIZE(sp::Label),
          SIZE(sp::ObserverChain),
          SIZE(sp::ScratchBuffer),
          SIZE(sp::Sanitizer),
          SIZE(sp::Poison),
          SIZE(sp::Recorder),
          SIZE(sp::PlanCheck),
          SIZE(sp::Plan),
          SIZE(sp::ScratchOverflow),
          SIZE(sp::ApiMisuse),
          SIZE(sp::ShapeMismatch),
          SIZE(sp::LayoutDivergence),
          SIZE(sp::Overflow),
          SIZE(sp::Failure),
          SIZE(sp::PoolView),
          SIZE(sp::Block),
          SIZE(Arena),
          SIZE(sp::WorkspaceLease),
          SIZE(sp::WorkspaceStatistics),
          SIZE(sp::detail::LoanLedger),
          SIZE(sp::detail::BlockList),
          OFFSET(sp::SavePoint, owner),
          OFFSET(sp::SavePoint, stamp),
          OFFSET(sp::SavePoint, depth),
          OFFSET(sp::Overflow, label),
          OFFSET(sp::Overflow, missing),
          OFFSET(sp::Overflow, depth),
          OFFSET(sp::Overflow, layout_bytes),
          OFFSET(sp::Overflow, largest),
          OFFSET(sp::PoolView, base),
          OFFSET(sp::PoolView, capacity),
          OFFSET(sp::PoolView, quantum),
          OFFSET(sp::PoolView, host_accessible),
          OFFSET(sp::Block, offset),
          OFFSET(sp::Block, alignment),
          OFFSET(sp::Block, serial),
          OFFSET(sp::Failure, message),
          OFFSET(sp::Failure, overflow)};
}

std::vector<std::size_t> carve(Pool& pool) {
  std::vector<std::size_t> used;
  const auto note = [&] { used.push_back(pool.used()); };
  (void)pool.allocate<char>(13, "odd");
  note();
  for (int turn = 0; turn < 2; ++turn) {
    sp::ScratchScope scope(pool);
    auto block = pool.allocate<float>(25, "block");
    if (!pool.is_measuring()) block.back() = 1.0F;
    note();
    scope.rewind();
    note();
    (void)pool.allocate<char>(1, sp::align(64), "coarse");
    note();
  }
  const sp::SavePoint at = pool.save();
  (void)pool.allocate<double>(3);
  note();
  pool.rewind(at);
  note();
  used.push_back(pool.peak());
  return used;
}

std::vector<std::size_t> lend_pool(std::vector<std::size_t> (*carve_it)(Pool&)) {
  static Memory memory;
  Pool pool(memory.bytes);
  auto used = carve_it(pool);
  pool.reset();
  return used;
}

std::size_t measure() {
  return sp::workspace_bytes([](Pool& pool) { (void)carve(pool); });
}

Floats make(Pool& pool) {
  auto made = sp::tensor<float>(pool, "made", 3, 4);
  for (float& x : made.span()) x = 0.5F;
  return made;
}

// -1 where the handle is not taken for what it is.
float sum(const Pool& pool, const Floats& tensor) {
  if (!pool.is_live(tensor) || tensor.extent(0) != 3 || tensor.extent(1) != 4) return -1.0F;
  float result = 0.0F;
  for (float x : tensor.span()) result += x;
  return result;
}

void copy(Pool& pool, const Floats& dst, const Floats& src) { sp::copy_to(pool, dst, src); }

sp::WorkspaceLease lend(Arena& arena) { return arena.lease(1'000, "lent"); }

std::size_t use(sp::WorkspaceLease lease) {
  std::memset(lease.data(), 1, lease.size());
  Pool pool(lease);
  (void)pool.allocate<char>(5);
  return pool.capacity() - pool.used();
}

void fail(int kind) {
  static Memory memory;
  Pool pool(memory.bytes);
  if (kind == 0) (void)pool.allocate<float>(1'025, "large");
  if (kind == 1) (void)pool.required_bytes();
  if (kind == 2) sp::copy_to(pool, sp::tensor<char>(pool, 2, 2), sp::tensor<char>(pool, 2, 3));
  if (kind == 3) {
    sp::PlanCheck check{sp::Plan{}};
    pool.watch(&check);
  }
}

bool catches([[maybe_unused]] void (*fail_it)(int), [[maybe_unused]] int kind) {
#if SCRATCHPAD_HAS_EXCEPTIONS
  const auto begins = [](const char* text, std::string_view beginning) {
    return std::string_view(text).substr(0, beginning.size()) == beginning;
  };
  try {
    fail_it(kind);
  } catch (const sp::ScratchOverflow& error) {
    return kind == 0 && error.overflow().missing == 16 && begins(error.what(), "scratch overflow: large asks for 4100");
  } catch (const sp::ApiMisuse& error) {
    return kind == 1 && begins(error.what(), "BumpAllocator::required_bytes()");
  } catch (const sp::ShapeMismatch& error) {
    return kind == 2 && begins(error.what(), "copy_to: dst is 2 x 2, src is 2 x 3");
  } catch (const sp::LayoutDivergence& error) {
    return kind == 3 && begins(error.what(), "PlanCheck: the plan was made with a quantum of 0");
  }
  return false;
#else
  return true;
#endif
}

}  // namespace linked::UNIT
