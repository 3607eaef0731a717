// SPDX-License-Identifier: MIT
/// \file
/// Tensor<T, Rank, Space>: a typed, shaped handle to a block; tensor<T>(pool, extents...) carves one.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <scratchpad/bump.hpp>
#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/fwd.hpp>
#include <scratchpad/save_points.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// What a size or an index may be given as. A negative value is refused, never wrapped.
template <class Integer>
concept ExtentLike = std::integral<std::remove_cvref_t<Integer>> && !std::same_as<std::remove_cvref_t<Integer>, bool>;

namespace detail {

// Whether a mapping is row-major. It is asked for the strides of a 2 x 3 x 3 ... probe, not recognised by its name.
template <class Mapping, class Extents, std::size_t... Dimension>
constexpr bool is_row_major(std::index_sequence<Dimension...>) {
  const Mapping probe(Extents((Dimension == 0 ? 2 : 3)...));
  std::size_t stride = 1;
  bool result = true;
  ((result = result && static_cast<std::size_t>(probe.stride(sizeof...(Dimension) - 1 - Dimension)) == stride,
    stride *= 3),
   ...);
  return result;
}

/// An mdspan of any library (std, Kokkos, cuda::std) over Rank extents of a row-major, contiguous layout.
template <class Mdspan, class T, std::size_t Rank>
concept RowMajorMdspan = requires {
  requires Mdspan::rank()
  == Rank;
  requires Mdspan::rank_dynamic()
  == Rank;
  requires std::same_as<typename Mdspan::element_type, T> || std::same_as<typename Mdspan::element_type, const T>;
  requires is_row_major<typename Mdspan::mapping_type, typename Mdspan::extents_type>(std::make_index_sequence<Rank>());
};

}  // namespace detail

/// A row-major, contiguous tensor of Rank extents in memory of Space. It owns nothing: it is a pointer, the extents, and
/// the mark of the save-point it was born in, by which `pool.is_live(t)` tells whether its bytes are still its own.
/// Trivially copyable; pass it by value.
///
/// | task | call |
/// |---|---|
/// | element | `t(i, j)` |
/// | row | `t.row(i)`: a span over the last dimension |
/// | all elements | `t.span()`, `std::span<T>(t)` |
/// | shape | `t.extent(r)`, `t.extents()`, `t.size()` in elements |
/// | mdspan | `std::mdspan<T, std::dextents<std::size_t, 2>> m = t;` where there is one |
///
/// Shapes are checked when a tensor is made; indices are not checked.
template <class T, std::size_t Rank, class Space>
class Tensor {
  static_assert(Rank >= 1, "scratchpad: a tensor has at least one extent");

 public:
  using element_type = T;
  using space_type = Space;
  static constexpr std::size_t rank = Rank;

  /// No elements, no memory; live in no pool.
  constexpr Tensor() = default;

  /// Over memory that lives by other rules than a pool's (a caller's array, a staged input). `birth` is for tensors of a
  /// pool. \pre `data` points to as many elements as the extents say.
  constexpr Tensor(T* data, const std::array<std::size_t, Rank>& extents, const SavePoint& birth = {})
      : data_(data), extents_(extents), birth_(birth) {}

  constexpr T* data() const { return data_; }

  /// Elements of dimension `dimension`. \pre dimension < Rank
  constexpr std::size_t extent(std::size_t dimension) const { return extents_[dimension]; }
  constexpr const std::array<std::size_t, Rank>& extents() const { return extents_; }

  /// Elements in all. It cannot wrap: the tensor was made, so its bytes fit into a pool.
  constexpr std::size_t size() const { return size_of(std::make_index_sequence<Rank>()); }
  constexpr std::size_t size_bytes() const { return size() * sizeof(T); }
  constexpr bool empty() const { return size() == 0; }

  /// The element at these indices. \pre each index < its extent (not checked)
  template <ExtentLike... Index>
    requires(sizeof...(Index) == Rank)
  constexpr T& operator()(Index... index) const { return data_[offset_of(std::make_index_sequence<Rank>(), index...)]; }

  /// The elements along the last dimension at the given leading indices. \pre each index < its extent (not checked)
  template <ExtentLike... Index>
    requires(sizeof...(Index) + 1 == Rank)
  constexpr std::span<T> row(Index... index) const {
    const std::size_t row = offset_of(std::make_index_sequence<Rank - 1>(), index...);
    return {data_ + row * extents_[Rank - 1], extents_[Rank - 1]};
  }

