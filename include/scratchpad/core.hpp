// SPDX-License-Identifier: MIT
/// \file
/// What a kernel needs, and all that a .cu file includes: no heap, no streams, nothing but the standard library's small
/// headers.
#pragma once

#include <scratchpad/bump.hpp>
#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/copy_to.hpp>
#include <scratchpad/device_failure.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/fwd.hpp>
#include <scratchpad/largest_fit.hpp>
#include <scratchpad/memory_space.hpp>
#include <scratchpad/pool_observer.hpp>
#include <scratchpad/requirement.hpp>
#include <scratchpad/save_points.hpp>
#include <scratchpad/scratch_scope.hpp>
#include <scratchpad/shared_space.hpp>
#include <scratchpad/tensor.hpp>
#include <scratchpad/thread_group.hpp>
#include <scratchpad/workspace_bytes.hpp>
