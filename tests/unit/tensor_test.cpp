// SPDX-License-Identifier: MIT
#include <scratchpad/tensor.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>

#include <scratchpad/scratch_scope.hpp>

#include "support/catch.hpp"
#include "support/spaces.hpp"
#include "support/thrown.hpp"

namespace sp = scratchpad;
using test::missing_from;
using test::offset_in;
using test::Tcm;
using test::text_of;
using Pool = sp::BumpAllocator<Tcm>;
template <class T, std::size_t Rank>
using Tensor = sp::Tensor<T, Rank, Tcm>;

// As much of an mdspan as a conversion asks for. The two layouts have the same members: only the strides tell them apart.
namespace fake {
template <std::size_t Rank>
struct Extents {
  std::size_t values[Rank] = {};
  constexpr Extents() = default;
  template <class... Values>
    requires(sizeof...(Values) == Rank)
  constexpr explicit Extents(Values... v) : values{static_cast<std::size_t>(v)...} {}
  constexpr explicit Extents(const std::array<std::size_t, Rank>& a) { std::copy(a.begin(), a.end(), values); }
};
template <std::size_t Rank, bool RightToLeft>
struct Mapping {
  Extents<Rank> extents;
  constexpr explicit Mapping(const Extents<Rank>& e) : extents(e) {}
  constexpr std::size_t stride(std::size_t r) const {
    std::size_t result = 1;
    for (std::size_t i = RightToLeft ? r + 1 : 0; i < (RightToLeft ? Rank : r); ++i) result *= extents.values[i];
    return result;
  }
};
template <class T, std::size_t Rank, bool RightToLeft, std::size_t RankDynamic = Rank>
struct Mdspan {
  using element_type = T;
  using extents_type = Extents<Rank>;
  using mapping_type = Mapping<Rank, RightToLeft>;
  static constexpr std::size_t rank() { return Rank; }
  static constexpr std::size_t rank_dynamic() { return RankDynamic; }
  constexpr Mdspan(T* data, const std::array<std::size_t, Rank>& extents) : data_handle(data), shape(extents) {}
  T* data_handle;
  extents_type shape;
};
template <class T, std::size_t Rank>
using RowMajor = Mdspan<T, Rank, true>;
template <class T, std::size_t Rank>
using ColumnMajor = Mdspan<T, Rank, false>;
}  // namespace fake

// ---- the handle ----------------------------------------------------------------------------------------------------

TEST_CASE("a tensor is passed by value and owns nothing") {
  STATIC_REQUIRE(std::is_trivially_copyable_v<Tensor<float, 2>>);
  STATIC_REQUIRE(std::is_trivially_destructible_v<Tensor<float, 3>>);
  STATIC_REQUIRE(Tensor<float, 3>::rank == 3);
  STATIC_REQUIRE(std::is_same_v<Tensor<float, 3>::element_type, float>);
  STATIC_REQUIRE(std::is_same_v<Tensor<float, 3>::space_type, Tcm>);
}

TEST_CASE("a default tensor is empty and live nowhere") {
  alignas(16) std::byte memory[64];
  const Pool pool(memory);
  const Tensor<float, 2> none;
  CHECK(none.data() == nullptr);
  CHECK(none.size() == 0);
  CHECK(none.empty());
  CHECK(none.extent(0) == 0);
  CHECK(!pool.is_live(none));
}

TEST_CASE("a tensor takes one block of its elements") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.allocate<char>(1);
  const auto t = sp::tensor<float>(pool, "scores", 3, 5);
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(t)>, Tensor<float, 2>>);
  CHECK(offset_in(memory, t.span()) == 16);
  CHECK(t.extent(0) == 3);
  CHECK(t.extent(1) == 5);
  CHECK(t.extents() == std::array<std::size_t, 2>{3, 5});
  CHECK(t.size() == 15);
  CHECK(t.size_bytes() == 60);
  CHECK(!t.empty());
  CHECK(pool.used() == 80);
}

TEST_CASE("a tensor may have one extent, or four, and no label") {
  alignas(4096) std::byte memory[512];
  Pool pool(memory);
  const auto vector = sp::tensor<double>(pool, 7);
  const auto four = sp::tensor<char>(pool, 2, 3, 4, 5);
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(vector)>, Tensor<double, 1>>);
  CHECK(vector.size() == 7);
  CHECK(four.size() == 120);
  CHECK(pool.used() == 64 + 128);
}