  /// All elements. A span carries no mark: `is_live` cannot recognise it later.
  constexpr std::span<T> span() const { return {data_, size()}; }
  constexpr operator std::span<T>() const { return span(); }
  constexpr operator std::span<const T>() const requires(!std::is_const_v<T>) { return span(); }

  template <class Mdspan>
    requires detail::RowMajorMdspan<Mdspan, T, Rank>
  constexpr operator Mdspan() const { return Mdspan(data_, extents()); }

  /// The save-point it was born in; for `pool.is_live(t)`.
  constexpr const SavePoint& birth() const { return birth_; }

 private:
  // Folds and not loops over the rank: a loop inside a kernel's loop keeps nvcc from unrolling the latter.
  template <std::size_t... Dimension>
  constexpr std::size_t size_of(std::index_sequence<Dimension...>) const {
    return (std::size_t{1} * ... * extents_[Dimension]);
  }
  template <std::size_t... Dimension, class... Index>
  constexpr std::size_t offset_of(std::index_sequence<Dimension...>, Index... index) const {
    std::size_t at = 0;
    ((at = at * extents_[Dimension] + static_cast<std::size_t>(index)), ...);
    return at;
  }

  T* data_ = nullptr;
  std::array<std::size_t, Rank> extents_{};
  SavePoint birth_;
};

namespace detail {

// By value, or the arguments would be written to memory before every check that passes.
template <class Integer>
[[noreturn]] SCRATCHPAD_COLD constexpr void refuse_extent(Label label, std::size_t dimension, Integer extent) {
  raise<ApiMisuse>("tensor '", label.text, "': extent ", dimension, " is negative, ", extent);
}

template <ExtentLike Integer>
constexpr void check_extent([[maybe_unused]] Integer extent, [[maybe_unused]] Label label,
                            [[maybe_unused]] std::size_t dimension) {
  if constexpr (std::is_signed_v<Integer>) {
    if (extent < 0) refuse_extent(label, dimension, extent);
  }
}

// The product, or the largest number if it does not fit and no extent is 0. A factor of 0 makes it 0 wherever it stands,
// also behind factors that did not fit.
template <std::same_as<std::size_t>... Extents>
constexpr std::size_t saturating_elements(Extents... extents) {
  std::size_t elements = 1;
  ((elements = bump::saturating_product(elements, extents)), ...);
  return elements;
}

}  // namespace detail

/// Carves a tensor of these extents from `pool`. Any integers will do; their product is the number of elements; an extent
/// of zero makes it empty. The elements are not initialised.
///
/// *On failure*: `ScratchOverflow` if it does not fit, also where the product of the extents does not fit into a size_t
/// (it is then reported as the largest one, never wrapped); `ApiMisuse` for a negative extent.
/// *Invalidated by*: the rewind of a save-point that was open when it was made, `reset()`, the end of the memory.
/// *Measuring*: counts; its elements must not be touched.
/// *Device*: yes. A pool of a space without bounds checks does not check extents there, not even while it measures.
template <class T, class Space, ExtentLike... Extents>
  requires(sizeof...(Extents) >= 1)
[[nodiscard]] constexpr Tensor<T, sizeof...(Extents), Space> tensor(BumpAllocator<Space>& pool SCRATCHPAD_LIFETIMEBOUND,
                                                                    Label label, Extents... extents) {
  const std::array<std::size_t, sizeof...(Extents)> shape{static_cast<std::size_t>(extents)...};
  std::size_t elements = (std::size_t{1} * ... * static_cast<std::size_t>(extents));
  // An unchecked pool serves what has been measured, and that was checked then; on the host, because in a kernel the way
  // to the checks would keep nvcc from narrowing the arithmetic.
  if (Space::bounds_checked || (!detail::in_device_code && pool.is_measuring())) {
    std::size_t dimension = 0;
    (detail::check_extent(extents, label, dimension++), ...);
    elements = detail::saturating_elements(static_cast<std::size_t>(extents)...);
  }
  return {pool.template allocate<T>(elements, label).data(), shape, pool.here()};
}

/// The same without a label.
template <class T, class Space, ExtentLike... Extents>
  requires(sizeof...(Extents) >= 1)
[[nodiscard]] constexpr Tensor<T, sizeof...(Extents), Space> tensor(BumpAllocator<Space>& pool SCRATCHPAD_LIFETIMEBOUND,
                                                                    Extents... extents) {
  return tensor<T>(pool, Label{}, extents...);
}

static_assert(std::is_trivially_copyable_v<Tensor<float, 2, HostSpace>>, "kernels pass tensors by value");

}  // namespace SCRATCHPAD_NAMESPACE
