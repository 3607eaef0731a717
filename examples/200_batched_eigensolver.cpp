// SPDX-License-Identifier: MIT
// A batched symmetric eigensolver: eigenvalues and eigenvectors of many matrices of one size. Its workspace is the layouts
// of its steps, nested: reduction, divide and conquer, and back-transformation each run in a scope on the caller's pool, so
// what they need is counted once and not added up. No step passes a byte count to another.
//
// Two overloads: one runs in the caller's bytes, the other borrows them from an arena.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <scratchpad/scratchpad.hpp>
#include <scratchpad/workspace/workspace_arena.hpp>
#include <span>
#include <thread>
#include <vector>

#include "support/check.hpp"
#include "support/eigensolver_layout.hpp"
#include "support/eigensolver_steps.hpp"

#if defined(EXAMPLE_HAS_LAPACKE)
#include <lapacke.h>
#endif

namespace sp = scratchpad;
using eigensolver::Matrices;
using eigensolver::Pool;
using eigensolver::Shape;
using eigensolver::Vectors;

namespace {

// The host does the work at once.
struct HostQueue {
  static constexpr bool is_in_order() { return true; }
  void wait() {}
};
using Arena = sp::WorkspaceArena<HostQueue>;

template <class T>
constexpr std::size_t syev_bytes(Shape shape) {
  return sp::workspace_bytes<Pool>([shape](Pool& pool) { eigensolver::syev<T>(pool, shape, sp::no_work); });
}

// ---- the two overloads --------------------------------------------------------------------------------------------------

// In a workspace of the caller's, of at least syev_bytes<T>(...) bytes. `a` becomes the eigenvectors.
template <class T>
void syev(const Matrices<T>& a, const Vectors<T>& eigenvalues, std::size_t panel, std::span<std::byte> workspace) {
  Pool pool(workspace);
  const eigensolver::Solver<T> solver(a, eigenvalues);
  eigensolver::syev<T>(pool, Shape{a.extent(1), a.extent(0), panel}, solver);
}

// In a workspace borrowed for the call.
template <class T>
void syev(const Matrices<T>& a, const Vectors<T>& eigenvalues, std::size_t panel, Arena& arena) {
  auto lease = arena.lease(syev_bytes<T>(Shape{a.extent(1), a.extent(0), panel}), "syev");
  syev(a, eigenvalues, panel, lease);
}

// ---- sizes --------------------------------------------------------------------------------------------------------------

// What is reserved where each step's author adds up what the steps it calls have asked for: nothing is ever shared.
template <class T>
std::size_t summed_by_hand(Shape shape) {
  const auto body = sp::no_work;
  const auto persistent = [&](Pool& pool) { (void)eigensolver::persistent<T>(pool, shape); };
  const auto sytrd = [&](Pool& pool) { eigensolver::sytrd<T>(pool, shape, {}, body); };
  const auto stedc = [&](Pool& pool) { eigensolver::stedc<T>(pool, shape, {}, body); };
  const auto ormqr = [&](Pool& pool) { eigensolver::ormqr<T>(pool, shape, {}, body); };
  return sp::workspace_bytes(persistent) + sp::workspace_bytes(sytrd) + sp::workspace_bytes(stedc) +
         sp::workspace_bytes(ormqr);
}

void check_size(examples::Checks& checks, Shape shape, std::size_t by_hand, std::size_t scoped) {
  checks.equal("the sum by hand", summed_by_hand<float>(shape), by_hand);
  checks.equal("the scoped peak", syev_bytes<float>(shape), scoped);
  fmt::print("n = {:3}, batch = {:3}, panel = {:2}: {:.1f} MB summed by hand, {:.1f} MB scoped, {:.0f} % less\n",
             shape.n, shape.batch, shape.panel, std::floor(static_cast<double>(by_hand) / 1e5) / 10,
             std::floor(static_cast<double>(scoped) / 1e5) / 10,
             100 * (1 - static_cast<double>(scoped) / static_cast<double>(by_hand)));
}

// ---- results ------------------------------------------------------------------------------------------------------------

enum class Kind : std::uint8_t { random, zero, identity, wilkinson, rank_one, graded };
constexpr Kind kinds[] = {Kind::random, Kind::zero, Kind::identity, Kind::wilkinson, Kind::rank_one, Kind::graded};

// Also matrices whose eigenvalues coincide or nearly do: there divide and conquer deflates.
template <class T>
std::vector<T> make(Kind kind, Shape s) {
  std::vector<T> a(s.batch * s.n * s.n, T{0});
  std::mt19937 bits(static_cast<unsigned>(s.n));
  std::uniform_real_distribution<T> uniform(-1, 1);
  for (std::size_t k = 0; k < s.batch; ++k) {
    for (std::size_t i = 0; i < s.n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const auto distance = std::abs(static_cast<T>(s.n - 1) / 2 - static_cast<T>(i));
        T x = 0;
        if (kind == Kind::random) x = uniform(bits);
        if (kind == Kind::identity) x = i == j ? T{1} : T{0};
        if (kind == Kind::wilkinson) x = i == j ? distance : (i == j + 1 ? T{1} : T{0});
        if (kind == Kind::rank_one) x = T{1} + static_cast<T>(k);
        if (kind == Kind::graded) x = uniform(bits) * std::pow(T{10}, -static_cast<T>(i + j) / 8);
        a[(k * s.n + i) * s.n + j] = a[(k * s.n + j) * s.n + i] = x;
      }
    }
  }
  return a;
}

