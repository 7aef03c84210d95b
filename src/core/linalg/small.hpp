#pragma once
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/types.hpp"

namespace bsvm {

// The q x q algebra of one group, q a handful: plain loops on the stack, inlined,
// column-major like all else.
constexpr Index kMostEffects = 12;

// to += factor * from, length p.
inline void add_multiple(double* __restrict to, const double* __restrict from,
                         double factor, Index p) {
  for (Index j = 0; j < p; ++j) to[j] += factor * from[j];
}

// to = x - factor * y, length p.
inline void subtract_multiple(double* __restrict to, const double* __restrict x,
                              const double* __restrict y, double factor, Index p) {
  for (Index j = 0; j < p; ++j) to[j] = x[j] - factor * y[j];
}

inline double squared_length(const double* x, Index p) {
  double sum = 0;
  for (Index j = 0; j < p; ++j) sum += x[j] * x[j];
  return sum;
}

// Cholesky factor, lower, in place; the upper part is left alone. False if `a` is not
// positive definite. Pivots are `least` of their diagonal element at least: with it, a matrix that is
// singular to working accuracy has the factor of one that differs by so much.
inline bool small_cholesky(double* a, Index q, double least = 0) {
  for (Index j = 0; j < q; ++j) {
    const double floor = least * a[j + j * q];
    double pivot = a[j + j * q];
    for (Index k = 0; k < j; ++k) pivot -= a[j + k * q] * a[j + k * q];
    if (pivot < floor) pivot = floor;
    if (!(pivot > 0)) return false;
    a[j + j * q] = std::sqrt(pivot);
    for (Index i = j + 1; i < q; ++i) {
      double sum = a[i + j * q];
      for (Index k = 0; k < j; ++k) sum -= a[i + k * q] * a[j + k * q];
      a[i + j * q] = sum / a[j + j * q];
    }
  }
  return true;
}

// x <- L^{-1} x and x <- L^{-T} x.
inline void small_forward(const double* l, Index q, double* x) {
  for (Index i = 0; i < q; ++i) {
    for (Index k = 0; k < i; ++k) x[i] -= l[i + k * q] * x[k];
    x[i] /= l[i + i * q];
  }
}

inline void small_backward(const double* l, Index q, double* x) {
  for (Index i = q - 1; i >= 0; --i) {
    for (Index k = i + 1; k < q; ++k) x[i] -= l[k + i * q] * x[k];
    x[i] /= l[i + i * q];
  }
}

// B (p, q) <- B L^{-T} and B <- B L^{-1}, a column of B at a time.
inline void solve_right_transposed(const double* l, Index q, Index p, double* B) {
  for (Index a = 0; a < q; ++a) {
    double* column = B + a * p;
    for (Index k = 0; k < a; ++k) add_multiple(column, B + k * p, -l[a + k * q], p);
    for (Index j = 0; j < p; ++j) column[j] /= l[a + a * q];
  }
}

inline void solve_right(const double* l, Index q, Index p, double* B) {
  for (Index a = q - 1; a >= 0; --a) {
    double* column = B + a * p;
    for (Index k = a + 1; k < q; ++k) add_multiple(column, B + k * p, -l[k + a * q], p);
    for (Index j = 0; j < p; ++j) column[j] /= l[a + a * q];
  }
}

// 2 sum log diag L = log det L L'.
inline double small_logdet(const double* l, Index q) {
  double sum = 0;
  for (Index j = 0; j < q; ++j) sum += std::log(l[j + j * q]);
  return 2 * sum;
}

// The factor of a positive definite q x q matrix.
struct SmallFactor {
  double l[kMostEffects * kMostEffects];
  SmallFactor(const double* a, Index q, double least = 0) {
    std::copy(a, a + q * q, l);
    if (!small_cholesky(l, q, least))
      throw NumericalFailure(
          "The precision of a group's effects is not positive definite to working "
          "accuracy. Rescale what multiplies the effects, or give them a tighter prior.");
  }
};

}  // namespace bsvm
