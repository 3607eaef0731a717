// SPDX-License-Identifier: MIT
/// \file
/// The scratch of a batched symmetric eigensolver, and the order of its steps: four skeletons, of which the first calls the
/// other three on the same pool, each in a scope of its own. No arithmetic here; the body does that.
#pragma once

#include <cstddef>
#include <cstdint>

#include <scratchpad/scratchpad.hpp>

namespace eigensolver {

namespace sp = scratchpad;
using Pool = sp::BumpAllocator<sp::HostSpace>;

template <class T>
using Vectors = sp::Tensor<T, 2, sp::HostSpace>;  // batch x n
template <class T>
using Matrices = sp::Tensor<T, 3, sp::HostSpace>;  // batch x rows x columns

/// \param panel columns that are reduced, and reflectors that are applied, at a time
struct Shape {
  std::size_t n = 0;
  std::size_t batch = 0;
  std::size_t panel = 16;
  constexpr std::size_t off_diagonals() const { return n == 0 ? 0 : n - 1; }
};

/// Problems of at most this size are solved without being divided.
inline constexpr std::size_t leaf_size = 8;

/// What lives through the whole solver: A = H T H', T = tridiagonal(d, e) after its signs went into `phase`.
template <class T>
struct Persistent {
  Vectors<T> d, e, tau, phase;
  Matrices<T> z;
};

// ---- the steps that a body is called with, each with the blocks that it may use -----------------------------------------

template <class T>
struct Tridiagonalise {
  Persistent<T> p;
  Matrices<T> w;
};
template <class T>
struct StartVectors {
  Matrices<T> q;
};
/// Cuts the problem in two before row `middle`.
template <class T>
struct Divide {
  Persistent<T> p;
  sp::Tensor<T, 1, sp::HostSpace> rho;
  std::size_t middle;
};
template <class T>
struct SolveLeaf {
  Persistent<T> p;
  Matrices<T> q;
  std::size_t begin, end;
};
template <class T>
struct Merge {
  Persistent<T> p;
  Matrices<T> q;
  std::size_t begin, middle, end;
  sp::Tensor<T, 1, sp::HostSpace> rho;
  Vectors<std::int32_t> order, kept;
  Vectors<T> z;
  Vectors<std::int32_t> origin;
  sp::Tensor<std::int32_t, 1, sp::HostSpace> count;
  Vectors<T> root;
  Matrices<T> u;
};
template <class T>
struct StoreVectors {
  Persistent<T> p;
  Matrices<T> q;
};
template <class T>
struct BackTransform {
  Persistent<T> p;
  Matrices<T> v, t, w1, w2;
};

// ---- the skeletons ------------------------------------------------------------------------------------------------------

template <class T>
constexpr Persistent<T> persistent(Pool& pool, Shape s) {
  return {sp::tensor<T>(pool, "d", s.batch, s.n), sp::tensor<T>(pool, "e", s.batch, s.off_diagonals()),
          sp::tensor<T>(pool, "tau", s.batch, s.off_diagonals()), sp::tensor<T>(pool, "phase", s.batch, s.n),
          sp::tensor<T>(pool, "Z", s.batch, s.n, s.n)};
}

/// To tridiagonal form, a panel of columns at a time.
template <class T, class Body>
constexpr void sytrd(Pool& pool, Shape s, const Persistent<T>& p, Body& body) {
  sp::ScratchScope scope(pool);
  body(Tridiagonalise<T>{p, sp::tensor<T>(pool, "W", s.batch, s.n, s.panel)});
}

/// Rows [begin, end) of the tridiagonal problem: the children's scratch has gone when the merge takes its own.
template <class T, class Body>
constexpr void divide_and_conquer(Pool& pool, Shape s, const Persistent<T>& p, const Matrices<T>& q, std::size_t begin,
                                  std::size_t end, Body& body) {
  const std::size_t n = end - begin;
  if (n <= leaf_size) {
    body(SolveLeaf<T>{p, q, begin, end});
    return;
  }
  const std::size_t middle = begin + n / 2;
  sp::ScratchScope scope(pool);
  auto rho = sp::tensor<T>(pool, "rho", s.batch);
  body(Divide<T>{p, rho, middle});
  divide_and_conquer(pool, s, p, q, begin, middle, body);
  divide_and_conquer(pool, s, p, q, middle, end, body);
  body(Merge<T>{p, q, begin, middle, end, rho, sp::tensor<std::int32_t>(pool, "order", s.batch, n),
                sp::tensor<std::int32_t>(pool, "kept", s.batch, n), sp::tensor<T>(pool, "z", s.batch, n),
                sp::tensor<std::int32_t>(pool, "origin", s.batch, n), sp::tensor<std::int32_t>(pool, "count", s.batch),
                sp::tensor<T>(pool, "root", s.batch, n), sp::tensor<T>(pool, "U", s.batch, n, n)});
}

/// Eigenvalues and eigenvectors of the tridiagonal problem.
template <class T, class Body>
constexpr void stedc(Pool& pool, Shape s, const Persistent<T>& p, Body& body) {
  sp::ScratchScope scope(pool);
  auto q = sp::tensor<T>(pool, "Q", s.batch, s.n, s.n);
  body(StartVectors<T>{q});
  divide_and_conquer(pool, s, p, q, 0, s.n, body);
  body(StoreVectors<T>{p, q});
}

/// From the eigenvectors of the tridiagonal problem to those of A, a panel of reflectors at a time.
template <class T, class Body>
constexpr void ormqr(Pool& pool, Shape s, const Persistent<T>& p, Body& body) {
  sp::ScratchScope scope(pool);
  body(BackTransform<T>{
      p, sp::tensor<T>(pool, "V", s.batch, s.n, s.panel), sp::tensor<T>(pool, "T", s.batch, s.panel, s.panel),
      sp::tensor<T>(pool, "W1", s.batch, s.panel, s.n), sp::tensor<T>(pool, "W2", s.batch, s.panel, s.n)});
}

/// The whole. Its three callees run one after another on the same bytes.
template <class T, class Body>
constexpr void syev(Pool& pool, Shape s, Body& body) {
  sp::ScratchScope scope(pool);
  const auto p = persistent<T>(pool, s);
  sytrd(pool, s, p, body);
  stedc(pool, s, p, body);
  ormqr(pool, s, p, body);
}

}  // namespace eigensolver
