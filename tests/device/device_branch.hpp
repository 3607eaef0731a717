// SPDX-License-Identifier: MIT
/// \file
/// Included in front of a whole translation unit of host code: this library then is what it is in device code, without
/// stamps and observers, with traps in place of exceptions. A trap is test::Trapped here, which can be caught.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace test {
struct Trapped {};
inline std::atomic<int> fences_to_host = 0;
}  // namespace test

inline void __trap() { throw test::Trapped(); }
inline void __threadfence_system() { ++test::fences_to_host; }

// Defined for the library's headers alone: those of the system must not take this for device code.
#define __CUDA_ARCH__ 900
#include <scratchpad/core.hpp>
#undef __CUDA_ARCH__

static_assert(scratchpad::detail::in_device_code);
