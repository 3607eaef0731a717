// SPDX-License-Identifier: MIT
/// \file
/// Who watches a pool where its maker names nobody: the build decides, and only here.
#pragma once

#include <type_traits>

#include <scratchpad/config.hpp>
#include <scratchpad/observe/poison.hpp>
#include <scratchpad/observe/sanitizer.hpp>
#include <scratchpad/pool_observer.hpp>

namespace SCRATCHPAD_NAMESPACE {
inline namespace SCRATCHPAD_WATCHED_BY {

namespace default_observers {
// Stateless and never destroyed, so a pool of static storage may use them to its end.
inline constinit Sanitizer the_sanitizer;
inline constinit Poison the_poison;
}  // namespace default_observers

/// | build | observer |
/// |---|---|
/// | AddressSanitizer, MemorySanitizer, or SCRATCHPAD_VALGRIND | `Sanitizer` |
/// | else SCRATCHPAD_CHECKS | `Poison` |
/// | else, in device code, and for memory that the host cannot reach | nullptr: nobody |
///
/// It is a default argument of the pool's constructor, so it is chosen by the translation unit that makes a pool, and no
/// class differs between translation units.
template <class Space>
constexpr PoolObserver* default_observer() {
  if (std::is_constant_evaluated()) return nullptr;
  if constexpr (detail::in_device_code || !Space::host_accessible) {
    return nullptr;
  } else if constexpr (SCRATCHPAD_ASAN || SCRATCHPAD_MSAN || SCRATCHPAD_VALGRIND) {
    return &default_observers::the_sanitizer;
  } else if constexpr (SCRATCHPAD_CHECKS) {
    return &default_observers::the_poison;
  } else {
    return nullptr;
  }
}

}  // namespace SCRATCHPAD_WATCHED_BY
}  // namespace SCRATCHPAD_NAMESPACE
