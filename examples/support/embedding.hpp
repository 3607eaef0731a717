// SPDX-License-Identifier: MIT
/// \file
/// Vectors for the bytes of a text: deterministic stand-ins for a model's projections, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bf16.hpp"

namespace embedding {

/// splitmix64: well mixed bits of a number.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// Uniform in [-1, 1), on a grid of 2^-23: exact in a float.
constexpr float uniform(std::uint64_t seed, std::uint64_t index) {
  const auto bits = static_cast<std::int32_t>(mix(seed ^ mix(index)) >> 40);
  return static_cast<float>(bits - (1 << 23)) / static_cast<float>(1 << 23);
}

/// A random vector for each byte value, and half of one for the byte in front: a token is what it is and where it stands.
class Table {
 public:
  Table(std::uint64_t seed, std::size_t head_dim) : head_dim_(head_dim), rows_(256 * head_dim) {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = uniform(seed, i);
  }
  /// Element `c` of the vector for the token at `position`.
  float operator()(std::string_view text, std::size_t position, std::size_t c) const {
    const float before = position == 0 ? 0.0F : rows_[row(text[position - 1]) + c];
    return rows_[row(text[position]) + c] + 0.5F * before;
  }

 private:
  std::size_t row(char byte) const { return static_cast<unsigned char>(byte) * head_dim_; }

  std::size_t head_dim_;
  std::vector<float> rows_;
};

/// One key/value head and the query heads of its group. A query head mixes the keys' vectors with its own, so that a
/// token attends to those like it and the heads differ; what the weights are spread over is not uniform.
class GroupedHeads {
 public:
  GroupedHeads(std::size_t group, std::size_t head_dim)
      : group_(group), head_dim_(head_dim), keys_(1, head_dim), values_(2, head_dim) {
    for (std::size_t head = 0; head < group; ++head) queries_.emplace_back(3 + head, head_dim);
  }

  std::size_t group() const { return group_; }
  std::size_t head_dim() const { return head_dim_; }

  std::vector<Bf16> keys(std::string_view text) const { return all(keys_, text); }
  std::vector<Bf16> values(std::string_view text) const { return all(values_, text); }

  /// The query of row `row`: head row % group at position row / group. \param out head_dim elements
  void query(std::string_view text, std::size_t row, std::span<Bf16> out) const {
    const std::size_t position = row / group_;
    const Table& own = queries_[row % group_];
    for (std::size_t c = 0; c < head_dim_; ++c) out[c] = to_bf16(keys_(text, position, c) + own(text, position, c));
  }

 private:
  std::vector<Bf16> all(const Table& table, std::string_view text) const {
    std::vector<Bf16> result;
    result.reserve(text.size() * head_dim_);
    for (std::size_t position = 0; position < text.size(); ++position) {
      for (std::size_t c = 0; c < head_dim_; ++c) result.push_back(to_bf16(table(text, position, c)));
    }
    return result;
  }

  std::size_t group_;
  std::size_t head_dim_;
  Table keys_;
  Table values_;
  std::vector<Table> queries_;
};

}  // namespace embedding