TEST_CASE("extents are any integers, also mixed") {
  alignas(4096) std::byte memory[512];
  Pool pool(memory);
  const std::uint8_t a = 2;
  const short b = 3;
  const std::int64_t c = 4;
  const auto t = sp::tensor<char>(pool, a, b, c, 5U);
  CHECK(t.extents() == std::array<std::size_t, 4>{2, 3, 4, 5});
}

TEST_CASE("an overflow names the label of the tensor") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  const std::string text = text_of<sp::ScratchOverflow>([&] { (void)sp::tensor<float>(pool, "weights", 17, 1); });
  CHECK(missing_from(text, {"weights", "68", "17 x 4", "80", "64"}).empty());
}

// ---- elements ------------------------------------------------------------------------------------------------------

TEST_CASE("elements are row-major and contiguous") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto t = sp::tensor<int>(pool, 2, 3, 4);
  std::iota(t.span().begin(), t.span().end(), 0);
  CHECK(t(0, 0, 0) == 0);
  CHECK(t(0, 0, 3) == 3);
  CHECK(t(0, 1, 0) == 4);
  CHECK(t(1, 0, 0) == 12);
  CHECK(t(1, 2, 3) == 23);
  t(1, 2, 3) = 100;
  CHECK(t.span()[23] == 100);
}

TEST_CASE("an index may be of any integer type") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto t = sp::tensor<int>(pool, 2, 3);
  std::iota(t.span().begin(), t.span().end(), 0);
  CHECK(t(std::size_t{1}, 2) == 5);
  CHECK(t(std::uint8_t{1}, short{0}) == 3);
}

TEST_CASE("a row is the elements along the last dimension") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto t = sp::tensor<int>(pool, 2, 3, 4);
  std::iota(t.span().begin(), t.span().end(), 0);
  const std::span<int> row = t.row(1, 1);
  CHECK(row.size() == 4);
  CHECK(row[0] == 16);
  CHECK(row[3] == 19);
  const auto matrix = sp::tensor<int>(pool, 3, 5);
  CHECK(matrix.row(2).data() == matrix.data() + 10);
  CHECK(matrix.row(2).size() == 5);
  const auto vector = sp::tensor<int>(pool, 6);
  CHECK(vector.row().size() == 6);
  CHECK(vector.row().data() == vector.data());
}

TEST_CASE("an element or a row needs as many indices as there are dimensions") {
  STATIC_REQUIRE(std::is_invocable_v<Tensor<float, 2>, int, int>);
  STATIC_REQUIRE(!std::is_invocable_v<Tensor<float, 2>, int>);
  STATIC_REQUIRE(!std::is_invocable_v<Tensor<float, 2>, int, int, int>);
  STATIC_REQUIRE(!std::is_invocable_v<Tensor<float, 2>, int, float>);
  STATIC_REQUIRE(!std::is_invocable_v<Tensor<float, 2>, int, bool>);
}

TEST_CASE("a tensor converts to a span of its elements, const or not") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto t = sp::tensor<float>(pool, 2, 3);
  const std::span<float> all = t;
  const std::span<const float> read = t;
  CHECK(all.data() == t.data());
  CHECK(all.size() == 6);
  CHECK(read.size() == 6);
  STATIC_REQUIRE(!std::is_convertible_v<Tensor<float, 2>, std::span<double>>);
  STATIC_REQUIRE(!std::is_convertible_v<Tensor<const float, 2>, std::span<float>>);
  STATIC_REQUIRE(std::is_convertible_v<Tensor<const float, 2>, std::span<const float>>);
}

TEST_CASE("a tensor over memory of the caller's is a handle like any other, but of no pool") {
  float values[6] = {0, 1, 2, 3, 4, 5};
  alignas(16) std::byte memory[64];
  const Pool pool(memory);
  const Tensor<float, 2> t(values, {2, 3});
  CHECK(t(1, 0) == 3);
  CHECK(t.row(1)[2] == 5);
  CHECK(!pool.is_live(t));
  CHECK(!pool.is_origin_of(t.birth()));
}

// ---- mdspan --------------------------------------------------------------------------------------------------------

