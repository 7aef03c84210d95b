#include "group_states.hpp"

#include <algorithm>

#include "linalg/kernels.hpp"

namespace bsvm {

GroupStates::GroupStates(Index columns, Index effects, Index groups)
    : p(columns), q(effects), effect(Mat::Zero(q, groups)), step(Mat::Zero(q, groups)),
      next_step(Mat::Zero(q, groups)),
      precision(Mat::Zero(q * q, groups)), regression(Mat::Zero(p * q, groups)),
      next_precision(Mat::Zero(q * q, groups)),
      next_regression(Mat::Zero(p * q, groups)),
      curvature_regression(Mat::Zero(p * q, groups)) {}

void GroupStates::clear() {
  effect.setZero();
  step.setZero();
}

double group_change(const GroupPrecision& before, const GroupPrecision& next, Index p, Index q,
                    double* columns) {
  const SmallFactor factor(before.own, q);
  double ratio[kMostEffects * kMostEffects];
  std::copy(next.own, next.own + q * q, ratio);
  std::fill(columns, columns + p * q, 0.0);
  for (Index a = 0; a < q; ++a)
    for (Index b = 0; b < q; ++b) {
      add_multiple(columns + a * p, next.regression + b * p, ratio[b + a * q], p);
      add_multiple(columns + a * p, before.regression + b * p, -ratio[b + a * q], p);
    }
  solve_right_transposed(factor.l, q, p, columns);
  for (Index a = 0; a < q; ++a) small_forward(factor.l, q, ratio + a * q);
  solve_right_transposed(factor.l, q, q, ratio);
  for (Index a = 0; a < q; ++a) ratio[a + a * q] -= 1;
  return 0.5 * squared_length(ratio, q * q);
}

void add_group_moments(const GroupStates& states, const GroupRows& rows, RowBlock& block) {
  const Index p = states.p, q = states.q;
  const double* effect = states.effect.data() + rows.group * q;
  const double* regression = states.regression.data() + rows.group * p * q;
  const SmallFactor factor(states.precision.data() + rows.group * q * q, q);
  double z[kMostEffects];
  for (Index i = rows.first; i < rows.last; ++i) {
    const double* multiplier = block.z + i * q;
    double* centred = block.centred.data() + i * p;
    for (Index a = 0; a < q; ++a) {
      z[a] = multiplier[a];
      block.m[i] += z[a] * effect[a];
      add_multiple(centred, regression + a * p, -z[a], p);
    }
    small_forward(factor.l, q, z);
    block.v[i] += squared_length(z, q);
  }
}

// A_gg = sum omega z z' + D and A_gd' = sum omega c z'.
void group_sums(const GroupRows& rows, const Arr& omega, const double* prior, Index q,
                const RowBlock& block, double* A, double* coupling) {
  const Index p = block.p;
  std::copy(prior, prior + q * q, A);
  std::fill(coupling, coupling + p * q, 0.0);
  for (Index i = rows.first; i < rows.last; ++i) {
    const double* z = block.z + i * q;
    for (Index a = 0; a < q; ++a) {
      const double weighted = omega[i] * z[a];
      add_multiple(coupling + a * p, block.c + i * p, weighted, p);
      add_multiple(A + a * q, z, weighted, q);
    }
  }
}

void eliminate(const GroupRows& rows, const Arr& omega, const double* prior,
               const SmallFactor& prior_factor, Index q, Index group_column, RowBlock& block,
               double* precision, double* regression) {
  group_sums(rows, omega, prior, q, block, precision, regression);
  eliminate_sums(rows, prior_factor, q, group_column, block, precision, regression);
}

void eliminate_sums(const GroupRows& rows, const SmallFactor& prior_factor, Index q,
                    Index group_column, RowBlock& block, const double* precision,
                    double* regression, double least) {
  const Index p = block.p;
  double* B = regression;
  const SmallFactor factor(precision, q, least);
  solve_right_transposed(factor.l, q, p, B);
  solve_right(factor.l, q, p, B);
  for (Index i = rows.first; i < rows.last; ++i) {
    double* column = block.columns.data() + i * p;
    const double* z = block.z + i * q;
    subtract_multiple(column, block.c + i * p, B, z[0], p);
    for (Index a = 1; a < q; ++a) add_multiple(column, B + a * p, -z[a], p);
  }
  for (Index a = 0; a < q; ++a) {  // B' F, with D = F F'
    double* column = block.columns.data() + (group_column + a) * p;
    std::fill(column, column + p, 0.0);
    for (Index b = a; b < q; ++b) add_multiple(column, B + b * p, prior_factor.l[b + a * q], p);
  }
}

}  // namespace bsvm
