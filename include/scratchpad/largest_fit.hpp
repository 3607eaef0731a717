// SPDX-License-Identifier: MIT
/// \file
/// largest_fit: the inverse question, which size of a problem fits into a budget.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>

#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/tensor.hpp>
#include <scratchpad/workspace_bytes.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// The largest n among hi, hi - step, hi - 2 step, ... >= lo for which the layout `layout_of(n)` needs at most `budget`
/// bytes; std::nullopt if there is none.
///
/// It scans down and never bisects: sizes do not grow with n in real algorithms (the problem of size 2k may need more than
/// those of k and 3k). A candidate that cannot be measured, because it asks for more than any memory has, does not fit
/// (without exceptions it ends the program instead: nothing can be caught there).
///
/// \param layout_of called with an n; returns a layout that runs on `Pool`
/// *On failure*: `ApiMisuse` if step is not positive. *Complexity*: one measurement for every candidate looked at.
template <class Pool, ExtentLike N, class LayoutOf, class... Quantum>
[[nodiscard]] constexpr std::optional<N> largest_fit(std::size_t budget, N lo, N hi, std::type_identity_t<N> step,
                                                     LayoutOf layout_of, Quantum... quantum) {
  if (step <= 0) [[unlikely]]
    detail::raise<ApiMisuse>("largest_fit: the step is ", step, "; it must be positive");
  for (N n = hi; n >= lo; n = static_cast<N>(n - step)) {
    const bool fits = [&] {
      SCRATCHPAD_TRY { return workspace_bytes<Pool>(layout_of(n), quantum...) <= budget; }
      SCRATCHPAD_CATCH(const ScratchOverflow&) { return false; }
    }();
    if (fits) return n;
    // Whether there is a next one. The distance to lo fits into the unsigned type, also where n - step would not into N.
    using Distance = std::make_unsigned_t<N>;
    if (static_cast<Distance>(static_cast<Distance>(n) - static_cast<Distance>(lo)) < static_cast<Distance>(step))
      break;
  }
  return std::nullopt;
}

}  // namespace SCRATCHPAD_NAMESPACE
