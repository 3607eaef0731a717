// SPDX-License-Identifier: MIT
/// \file
/// The arithmetic of the batched symmetric eigensolver: the body of eigensolver_layout.hpp. It allocates nothing.
///
/// Householder reduction in panels, divide and conquer after Cuppen with the eigenvectors of Gu and Eisenstat, and the
/// blocked back-transformation, as in LAPACK's sytrd, stedc and ormtr. Plain loops, for reading and not for speed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "eigensolver_layout.hpp"

namespace eigensolver {

/// One matrix of a batch.
template <class T>
class View {
 public:
  View(const Matrices<T>& all, std::size_t k)
      : data_(all.data() + k * all.extent(1) * all.extent(2)), columns_(all.extent(2)) {}
  T& operator()(std::size_t i, std::size_t j) const { return data_[i * columns_ + j]; }

 private:
  T* data_;
  std::size_t columns_;
};

/// Solves every problem of the batch, one after another, in each step.
template <class T>
class Solver {
 public:
  /// \param a batch x n x n, symmetric, of which the lower triangles are read; then the eigenvectors, in columns
  /// \param eigenvalues batch x n; ascending
  Solver(const Matrices<T>& a, const Vectors<T>& eigenvalues)
      : a_(a), eigenvalues_(eigenvalues), batch_(a.extent(0)), n_(a.extent(1)) {}

  void operator()(const Tridiagonalise<T>& step) const {
    for (std::size_t k = 0; k < batch_ && n_ != 0; ++k) {
      View<T> a(a_, k);
      View<T> w(step.w, k);
      T* const e = row(step.p.e, k);
      T* const tau = row(step.p.tau, k);
      T* const d = row(step.p.d, k);
      const std::size_t panel = step.w.extent(2);
      for (std::size_t j = 0; j + 1 < n_; j += panel) reduce_panel(a, w, d, e, tau, j, std::min(panel, n_ - 1 - j));
      d[n_ - 1] = a(n_ - 1, n_ - 1);
      // Signs go into phase, so that divide and conquer has only couplings that are not negative.
      T* const phase = row(step.p.phase, k);
      phase[0] = 1;
      for (std::size_t i = 0; i + 1 < n_; ++i) {
        phase[i + 1] = std::signbit(e[i]) ? -phase[i] : phase[i];
        e[i] = std::abs(e[i]);
      }
    }
  }