template <class T>
struct Errors {
  double residual = 0;       // of A X = X L, in units of n epsilon |A|
  double orthogonality = 0;  // of X' X = 1, in units of n epsilon
  double eigenvalues = 0;    // against LAPACK, in units of n epsilon |A|
  bool ascending = true;
};

template <class T>
Errors<T> errors_of(const std::vector<T>& a, const std::vector<T>& x, const std::vector<T>& w, Shape s) {
  Errors<T> errors;
  const std::size_t n = s.n;
  for (std::size_t k = 0; k < s.batch && n != 0; ++k) {
    const T* const ak = a.data() + k * n * n;
    const T* const xk = x.data() + k * n * n;
    const T* const wk = w.data() + k * n;
    double norm = 0;
    for (std::size_t i = 0; i < n * n; ++i) norm += static_cast<double>(ak[i]) * static_cast<double>(ak[i]);
    norm = std::max(std::sqrt(norm), static_cast<double>(std::numeric_limits<T>::min()));
    const double unit = static_cast<double>(n) * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (std::size_t i = 0; i < n; ++i) {
      if (i != 0 && wk[i] < wk[i - 1]) errors.ascending = false;
      for (std::size_t j = 0; j < n; ++j) {
        double residual = -static_cast<double>(xk[i * n + j]) * static_cast<double>(wk[j]);
        double product = i == j ? -1 : 0;
        for (std::size_t m = 0; m < n; ++m) {
          residual += static_cast<double>(ak[i * n + m]) * static_cast<double>(xk[m * n + j]);
          product += static_cast<double>(xk[m * n + i]) * static_cast<double>(xk[m * n + j]);
        }
        // Written so that a NaN fails.
        if (!(std::abs(residual) / (unit * norm) <= errors.residual))
          errors.residual = std::abs(residual) / (unit * norm);
        if (!(std::abs(product) / unit <= errors.orthogonality)) errors.orthogonality = std::abs(product) / unit;
      }
    }
#if defined(EXAMPLE_HAS_LAPACKE)
    std::vector<T> copy(ak, ak + n * n);
    std::vector<T> reference(n);
    const auto order = static_cast<lapack_int>(n);
    lapack_int info = 0;
    if constexpr (std::is_same_v<T, float>) {
      info = LAPACKE_ssyev(LAPACK_ROW_MAJOR, 'N', 'L', order, copy.data(), order, reference.data());
    } else {
      info = LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'L', order, copy.data(), order, reference.data());
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double off = std::abs(static_cast<double>(wk[i]) - static_cast<double>(reference[i])) / (unit * norm);
      if (info != 0 || !(off <= errors.eigenvalues)) errors.eigenvalues = info != 0 ? 1e300 : off;
    }
#endif
  }
  return errors;
}

