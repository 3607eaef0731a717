// SPDX-License-Identifier: MIT
/// \file
/// PoolResource: a pool as a std::pmr::memory_resource, for containers that live in one scope.
#pragma once

#include <cstddef>
#include <memory_resource>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/requirement.hpp>
#include <scratchpad/save_points.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Hands blocks of a pool to standard containers. Giving one back does nothing: the scope that the resource was made in
/// takes everything back at its end, so the container must be gone by then.
///
/// It belongs to the depth at which it was made. A container further out that grows inside an inner scope would lose its
/// elements at that scope's end; here it is refused.
///
/// *On failure*, of `allocate`: `ScratchOverflow` if it does not fit; `ApiMisuse` if the pool is deeper than where the
/// resource was made, or that scope has ended or been rewound.
template <class Space>
class PoolResource final : public std::pmr::memory_resource {
 public:
  explicit PoolResource(BumpAllocator<Space>& pool) : pool_(pool), made_(pool.here()) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (pool_.here() != made_) [[unlikely]] {
      detail::raise<ApiMisuse>("PoolResource: ", bytes, " bytes asked for at depth ", pool_.depth(),
                               "; the resource was made at depth ", made_.depth,
                               pool_.is_live(made_) ? ": they would be lost at the end of the inner scope"
                                                    : ", in a scope that has ended or been rewound");
    }
    return pool_.template allocate<std::byte>(bytes, align(alignment), "pmr").data();
  }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  BumpAllocator<Space>& pool_;
  SavePoint made_;
};

}  // namespace SCRATCHPAD_NAMESPACE
