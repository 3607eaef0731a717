// SPDX-License-Identifier: MIT
// expect: scratchpad: a block holds plain bytes: T must be a trivially copyable
#include <scratchpad/core.hpp>

#include <string>

#ifdef MUST_FAIL
using Element = std::string;
#else
using Element = char;
#endif

void layout(scratchpad::BumpAllocator<scratchpad::HostSpace>& pool) { (void)pool.allocate<Element>(1); }
