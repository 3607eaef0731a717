// SPDX-License-Identifier: MIT
/// \file
/// The whole library, as far as it needs nothing but the standard library.
#pragma once

#include <scratchpad/core.hpp>
#include <scratchpad/scratch_buffer.hpp>
