// SPDX-License-Identifier: MIT
/// \file
/// SharedSpace: memory that the threads of a block use together.
#pragma once

#include <cstddef>
#include <string_view>

#include <scratchpad/config.hpp>
#include <scratchpad/memory_space.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// CUDA's shared memory, OpenCL's and SYCL's local memory. Each thread has a pool object of its own over the same bytes;
/// as all of them run the same layout, all of them compute the same offsets.
///
/// A scope in it needs a fence that all threads reach: `ScratchScope scope(pool, group_fence(group))`. One without is
/// refused when it is compiled, because nothing else would notice.
struct SharedSpace : HostSpace {
  static constexpr std::string_view name = "shared";
  static constexpr std::uint32_t max_depth = 8;
  static constexpr bool host_accessible = false;
  static constexpr bool shared_by_threads = true;
};
static_assert(MemorySpace<SharedSpace>);

/// The same without the bounds check, for a kernel that is launched with the measured size of the layout that it runs.
struct UncheckedSharedSpace : SharedSpace {
  static constexpr bool bounds_checked = false;
};
static_assert(MemorySpace<UncheckedSharedSpace>);

}  // namespace SCRATCHPAD_NAMESPACE
