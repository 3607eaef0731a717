// SPDX-License-Identifier: MIT
/// \file
/// softmax(Q K^T / sqrt(d)) V of one row in float64, as it is defined: no tiles, no running maximum, no scratch. And how
/// far from it a tiled kernel may be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "bf16.hpp"

namespace attention {

/// One row of the exact result, and what the error bound below asks of the data.
struct Reference {
  std::vector<double> output;
  double largest_score = 0;  ///< max over the keys of sum |q k| / sqrt(d)
  double largest_value = 0;  ///< max |v|
};

/// \param query d elements \param keys, values the first `visible` rows count, each of d elements
inline Reference reference_row(std::span<const Bf16> query, std::span<const Bf16> keys, std::span<const Bf16> values,
                               std::size_t visible) {
  const std::size_t d = query.size();
  Reference result;
  result.output.assign(d, 0);
  std::vector<double> scores(visible);
  for (std::size_t j = 0; j < visible; ++j) {
    double magnitude = 0;
    for (std::size_t c = 0; c < d; ++c) {
      const double product = static_cast<double>(to_float(query[c])) * static_cast<double>(to_float(keys[j * d + c]));
      scores[j] += product;
      magnitude += std::abs(product);
    }
    scores[j] /= std::sqrt(static_cast<double>(d));
    result.largest_score = std::max(result.largest_score, magnitude / std::sqrt(static_cast<double>(d)));
  }
  // Only so that no exponential overflows; it divides out.
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (std::size_t j = 0; j < visible; ++j) {
    const double weight = std::exp(scores[j] - largest);
    sum += weight;
    for (std::size_t c = 0; c < d; ++c) {
      const double value = static_cast<double>(to_float(values[j * d + c]));
      result.output[c] += weight * value;
      result.largest_value = std::max(result.largest_value, std::abs(value));
    }
  }
  for (double& x : result.output) x /= sum;
  return result;
}

/// A bound on |O - reference| for a kernel that takes bf16 inputs, computes in float32 and rounds P to bf16 for P V.
///
/// The inputs are the same in both, exactly. O is a weighted mean of values, so an error of e relative to the weights
/// moves it by at most e max |v|. With u = 2^-24 the relative errors are, to first order:
///
/// - P rounded to bf16, in the numerator alone: 2^-8, which outweighs the rest;
/// - a score of d products, scaled, minus the maximum, off by at most (d + 4) u largest_score, which is a relative error
///   of its exponential; that of exp itself, 4 u at most; both in numerator and denominator;
/// - sums over the visible keys and, per tile, an exponential, two products and a sum: u per key and 8 u per tile, in
///   both.
inline double tolerance(const Reference& reference, std::size_t head_dim, std::size_t visible, std::size_t tiles) {
  const double u = std::ldexp(1.0, -24);
  const double scores = (static_cast<double>(head_dim) + 4) * u * reference.largest_score + 4 * u;
  const double sums = (static_cast<double>(visible) + 8 * static_cast<double>(tiles)) * u;
  return (std::ldexp(1.0, -8) + 2 * scores + 2 * sums) * reference.largest_value;
}

/// max |output - reference|; infinity if anything in `output` is not a number.
inline double largest_difference(std::span<const float> output, const Reference& reference) {
  double largest = 0;
  for (std::size_t c = 0; c < output.size(); ++c) {
    const double difference = std::abs(static_cast<double>(output[c]) - reference.output[c]);
    // Written so that a NaN does not pass as small.
    if (!(difference <= largest)) largest = std::isnan(difference) ? HUGE_VAL : difference;
  }
  return largest;
}

}  // namespace attention
