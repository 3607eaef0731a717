// SPDX-License-Identifier: MIT
/// \file
/// The whole library, as far as it needs nothing but the standard library.
#pragma once

#include <scratchpad/core.hpp>
#include <scratchpad/observe/plan.hpp>
#include <scratchpad/observe/plan_check.hpp>
#include <scratchpad/observe/poison.hpp>
#include <scratchpad/observe/recorder.hpp>
#include <scratchpad/observe/sanitizer.hpp>
#include <scratchpad/scratch_buffer.hpp>
#include <scratchpad/workspace/lease_report.hpp>
#include <scratchpad/workspace/queue.hpp>
#include <scratchpad/workspace/workspace_arena.hpp>
#include <scratchpad/workspace/workspace_lease.hpp>
