// SPDX-License-Identifier: MIT
/// \file
/// workspace_bytes(layout): how much memory a layout needs, from the layout itself.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/fwd.hpp>
#include <scratchpad/requirement.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Takes anything and does nothing: the body of a skeleton when it is only sized.
struct NoWork {
  template <class... Arguments>
  constexpr void operator()(Arguments&&...) const {}
};
/// The one NoWork there need be.
inline constexpr NoWork no_work{};

namespace detail {

template <class Signature>
struct PoolOfSignature {
  using type = void;
};
template <class Result, class Space>
struct PoolOfSignature<Result(BumpAllocator<Space>&)> {
  using type = BumpAllocator<Space>;
};

// A layout's signature, of a function or of a call operator that is no template; void where there is none to look at.
template <class Layout>
struct SignatureOf {
  using type = void;
};
template <class Layout>
  requires requires { &Layout::operator(); }
struct SignatureOf<Layout> : SignatureOf<decltype(&Layout::operator())> {};

template <class Result, class... Arguments>
struct SignatureOf<Result (*)(Arguments...)> {
  using type = Result(Arguments...);
};
template <class Result, class... Arguments>
struct SignatureOf<Result (*)(Arguments...) noexcept> : SignatureOf<Result (*)(Arguments...)> {};
template <class Result, class Object, class... Arguments>
struct SignatureOf<Result (Object::*)(Arguments...)> : SignatureOf<Result (*)(Arguments...)> {};
template <class Result, class Object, class... Arguments>
struct SignatureOf<Result (Object::*)(Arguments...) const> : SignatureOf<Result (*)(Arguments...)> {};
template <class Result, class Object, class... Arguments>
struct SignatureOf<Result (Object::*)(Arguments...) noexcept> : SignatureOf<Result (*)(Arguments...)> {};
template <class Result, class Object, class... Arguments>
struct SignatureOf<Result (Object::*)(Arguments...) const noexcept> : SignatureOf<Result (*)(Arguments...)> {};

// Pool where it was named, else what the layout takes.
template <class Pool, class Layout>
struct PoolOf {
  using type = Pool;
};
template <class Layout>
struct PoolOf<void, Layout> : PoolOfSignature<typename SignatureOf<std::decay_t<Layout>>::type> {};

struct Measurement {
  std::size_t bytes = 0;
  Requirement requirement = {};
};

template <class Pool, class Layout, class... Quantum>
constexpr Measurement measure(Layout&& layout, Quantum... quantum) {
  using Measured = typename PoolOf<Pool, Layout>::type;
  static_assert(
      !std::is_void_v<Measured>,
      "scratchpad: which pool does this layout run on? It is generic (or no function of one BumpAllocator&): "
      "name the pool, workspace_bytes<Pool>(layout). Measuring with another quantum than the run's would give a "
      "wrong size");
  if constexpr (!std::is_void_v<Measured>) {
    static_assert(
        Measured::has_dynamic_quantum == (sizeof...(quantum) == 1),
        "scratchpad: a pool with a dynamic quantum is measured with one, workspace_bytes<Pool>(layout, quantum), "
        "and no other pool is");
    static_assert(std::is_invocable_v<Layout&&, Measured&>, "scratchpad: this layout cannot be called with the pool");
    Measured pool = Measured::measuring(quantum...);
    std::forward<Layout>(layout)(pool);
    return {pool.required_bytes(), pool.requirement()};
  } else {
    return {};
  }
}

}  // namespace detail

/// The bytes that serve `layout` at every base that is a multiple of the pool's quantum: the layout is run on a measuring
/// pool, scopes and all, and nothing else is asked.
///
/// A layout is a callable of one `BumpAllocator<Space>&`. It may read the caller's shapes; it must not read the memory it
/// carves, launch work, or branch on `try_allocate`. What it returns is dropped. A generic one does not say which pool it
/// runs on: name it, `workspace_bytes<Pool>(layout)`.
///
/// *Returns*: bytes, a multiple of the quantum. *On failure*: what the layout throws; `ScratchOverflow` if it asks for
/// more than can be measured. Usable in a constant expression; there a failure is a compile error.
///
/// It takes only a callable, so argument-dependent look-up cannot find it: write `scratchpad::workspace_bytes`, or
/// include global_names.hpp.
template <class Pool = void, class Layout>
[[nodiscard]] constexpr std::size_t workspace_bytes(Layout&& layout) {
  return detail::measure<Pool>(std::forward<Layout>(layout)).bytes;
}
/// The same for a pool with a dynamic quantum. \param quantum bytes, a power of two, the one the run will use
template <class Pool = void, class Layout>
[[nodiscard]] constexpr std::size_t workspace_bytes(Layout&& layout, std::size_t quantum) {
  return detail::measure<Pool>(std::forward<Layout>(layout), quantum).bytes;
}

/// The same, exactly, for a base with the alignment it names: for an allocation that can be asked for that alignment.
template <class Pool = void, class Layout>
[[nodiscard]] constexpr Requirement workspace_requirement(Layout&& layout) {
  return detail::measure<Pool>(std::forward<Layout>(layout)).requirement;
}
template <class Pool = void, class Layout>
[[nodiscard]] constexpr Requirement workspace_requirement(Layout&& layout, std::size_t quantum) {
  return detail::measure<Pool>(std::forward<Layout>(layout), quantum).requirement;
}

}  // namespace SCRATCHPAD_NAMESPACE
