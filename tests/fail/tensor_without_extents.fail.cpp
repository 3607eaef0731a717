// SPDX-License-Identifier: MIT
// expect: scratchpad: a tensor has at least one extent
#include <scratchpad/core.hpp>

namespace sp = scratchpad;

#ifdef MUST_FAIL
std::size_t use(sp::Tensor<float, 0, sp::HostSpace> t) { return t.size(); }
#else
std::size_t use(sp::Tensor<float, 1, sp::HostSpace> t) { return t.size(); }
#endif
