// SPDX-License-Identifier: MIT
/// \file
/// Opt-in: the library's functions at global scope, for code bases whose kernels are written without namespaces.
///
/// Argument-dependent look-up finds `tensor<T>(pool, ...)` and `copy_to(pool, ...)` by their pool, but not
/// `workspace_bytes(layout)`, whose argument is the caller's own type. Include this in sources, not in headers.
#pragma once

#include <scratchpad/core.hpp>

using scratchpad::align;
using scratchpad::BumpAllocator;
using scratchpad::copy_to;
using scratchpad::largest_fit;
using scratchpad::no_work;
using scratchpad::ScratchScope;
using scratchpad::tensor;
using scratchpad::Tensor;
using scratchpad::workspace_bytes;
using scratchpad::workspace_requirement;