TEST_CASE("a tensor converts to a row-major mdspan of its rank and type") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto t = sp::tensor<float>(pool, 2, 3, 4);
  const fake::RowMajor<float, 3> m = t;
  CHECK(m.data_handle == t.data());
  CHECK((m.shape.values[0] == 2 && m.shape.values[1] == 3 && m.shape.values[2] == 4));
  const fake::RowMajor<const float, 3> read = t;
  CHECK(read.data_handle == t.data());
  STATIC_REQUIRE(std::is_convertible_v<Tensor<float, 1>, fake::RowMajor<float, 1>>);
  STATIC_REQUIRE(std::is_convertible_v<Tensor<float, 2>, fake::RowMajor<float, 2>>);
}

TEST_CASE("an mdspan of another layout, rank, type or with fixed extents is not accepted") {
  STATIC_REQUIRE(!std::is_convertible_v<Tensor<float, 2>, fake::ColumnMajor<float, 2>>);
  STATIC_REQUIRE(!std::is_convertible_v<Tensor<float, 3>, fake::ColumnMajor<float, 3>>);
  STATIC_REQUIRE(!std::is_convertible_v<Tensor<float, 2>, fake::RowMajor<float, 3>>);
  STATIC_REQUIRE(!std::is_convertible_v<Tensor<float, 3>, fake::RowMajor<float, 2>>);
  STATIC_REQUIRE(!std::is_convertible_v<Tensor<float, 2>, fake::RowMajor<double, 2>>);
  STATIC_REQUIRE(!std::is_convertible_v<Tensor<const float, 2>, fake::RowMajor<float, 2>>);
  STATIC_REQUIRE(!std::is_convertible_v<Tensor<float, 2>, fake::Mdspan<float, 2, true, 1>>);
}

TEST_CASE("with one dimension both layouts are the same") {
  STATIC_REQUIRE(std::is_convertible_v<Tensor<float, 1>, fake::ColumnMajor<float, 1>>);
}

// ---- extents that are refused --------------------------------------------------------------------------------------

TEST_CASE("a negative extent is refused by its number and place, and changes nothing") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  (void)pool.allocate<char>(1);
  const auto before = test::figures(pool);
  const std::string text = text_of<sp::ApiMisuse>([&] { (void)sp::tensor<float>(pool, "bias", 2, -3, 4); });
  CHECK(missing_from(text, {"'bias'", "extent 1", "-3"}).empty());
  CHECK_THROWS_AS(sp::tensor<float>(pool, -1), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::tensor<float>(pool, -1, -1), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::tensor<float>(pool, 0, -1), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::tensor<float>(pool, std::numeric_limits<std::int64_t>::min()), sp::ApiMisuse);
  CHECK_THROWS_AS(sp::tensor<float>(pool, std::int8_t{-128}, 2U), sp::ApiMisuse);
  CHECK(test::figures(pool) == before);
}

TEST_CASE("extents whose product wraps overflow, on a serving pool and while measuring") {
  alignas(4096) std::byte memory[256];
  Pool serving(memory);
  Pool measuring = Pool::measuring();
  const bool measures = GENERATE(false, true);
  Pool& pool = measures ? measuring : serving;
  constexpr std::size_t half = std::size_t{1} << (std::numeric_limits<std::size_t>::digits / 2);
  const auto before = test::figures(pool);
  CHECK_THROWS_AS(sp::tensor<char>(pool, half, half), sp::ScratchOverflow);        // a product of 0
  CHECK_THROWS_AS(sp::tensor<char>(pool, half + 1, half), sp::ScratchOverflow);    // of half
  CHECK_THROWS_AS(sp::tensor<char>(pool, half, 2, half, 3), sp::ScratchOverflow);  // in the middle
  CHECK_THROWS_AS(sp::tensor<double>(pool, half, half / 8), sp::ScratchOverflow);  // only in bytes
  CHECK(test::figures(pool) == before);
}

TEST_CASE("a measuring pool checks extents although its space has no bounds checks") {
  auto pool = sp::BumpAllocator<test::Unchecked>::measuring();
  constexpr std::size_t half = std::size_t{1} << (std::numeric_limits<std::size_t>::digits / 2);
  CHECK_THROWS_AS(sp::tensor<char>(pool, half, half), sp::ScratchOverflow);
  CHECK_THROWS_AS(sp::tensor<char>(pool, -1, -1), sp::ApiMisuse);
  CHECK(pool.used() == 0);
}