  void operator()(const StartVectors<T>& step) const {
    for (std::size_t k = 0; k < batch_; ++k) {
      View<T> q(step.q, k);
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t j = 0; j < n_; ++j) q(i, j) = i == j ? T{1} : T{0};
      }
    }
  }

  void operator()(const Divide<T>& step) const {
    for (std::size_t k = 0; k < batch_; ++k) {
      const T coupling = step.p.e(k, step.middle - 1);
      step.rho(k) = coupling;
      step.p.d(k, step.middle - 1) -= coupling;
      step.p.d(k, step.middle) -= coupling;
    }
  }

  void operator()(const SolveLeaf<T>& step) const {
    for (std::size_t k = 0; k < batch_; ++k) implicit_ql(row(step.p.d, k), row(step.p.e, k), View<T>(step.q, k), step);
  }

  void operator()(const Merge<T>& step) const {
    for (std::size_t k = 0; k < batch_; ++k) {
      // T = Q (D + rho z z') Q', z = (last row of the upper block, first row of the lower one) / sqrt 2.
      const T rho = 2 * step.rho(k);
      if (!deflate(step, k, rho)) continue;
      find_roots(step, k, rho);
      make_vectors(step, k);
    }
  }

  void operator()(const StoreVectors<T>& step) const {
    for (std::size_t k = 0; k < batch_; ++k) {
      View<T> q(step.q, k);
      View<T> z(step.p.z, k);
      T* const d = row(step.p.d, k);
      for (std::size_t j = 0; j < n_; ++j) {  // ascending
        const auto least = static_cast<std::size_t>(std::min_element(d + j, d + n_) - d);
        if (least != j) {
          std::swap(d[least], d[j]);
          for (std::size_t i = 0; i < n_; ++i) std::swap(q(i, least), q(i, j));
        }
      }
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t j = 0; j < n_; ++j) z(i, j) = step.p.phase(k, i) * q(i, j);
      }
    }
  }

  void operator()(const BackTransform<T>& step) const {
    const std::size_t panel = step.v.extent(2);
    for (std::size_t k = 0; k < batch_ && n_ != 0; ++k) {
      View<T> z(step.p.z, k);
      const std::size_t panels = (n_ - 1 + panel - 1) / panel;
      for (std::size_t b = panels; b-- > 0;) apply_panel(step, k, z, b * panel, std::min(panel, n_ - 1 - b * panel));
      View<T> a(a_, k);
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t j = 0; j < n_; ++j) a(i, j) = z(i, j);
        eigenvalues_(k, i) = step.p.d(k, i);
      }
    }
  }

 private:
  static constexpr T epsilon = std::numeric_limits<T>::epsilon() / 2;

  template <class U>
  static U* row(const Vectors<U>& all, std::size_t k) {
    return all.data() + k * all.extent(1);
  }

  // ---- tridiagonal form -------------------------------------------------------------------------------------------------

  // Columns [j, j + width). Reflector t of the panel stays in column j + t, below the diagonal, with its leading 1 written
  // out; the trailing matrix is left alone until the panel is done, and then updated at once: A -= V W' + W V'.
  void reduce_panel(View<T> a, View<T> w, T* d, T* e, T* tau, std::size_t j, std::size_t width) const {
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t c = j + i;
      for (std::size_t r = c; r < n_; ++r) {
        for (std::size_t t = 0; t < i; ++t) a(r, c) -= a(r, j + t) * w(c, t) + w(r, t) * a(c, j + t);
      }
      d[c] = a(c, c);
      tau[c] = reflect(a, c, e[c]);
      for (std::size_t r = c + 1; r < n_; ++r) {
        T sum = 0;
        for (std::size_t s = c + 1; s < n_; ++s) sum += (r >= s ? a(r, s) : a(s, r)) * a(s, c);
        w(r, i) = sum;
      }
      for (std::size_t t = 0; t < i; ++t) {
        T wv = 0;
        T vv = 0;
        for (std::size_t r = c + 1; r < n_; ++r) {
          wv += w(r, t) * a(r, c);
          vv += a(r, j + t) * a(r, c);
        }
        for (std::size_t r = c + 1; r < n_; ++r) w(r, i) -= a(r, j + t) * wv + w(r, t) * vv;
      }
      T dot = 0;
      for (std::size_t r = c + 1; r < n_; ++r) {
        w(r, i) *= tau[c];
        dot += w(r, i) * a(r, c);
      }
      for (std::size_t r = c + 1; r < n_; ++r) w(r, i) -= tau[c] / 2 * dot * a(r, c);
    }
    for (std::size_t r = j + width; r < n_; ++r) {
      for (std::size_t s = j + width; s <= r; ++s) {
        for (std::size_t t = 0; t < width; ++t) a(r, s) -= a(r, j + t) * w(s, t) + w(r, t) * a(s, j + t);
      }
    }
  }

  // Turns column c below the diagonal into the reflector that maps it to (e, 0, ...). Returns its factor.
  T reflect(View<T> a, std::size_t c, T& e) const {
    T largest = 0;
    for (std::size_t r = c + 2; r < n_; ++r) largest = std::max(largest, std::abs(a(r, c)));
    const T alpha = a(c + 1, c);
    e = alpha;
    a(c + 1, c) = 1;
    if (largest == 0) return 0;
    largest = std::max(largest, std::abs(alpha));
    T squares = (alpha / largest) * (alpha / largest);
    for (std::size_t r = c + 2; r < n_; ++r) squares += (a(r, c) / largest) * (a(r, c) / largest);
    e = -std::copysign(largest * std::sqrt(squares), alpha);
    for (std::size_t r = c + 2; r < n_; ++r) a(r, c) /= alpha - e;
    return (e - alpha) / e;
  }

  // ---- divide and conquer -----------------------------------------------------------------------------------------------

  static void rotate(View<T> q, std::size_t begin, std::size_t end, std::size_t x, std::size_t y, T c, T s) {
    for (std::size_t i = begin; i < end; ++i) {
      const T old = q(i, x);
      q(i, x) = c * old + s * q(i, y);
      q(i, y) = c * q(i, y) - s * old;
    }
  }

  static void implicit_ql(T* d, const T* couplings, View<T> q, const SolveLeaf<T>& step) {
    std::array<T, leaf_size + 1> e{};  // the last one stays 0
    const std::size_t n = step.end - step.begin;
    for (std::size_t i = 0; i + 1 < n; ++i) e[i] = couplings[step.begin + i];
    d += step.begin;
    T norm = 0;
    for (std::size_t i = 0; i < n; ++i) norm = std::max(norm, std::abs(d[i]) + e[i]);
    for (std::size_t l = 0; l < n; ++l) {
      while (true) {
        std::size_t m = l;
        while (m + 1 < n && std::abs(e[m]) > epsilon * norm) ++m;
        if (m == l) break;
        T g = (d[l + 1] - d[l]) / (2 * e[l]);
        g = d[m] - d[l] + e[l] / (g + std::copysign(std::hypot(g, T{1}), g));
        T s = 1;
        T c = 1;
        T p = 0;
        std::size_t i = m;
        while (i-- > l) {
          const T f = s * e[i];
          const T b = c * e[i];
          T r = std::hypot(f, g);
          e[i + 1] = r;
          if (r == 0) break;
          s = f / r;
          c = g / r;
          g = d[i + 1] - p;
          r = (d[i] - g) * s + 2 * c * b;
          p = s * r;
          d[i + 1] = g + p;
          g = c * r - b;
          rotate(q, step.begin, step.end, step.begin + i + 1, step.begin + i, c, s);
        }
        if (i + 1 > l) {  // stopped early: the matrix has split
          d[i + 1] -= p;
          e[m] = 0;
          continue;
        }
        d[l] -= p;
        e[l] = g;
        e[m] = 0;
      }
    }
  }

  // Sorts the poles and takes out those that do not move. Leaves kept and count. False if none is left.
  bool deflate(const Merge<T>& step, std::size_t k, T rho) const {
    View<T> q(step.q, k);
    T* const d = row(step.p.d, k) + step.begin;
    T* const z = row(step.z, k);
    std::int32_t* const order = row(step.order, k);
    std::int32_t* const kept = row(step.kept, k);
    const std::size_t n = step.end - step.begin;
    T largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t column = step.begin + i;
      z[i] = q(column < step.middle ? step.middle - 1 : step.middle, column) / std::sqrt(T{2});
      order[i] = static_cast<std::int32_t>(i);
      largest = std::max({largest, std::abs(d[i]), std::abs(z[i])});
    }
    std::sort(order, order + n, [d](std::int32_t x, std::int32_t y) { return d[x] < d[y]; });
    const T tolerance = 8 * epsilon * largest;
    std::int32_t count = 0;
    for (std::size_t o = 0; o < n; ++o) {
      const std::int32_t i = order[o];
      if (rho * std::abs(z[i]) <= tolerance) continue;
      if (count != 0) {
        const std::int32_t before = kept[count - 1];
        const T length = std::hypot(z[i], z[before]);
        const T c = z[i] / length;
        const T s = -z[before] / length;
        const T gap = d[i] - d[before];
        if (std::abs(gap * c * s) <= tolerance) {  // so near that a rotation makes one of the two stand still
          z[i] = length;
          z[before] = 0;
          rotate(q, step.begin, step.end, step.begin + index(before), step.begin + index(i), c, s);
          const T low = d[before];
          d[before] = low * c * c + d[i] * s * s;
          d[i] = low * s * s + d[i] * c * c;
          --count;
        }
      }
      kept[count++] = i;
    }
    step.count(k) = count;
    return count != 0;
  }

  // Root j lies between pole j and the next. It is kept as a distance from the nearer of the two, with all its digits;
  // u(i, j) = pole i - root j, without cancellation.
  void find_roots(const Merge<T>& step, std::size_t k, T rho) const {
    View<T> u(step.u, k);
    const T* const d = row(step.p.d, k) + step.begin;
    const T* const z = row(step.z, k);
    const std::int32_t* const kept = row(step.kept, k);
    const auto count = index(step.count(k));
    T length = 0;
    for (std::size_t i = 0; i < count; ++i) length += z[kept[i]] * z[kept[i]];
    for (std::size_t j = 0; j < count; ++j) {
      const bool last = j + 1 == count;
      const T width = last ? rho * length : (d[kept[j + 1]] - d[kept[j]]) / 2;
      std::size_t from = j;
      const auto secular = [&](T distance) {
        T sum = 1 / rho;
        for (std::size_t i = 0; i < count; ++i)
          sum += z[kept[i]] * (z[kept[i]] / ((d[kept[i]] - d[kept[from]]) - distance));
        return sum;
      };
      if (!last && secular(width) < 0) from = j + 1;
      const T sign = from == j ? T{1} : T{-1};
      // The function rises from pole to pole.
      T low = 0;
      T high = width;
      for (int turn = 0; turn < 2000; ++turn) {
        const T middle =
            low == 0 ? high / 1024 : (high > 4 * low ? std::sqrt(low) * std::sqrt(high) : (low + high) / 2);
        if (middle <= low || middle >= high) break;
        ((secular(sign * middle) > 0) == (sign > 0) ? high : low) = middle;
      }
      const T distance = sign * (low == 0 ? high : low);
      row(step.root, k)[j] = distance;
      row(step.origin, k)[j] = static_cast<std::int32_t>(from);
      for (std::size_t i = 0; i < count; ++i) u(i, j) = (d[kept[i]] - d[kept[from]]) - distance;
    }
  }

  void make_vectors(const Merge<T>& step, std::size_t k) const {
    View<T> q(step.q, k);
    View<T> u(step.u, k);
    T* const d = row(step.p.d, k) + step.begin;
    T* const z = row(step.z, k);
    const std::int32_t* const kept = row(step.kept, k);
    T* const root = row(step.root, k);
    const auto count = index(step.count(k));
    // The z for which the roots found are exact: it makes the vectors orthogonal.
    for (std::size_t i = 0; i < count; ++i) {
      T product = u(i, i);
      for (std::size_t j = 0; j < count; ++j) {
        if (j != i) product *= u(i, j) / (d[kept[i]] - d[kept[j]]);
      }
      z[kept[i]] = std::copysign(std::sqrt(std::max(-product, T{0})), z[kept[i]]);
    }
    for (std::size_t j = 0; j < count; ++j) {
      T squares = 0;
      for (std::size_t i = 0; i < count; ++i) {
        u(i, j) = z[kept[i]] / u(i, j);
        squares += u(i, j) * u(i, j);
      }
      for (std::size_t i = 0; i < count; ++i) u(i, j) /= std::sqrt(squares);
      root[j] += d[kept[index(row(step.origin, k)[j])]];
    }
    for (std::size_t r = step.begin; r < step.end; ++r) {  // z has done its work and holds a row
      for (std::size_t j = 0; j < count; ++j) {
        z[j] = 0;
        for (std::size_t i = 0; i < count; ++i) z[j] += q(r, step.begin + index(kept[i])) * u(i, j);
      }
      for (std::size_t j = 0; j < count; ++j) q(r, step.begin + index(kept[j])) = z[j];
    }
    for (std::size_t j = 0; j < count; ++j) d[kept[j]] = root[j];
  }

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  // ---- back to A --------------------------------------------------------------------------------------------------------

  // Z = (I - V T V') Z for the reflectors of columns [j, j + width).
  void apply_panel(const BackTransform<T>& step, std::size_t k, View<T> z, std::size_t j, std::size_t width) const {
    View<T> a(a_, k);
    View<T> v(step.v, k);
    View<T> t(step.t, k);
    View<T> w1(step.w1, k);
    View<T> w2(step.w2, k);
    for (std::size_t r = 0; r < n_; ++r) {
      for (std::size_t i = 0; i < width; ++i) v(r, i) = r <= j + i ? T{0} : a(r, j + i);
    }
    for (std::size_t i = 0; i < width; ++i) {
      const T tau = step.p.tau(k, j + i);
      for (std::size_t s = 0; s < i; ++s) {
        T sum = 0;
        for (std::size_t r = j; r < n_; ++r) sum += v(r, s) * v(r, i);
        w1(s, 0) = sum;
      }
      for (std::size_t s = 0; s < i; ++s) {
        T sum = 0;
        for (std::size_t m = s; m < i; ++m) sum += t(s, m) * w1(m, 0);
        t(s, i) = -tau * sum;
      }
      t(i, i) = tau;
    }
    for (std::size_t i = 0; i < width; ++i) {
      for (std::size_t c = 0; c < n_; ++c) w1(i, c) = 0;
      for (std::size_t r = j; r < n_; ++r) {
        for (std::size_t c = 0; c < n_; ++c) w1(i, c) += v(r, i) * z(r, c);
      }
    }
    for (std::size_t i = 0; i < width; ++i) {
      for (std::size_t c = 0; c < n_; ++c) w2(i, c) = 0;
      for (std::size_t m = i; m < width; ++m) {
        for (std::size_t c = 0; c < n_; ++c) w2(i, c) += t(i, m) * w1(m, c);
      }
    }
    for (std::size_t r = j; r < n_; ++r) {
      for (std::size_t i = 0; i < width; ++i) {
        for (std::size_t c = 0; c < n_; ++c) z(r, c) -= v(r, i) * w2(i, c);
      }
    }
  }

  Matrices<T> a_;
  Vectors<T> eigenvalues_;
  std::size_t batch_;
  std::size_t n_;
};

}  // namespace eigensolver
