#include "units.hpp"

#include <algorithm>
#include <cmath>

#include "../linalg/kernels.hpp"

namespace bsvm {

Units::Units(Index columns, Index effects, Index groups)
    : p(columns), q(effects), effect(Mat::Zero(q, groups)), step(Mat::Zero(q, groups)),
      next_step(Mat::Zero(q, groups)),
      precision(Mat::Zero(q * q, groups)), regression(Mat::Zero(p * q, groups)),
      next_precision(Mat::Zero(q * q, groups)),
      next_regression(Mat::Zero(p * q, groups)),
      curvature_regression(Mat::Zero(p * q, groups)) {}

RowBlock::RowBlock(Index p, Index q, Index rows, Index units)
    : c(Mat::Zero(p, (rows + 3) / 4 * 4)), centred(Mat::Zero(p, q > 0 ? c.cols() : 0)),
      z(q, rows), columns(p, q > 0 ? rows + q * units : 0), y(rows), weight(rows),
      m(rows), v(rows), packed(packed_size(p, rows + q * units)),
      packed_weighted(q > 0 ? 0 : packed.size()) {}

bool small_cholesky(double* a, Index q) {
  for (Index j = 0; j < q; ++j) {
    double pivot = a[j + j * q];
    for (Index k = 0; k < j; ++k) pivot -= a[j + k * q] * a[j + k * q];
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

void small_forward(const double* l, Index q, double* x) {
  for (Index i = 0; i < q; ++i) {
    for (Index k = 0; k < i; ++k) x[i] -= l[i + k * q] * x[k];
    x[i] /= l[i + i * q];
  }
}

void small_backward(const double* l, Index q, double* x) {
  for (Index i = q - 1; i >= 0; --i) {
    for (Index k = i + 1; k < q; ++k) x[i] -= l[k + i * q] * x[k];
    x[i] /= l[i + i * q];
  }
}

double small_logdet(const double* l, Index q) {
  double sum = 0;
  for (Index j = 0; j < q; ++j) sum += std::log(l[j + j * q]);
  return 2 * sum;
}

double relative_change(const double* before, const double* next, Index q) {
  SmallMat factor = Eigen::Map<const Mat>(before, q, q);
  SmallMat ratio = Eigen::Map<const Mat>(next, q, q);
  small_cholesky(factor.data(), q);
  for (int side = 0; side < 2; ++side) {
    for (Index a = 0; a < q; ++a) small_forward(factor.data(), q, ratio.data() + a * q);
    ratio.transposeInPlace();
  }
  return 0.5 * (ratio - SmallMat::Identity(q, q)).squaredNorm();
}

namespace {

// to += factor * from, length p.
inline void add_multiple(double* to, const double* from, double factor, Index p) {
  for (Index j = 0; j < p; ++j) to[j] += factor * from[j];
}

inline void divide(double* x, double by, Index p) {
  const double factor = 1 / by;
  for (Index j = 0; j < p; ++j) x[j] *= factor;
}

// B (p, q) <- B (L L')^{-1}, a column of B at a time.
void solve_right(const double* l, Index q, Index p, double* B) {
  for (Index a = 0; a < q; ++a) {
    for (Index k = 0; k < a; ++k) add_multiple(B + a * p, B + k * p, -l[a + k * q], p);
    divide(B + a * p, l[a + a * q], p);
  }
  for (Index a = q - 1; a >= 0; --a) {
    for (Index k = a + 1; k < q; ++k) add_multiple(B + a * p, B + k * p, -l[k + a * q], p);
    divide(B + a * p, l[a + a * q], p);
  }
}

}  // namespace

void add_unit_moments(const Units& units, const UnitRows& rows, RowBlock& block) {
  const Index p = units.p, q = units.q;
  const double* effect = units.effect.data() + rows.unit * q;
  const double* regression = units.regression.data() + rows.unit * p * q;
  SmallMat factor = Eigen::Map<const Mat>(units.precision.data() + rows.unit * q * q, q, q);
  small_cholesky(factor.data(), q);
  double z[kMostEffects];
  for (Index i = rows.first; i < rows.last; ++i) {
    const double* multiplier = block.z.data() + i * q;
    double* centred = block.centred.data() + i * p;
    for (Index a = 0; a < q; ++a) {
      z[a] = multiplier[a];
      block.m[i] += z[a] * effect[a];
      add_multiple(centred, regression + a * p, -z[a], p);
    }
    small_forward(factor.data(), q, z);
    for (Index a = 0; a < q; ++a) block.v[i] += z[a] * z[a];
  }
}

void eliminate(const UnitRows& rows, const Arr& omega, const Arr& root,
               const SmallMat& prior, const SmallMat& prior_factor, Index unit_column,
               RowBlock& block, double* precision, double* regression) {
  const Index p = block.c.rows(), q = prior.rows();
  double* A = precision;
  double* B = regression;
  std::copy(prior.data(), prior.data() + q * q, A);
  std::fill(B, B + p * q, 0.0);
  for (Index i = rows.first; i < rows.last; ++i) {
    const double* z = block.z.data() + i * q;
    for (Index a = 0; a < q; ++a) {
      const double weighted = omega[i] * z[a];
      add_multiple(B + a * p, block.c.data() + i * p, weighted, p);
      add_multiple(A + a * q, z, weighted, q);
    }
  }
  double factor[kMostEffects * kMostEffects];
  std::copy(A, A + q * q, factor);
  small_cholesky(factor, q);
  solve_right(factor, q, p, B);
  for (Index i = rows.first; i < rows.last; ++i) {
    double* column = block.columns.data() + i * p;
    const double* c = block.c.data() + i * p;
    const double* z = block.z.data() + i * q;
    for (Index j = 0; j < p; ++j) column[j] = root[i] * c[j];
    for (Index a = 0; a < q; ++a) add_multiple(column, B + a * p, -root[i] * z[a], p);
  }
  for (Index a = 0; a < q; ++a) {  // B' F, with D = F F'
    double* column = block.columns.data() + (unit_column + a) * p;
    std::fill(column, column + p, 0.0);
    for (Index b = a; b < q; ++b) add_multiple(column, B + b * p, prior_factor(b, a), p);
  }
}

}  // namespace bsvm