TEST_CASE("a zero extent makes a tensor empty, whatever the others are") {
  alignas(4096) std::byte memory[64];
  Pool pool(memory);
  const auto before = test::figures(pool);
  const std::size_t large = std::size_t{1} << (std::numeric_limits<std::size_t>::digits - 1);
  const auto a = sp::tensor<float>(pool, 0);
  const auto b = sp::tensor<float>(pool, 3, 0);
  const auto c = sp::tensor<float>(pool, large, large, 0);
  CHECK((a.empty() && b.empty() && c.empty()));
  CHECK(b.extent(0) == 3);
  CHECK(b.row(2).empty());
  CHECK(c.extent(0) == large);
  CHECK(c.span().empty());
  CHECK(test::figures(pool) == before);
  CHECK(pool.is_live(a));
}

// ---- is_live -------------------------------------------------------------------------------------------------------

TEST_CASE("a tensor lives as long as the scope that it was born in") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto outside = sp::tensor<float>(pool, 2);
  Tensor<float, 1> inside;
  Tensor<float, 1> inside_twice;
  {
    sp::ScratchScope outer(pool);
    inside = sp::tensor<float>(pool, 2);
    {
      sp::ScratchScope inner(pool);
      inside_twice = sp::tensor<float>(pool, 2);
      CHECK((pool.is_live(outside) && pool.is_live(inside) && pool.is_live(inside_twice)));
    }
    CHECK((pool.is_live(outside) && pool.is_live(inside) && !pool.is_live(inside_twice)));
  }
  CHECK((pool.is_live(outside) && !pool.is_live(inside) && !pool.is_live(inside_twice)));
}

TEST_CASE("a tensor is dead also when its bytes were handed out again, at the same level") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  Tensor<float, 1> dead;
  {
    sp::ScratchScope scope(pool);
    dead = sp::tensor<float>(pool, 2);
  }
  sp::ScratchScope scope(pool);
  const auto fresh = sp::tensor<float>(pool, 2);
  CHECK(fresh.data() == dead.data());
  CHECK(fresh.birth().depth == dead.birth().depth);
  CHECK(pool.is_live(fresh));
  CHECK(!pool.is_live(dead));
}

TEST_CASE("a tensor dies when its scope is rewound and one of the outer level does not") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto outside = sp::tensor<float>(pool, 2);
  sp::ScratchScope scope(pool);
  const auto before = sp::tensor<float>(pool, 2);
  scope.rewind();
  CHECK(!pool.is_live(before));
  CHECK(pool.is_live(outside));
  const auto after = sp::tensor<float>(pool, 2);
  CHECK(after.data() == before.data());
  CHECK(pool.is_live(after));
  CHECK(!pool.is_live(before));
}

TEST_CASE("a tensor of the pool itself dies at a reset") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto before = sp::tensor<float>(pool, 2);
  {
    sp::ScratchScope scope(pool);
    CHECK(pool.is_live(before));
  }
  CHECK(pool.is_live(before));
  pool.reset();
  CHECK(!pool.is_live(before));
  const auto after = sp::tensor<float>(pool, 2);
  CHECK(pool.is_live(after));
  CHECK(!pool.is_live(before));
}

TEST_CASE("a tensor dies at a raw rewind") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto at = pool.save();
  const auto t = sp::tensor<float>(pool, 2);
  CHECK(pool.is_live(t));
  pool.rewind(at);
  CHECK(!pool.is_live(t));
}

TEST_CASE("a tensor of another pool over the same bytes is not live here") {
  alignas(4096) std::byte memory[256];
  Pool one(memory);
  Pool other(memory);
  const auto of_one = sp::tensor<float>(one, 2);
  const auto of_other = sp::tensor<float>(other, 2);
  CHECK(of_one.data() == of_other.data());
  CHECK(of_one.birth().stamp == of_other.birth().stamp);
  CHECK(one.is_live(of_one));
  CHECK(!one.is_live(of_other));
}

TEST_CASE("a copied handle lives and dies with the first") {
  alignas(4096) std::byte memory[256];
  Pool pool(memory);
  const auto at = pool.save();
  const auto first = sp::tensor<float>(pool, 2);
  const auto copy = first;
  CHECK(pool.is_live(copy));
  pool.rewind(at);
  CHECK(!pool.is_live(copy));
}

TEST_CASE("tensors run in a constant expression") {
  constexpr std::size_t bytes = [] {
    Pool pool = Pool::measuring();
    const auto t = sp::tensor<float>(pool, "t", 3, 5);
    const Tensor<float, 2> copy = t;
    return pool.is_live(copy) && copy.size() == 15 ? pool.required_bytes() : 0;
  }();
  STATIC_REQUIRE(bytes == 64);
}