template <class T>
void check_results(examples::Checks& checks, const char* type) {
  HostQueue queue;
  Arena arena(queue);
  Errors<T> worst;
  int runs = 0;
  for (const Shape s : {Shape{0, 3, 16}, Shape{1, 3, 16}, Shape{2, 1, 16}, Shape{3, 2, 1}, Shape{9, 2, 16},
                        Shape{17, 2, 4}, Shape{33, 1, 16}, Shape{64, 2, 16}, Shape{101, 1, 32}, Shape{5, 0, 16}}) {
    for (const Kind kind : kinds) {
      const std::vector<T> a = make<T>(kind, s);
      std::vector<T> x = a;
      std::vector<T> w(s.batch * s.n);
      const Matrices<T> matrices(x.data(), {s.batch, s.n, s.n});
      const Vectors<T> values(w.data(), {s.batch, s.n});

      // Exactly what was measured, in the caller's bytes.
      sp::ScratchBuffer own(syev_bytes<T>(s));
      syev<T>(matrices, values, s.panel, own);

      // The same again in borrowed ones.
      const std::vector<T> first = x;
      x = a;
      syev<T>(matrices, values, s.panel, arena);
      checks.holds("both overloads give the same bits", x == first);

      const Errors<T> errors = errors_of(a, x, w, s);
      checks.holds("eigenvalues ascend", errors.ascending);
      worst.residual = std::max(worst.residual, errors.residual);
      worst.orthogonality = std::max(worst.orthogonality, errors.orthogonality);
      worst.eigenvalues = std::max(worst.eigenvalues, errors.eigenvalues);
      ++runs;
    }
  }
  checks.holds("A X = X L within 4 n epsilon |A|", worst.residual <= 4);
  checks.holds("X' X = 1 within 4 n epsilon", worst.orthogonality <= 4);
  checks.holds("eigenvalues are LAPACK's within 4 n epsilon |A|", worst.eigenvalues <= 4);
  checks.equal("nothing is lent any more", arena.statistics().used, 0);
  fmt::print("{}: {} runs; in units of n epsilon: residual {:.2f}, orthogonality {:.2f}, eigenvalues ", type, runs,
             worst.residual, worst.orthogonality);
#if defined(EXAMPLE_HAS_LAPACKE)
  fmt::print("{:.2f} from LAPACK's\n", worst.eigenvalues);
#else
  fmt::print("not compared with LAPACK's: LAPACKE was not found\n");
#endif
}

// One queue, one arena, one pool for each thread; the batch is cut in parts.
void check_threads(examples::Checks& checks) {
  constexpr Shape all{24, 7, 8};
  constexpr std::size_t threads = 3;
  const std::vector<double> a = make<double>(Kind::random, all);
  std::vector<double> alone = a;
  std::vector<double> together = a;
  std::vector<double> w(all.batch * all.n);
  sp::ScratchBuffer workspace(syev_bytes<double>(all));
  syev<double>(Matrices<double>(alone.data(), {all.batch, all.n, all.n}), Vectors<double>(w.data(), {all.batch, all.n}),
               all.panel, workspace);

  std::vector<std::thread> workers;
  for (std::size_t t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      const std::size_t begin = all.batch * t / threads;
      const std::size_t count = all.batch * (t + 1) / threads - begin;
      HostQueue queue;
      Arena arena(queue);
      syev<double>(Matrices<double>(together.data() + begin * all.n * all.n, {count, all.n, all.n}),
                   Vectors<double>(w.data() + begin * all.n, {count, all.n}), all.panel, arena);
    });
  }
  for (std::thread& worker : workers) worker.join();
  checks.holds("three threads give the same bits as one", together == alone);
}

}  // namespace

int main() {
  examples::Checks checks;
  // Worked out apart from this program, from the list of blocks: 35.2 -> 26.3 MB and 119.1 -> 101.8 MB.
  check_size(checks, {64, 512, 16}, 35'258'368, 26'345'472);
  check_size(checks, {256, 128, 32}, 119'144'448, 101'842'944);
  check_results<float>(checks, "float");
  check_results<double>(checks, "double");
  check_threads(checks);
  return checks.result();
}
