#include "units.hpp"

#include <cmath>

namespace bsvm {

Units::Units(Index columns, Index effects, Index groups)
    : p(columns), q(effects), effect(Mat::Zero(q, groups)), step(Mat::Zero(q, groups)),
      next_step(Mat::Zero(q, groups)),
      precision(Mat::Zero(q * q, groups)), regression(Mat::Zero(p * q, groups)),
      next_precision(Mat::Zero(q * q, groups)),
      next_regression(Mat::Zero(p * q, groups)),
      curvature_regression(Mat::Zero(p * q, groups)) {}

RowBlock::RowBlock(Index p, Index q, Index rows, Index units)
    : c(p, rows), centred(p, rows), z(q, rows), columns(p, rows + q * units), y(rows),
      weight(rows), offset(rows), m(rows), v(rows) {}

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

// to -= factor * from, length p.
inline void subtract(double* to, const double* from, double factor, Index p) {
  for (Index j = 0; j < p; ++j) to[j] -= factor * from[j];
}

}  // namespace

void add_unit_moments(const Units& units, const UnitRows& rows, RowBlock& block) {
  const Index p = units.p, q = units.q;
  const double* effect = units.effect.data() + rows.unit * q;
  const double* regression = units.regression.data() + rows.unit * p * q;
  SmallMat factor = Eigen::Map<const Mat>(units.precision.data() + rows.unit * q * q, q, q);
  small_cholesky(factor.data(), q);
  SmallVec z(q);
  for (Index i = rows.first; i < rows.last; ++i) {
    z = block.z.col(i);
    double* centred = block.centred.data() + i * p;
    for (Index a = 0; a < q; ++a) {
      block.m[i] += z[a] * effect[a];
      subtract(centred, regression + a * p, z[a], p);
    }
    small_forward(factor.data(), q, z.data());
    block.v[i] += z.squaredNorm();
  }
}

void eliminate(const UnitRows& rows, const Arr& omega, const SmallMat& prior,
               const SmallMat& prior_factor, Index unit_column, RowBlock& block,
               double* precision, double* regression) {
  const Index p = block.c.rows(), q = prior.rows();
  Eigen::Map<Mat> A(precision, q, q), B(regression, p, q);
  A = prior;
  B.setZero();
  for (Index i = rows.first; i < rows.last; ++i) {
    const double* z = block.z.data() + i * q;
    for (Index a = 0; a < q; ++a) {
      const double weighted = omega[i] * z[a];
      subtract(&B(0, a), block.c.data() + i * p, -weighted, p);
      for (Index b = 0; b < q; ++b) A(b, a) += weighted * z[b];
    }
  }
  SmallMat factor = A;
  small_cholesky(factor.data(), q);
  for (Index j = 0; j < p; ++j) {  // B' <- B' A^{-1}, a row of B' at a time
    SmallVec row = B.row(j);
    small_forward(factor.data(), q, row.data());
    small_backward(factor.data(), q, row.data());
    B.row(j) = row;
  }
  for (Index i = rows.first; i < rows.last; ++i) {
    double* column = block.columns.data() + i * p;
    const double* c = block.c.data() + i * p;
    const double root = std::sqrt(omega[i]);
    for (Index j = 0; j < p; ++j) column[j] = root * c[j];
    for (Index a = 0; a < q; ++a)
      subtract(column, &B(0, a), root * block.z(a, i), p);
  }
  block.columns.middleCols(unit_column, q).noalias() = B * prior_factor;
}

}  // namespace bsvm
