// SPDX-License-Identifier: MIT
/// \file
/// What depends on the compiler and on how it was called. No other header asks either of them anything.
///
/// | macro | meaning | who sets it |
/// |---|---|---|
/// | `SCRATCHPAD_CHECKS` | 1: a pool is watched by default, arenas check their thread; 0: they are not. Neither changes a size, an offset or an error | you, else 0 where `NDEBUG` is defined, 1 elsewhere |
/// | `SCRATCHPAD_VALGRIND` | 1: under Valgrind, pools tell Memcheck about their bytes (needs valgrind/memcheck.h) | you, else 0 |
/// | `SCRATCHPAD_HD` | marks what runs on host and device and is not `constexpr` | you, else what the compiler needs |
/// | `SCRATCHPAD_VERSION_*` | this release | the library |
///
/// Other `constexpr` functions carry no marker: `--expt-relaxed-constexpr` (part of the CMake target) makes them device
/// functions for nvcc, and clang does so by itself.
#pragma once

#include <cstddef>

#define SCRATCHPAD_VERSION_MAJOR 0
#define SCRATCHPAD_VERSION_MINOR 1
#define SCRATCHPAD_VERSION_PATCH 0

#if !defined(SCRATCHPAD_CHECKS)
#if defined(NDEBUG)
#define SCRATCHPAD_CHECKS 0
#else
#define SCRATCHPAD_CHECKS 1
#endif
#endif

#if !defined(SCRATCHPAD_VALGRIND)
#define SCRATCHPAD_VALGRIND 0
#endif

#if defined(__has_feature)
#define SCRATCHPAD_HAS_FEATURE(feature) __has_feature(feature)
#else
#define SCRATCHPAD_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SCRATCHPAD_HAS_FEATURE(address_sanitizer)
#define SCRATCHPAD_ASAN 1
#else
#define SCRATCHPAD_ASAN 0
#endif

#if SCRATCHPAD_HAS_FEATURE(memory_sanitizer)
#define SCRATCHPAD_MSAN 1
#else
#define SCRATCHPAD_MSAN 0
#endif

// Who watches a pool by default. The name is that of an inline namespace around what depends on it, so that translation
// units with different switches can be linked: they name different functions.
#if SCRATCHPAD_ASAN
#define SCRATCHPAD_WATCHED_BY watched_by_asan
#elif SCRATCHPAD_MSAN
#define SCRATCHPAD_WATCHED_BY watched_by_msan
#elif SCRATCHPAD_VALGRIND
#define SCRATCHPAD_WATCHED_BY watched_by_memcheck
#elif SCRATCHPAD_CHECKS
#define SCRATCHPAD_WATCHED_BY watched_by_poison
#else
#define SCRATCHPAD_WATCHED_BY watched_by_nobody
#endif

// 1 in the pass of a CUDA compiler that makes device code, 0 everywhere else.
#if defined(__CUDA_ARCH__)
#define SCRATCHPAD_DEVICE_PASS 1
#else
#define SCRATCHPAD_DEVICE_PASS 0
#endif

#if !defined(SCRATCHPAD_HD)
#if defined(__CUDACC__) || defined(__CUDA__)
#define SCRATCHPAD_HD __host__ __device__
#else
#define SCRATCHPAD_HD
#endif
#endif

// In front of a template that calls what the caller brings (a fence, a group): it is `constexpr` only for literal types, so
// it has to have the marker too, and what it calls may be for one side only, of which nvcc must not warn.
#if defined(__NVCC__)
#define SCRATCHPAD_CALLS_EITHER_SIDE _Pragma("nv_exec_check_disable")
#else
#define SCRATCHPAD_CALLS_EITHER_SIDE
#endif

#if __cplusplus < 202002L
#error "scratchpad needs C++20: pass -std=c++20"
#endif

#if defined(__NVCC__) && !defined(__CUDACC_RELAXED_CONSTEXPR__)
#error \
    "scratchpad's constexpr functions run on the device: pass --expt-relaxed-constexpr to nvcc (the CMake target scratchpad::scratchpad does)"
#endif

// A failing path: never inlined and kept away from the hot code. In device code a call would force the pool out of
// registers into local memory, so there the marker is empty.
#if SCRATCHPAD_DEVICE_PASS
#define SCRATCHPAD_COLD
#elif defined(__GNUC__)
#define SCRATCHPAD_COLD [[gnu::cold, gnu::noinline]]
#else
#define SCRATCHPAD_COLD
#endif

// For the few functions whose call would force a guard object into memory. On the device it keeps a pool in registers.
#if defined(__GNUC__)
#define SCRATCHPAD_INLINE [[gnu::always_inline]]
#else
#define SCRATCHPAD_INLINE
#endif

#if defined(__clang__)
#define SCRATCHPAD_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define SCRATCHPAD_LIFETIMEBOUND
#endif

// Without exceptions everything that can fail lives in an inline namespace of its own, so that linking it with a
// translation unit that expects a throw is a link error and not a silent abort.
#if defined(__cpp_exceptions)
#define SCRATCHPAD_HAS_EXCEPTIONS 1
#define SCRATCHPAD_NAMESPACE scratchpad
#else
#define SCRATCHPAD_HAS_EXCEPTIONS 0
#define SCRATCHPAD_NAMESPACE scratchpad::inline no_exceptions
#endif

// Device code cannot even name a throw, but it keeps the host's namespace.
#if SCRATCHPAD_HAS_EXCEPTIONS && !SCRATCHPAD_DEVICE_PASS
#define SCRATCHPAD_TRY try
#define SCRATCHPAD_CATCH(declaration) catch (declaration)
#define SCRATCHPAD_THROW(exception) throw exception
#else
#define SCRATCHPAD_TRY if (true)
#define SCRATCHPAD_CATCH(declaration) else
#define SCRATCHPAD_THROW(exception) ((void)0)
#endif

namespace SCRATCHPAD_NAMESPACE {
namespace detail {

inline constexpr bool in_device_code = SCRATCHPAD_DEVICE_PASS != 0;

// __trap() is not noreturn by itself: without the second line a kernel keeps the code after a failure.
[[noreturn]] SCRATCHPAD_HD inline void trap() {
#if SCRATCHPAD_DEVICE_PASS
  __trap();
#else
  __builtin_trap();
#endif
  __builtin_unreachable();
}

// Device code: what was written so far can be seen by the host, also if the kernel traps next.
SCRATCHPAD_HD inline void publish_to_host() {
#if SCRATCHPAD_DEVICE_PASS
  __threadfence_system();
#endif
}

// The same address, about which the optimiser knows nothing any more. AddressSanitizer needs it: an access at a constant
// offset into a static or stack buffer is otherwise taken as proven, and not instrumented.
inline std::byte* forget_origin(std::byte* address) {
#if defined(__GNUC__) && !SCRATCHPAD_DEVICE_PASS
  asm volatile("" : "+r"(address));
#endif
  return address;
}

}  // namespace detail
}  // namespace SCRATCHPAD_NAMESPACE
