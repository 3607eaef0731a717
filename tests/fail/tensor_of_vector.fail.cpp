// SPDX-License-Identifier: MIT
// expect: scratchpad: a block holds plain bytes: T must be a trivially copyable
#include <scratchpad/core.hpp>

#include <vector>

#ifdef MUST_FAIL
using Element = std::vector<int>;
#else
using Element = int;
#endif

void layout(scratchpad::BumpAllocator<scratchpad::HostSpace>& pool) { (void)scratchpad::tensor<Element>(pool, 2, 3); }
