// SPDX-License-Identifier: MIT
// expect: copy_to: dst and src have different ranks
#include <scratchpad/core.hpp>

namespace sp = scratchpad;
struct Tcm : sp::HostSpace {};
using Pool = sp::BumpAllocator<sp::HostSpace>;
template <class T, std::size_t Rank, class Space>
using Tensor = sp::Tensor<T, Rank, Space>;

#ifdef MUST_FAIL
using Dst = Tensor<float, 2, sp::HostSpace>;
using Src = Tensor<float, 1, sp::HostSpace>;
#else
using Dst = Tensor<float, 2, sp::HostSpace>;
using Src = Tensor<float, 2, sp::HostSpace>;
#endif

void keep(Pool& pool, Dst dst, Src src) { sp::copy_to(pool, dst, src); }
