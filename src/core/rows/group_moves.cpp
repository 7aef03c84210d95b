#include "group_moves.hpp"

#include "linalg/kernels.hpp"
#include "linalg/small.hpp"

namespace bsvm {

void finish_step(GroupStates& groups, Index group, const Mat& coupling, RowSums& out) {
  const Index p = groups.p, q = groups.q;
  double* gradient = groups.next_step.data() + group * q;
  const double* regression = coupling.data() + group * p * q;
  double* linear = out.linear().data();
  for (Index a = 0; a < q; ++a) add_multiple(linear, regression + a * p, -gradient[a], p);
  const SmallFactor factor(groups.next_precision.data() + group * q * q, q);
  small_forward(factor.l, q, gradient);
  out.group_decrement() += squared_length(gradient, q);
  small_backward(factor.l, q, gradient);
}

double groups_change(const GroupStates& groups, Index first, Index m, const double* inverse_factor,
                     double* columns) {
  const Index p = groups.p, q = groups.q;
  double sum = 0;
  for (Index g = 0; g < m; ++g) {
    const Index own = (first + g) * q * q, cross = (first + g) * p * q;
    sum += group_change({groups.precision.data() + own, groups.regression.data() + cross},
                        {groups.next_precision.data() + own, groups.next_regression.data() + cross},
                        p, q, columns + g * p * q);
  }
  Arr coupling = Arr::Zero(q * m);
  kernels().variances(inverse_factor, columns, p, q * m, coupling.data());
  return sum + coupling.sum();
}

void settle_groups(GroupStates& groups, Index first, Index m, const State& state, bool advance,
                   double change, const Mat& steps, Eigen::Ref<Mat> spread, Mat& out) {
  const Index p = groups.p, q = groups.q;
  const Mat& precision = advance ? groups.next_precision : groups.precision;
  const Mat& regression = advance ? groups.next_regression : groups.regression;
  auto step = groups.step.middleCols(first, m);
  if (advance) {
    step = groups.next_step.middleCols(first, m);
    Eigen::Map<const Mat> coupling(steps.data() + first * p * q, p, q * m);
    Eigen::Map<Vec>(step.data(), q * m).noalias() -= coupling.transpose() * state.step();
  }
  groups.effect.middleCols(first, m) += change * step;
  spread.noalias() = state.inverse_factor().triangularView<Eigen::Lower>() *
                     Eigen::Map<const Mat>(regression.data() + first * p * q, p, q * m);
  for (Index g = 0; g < m; ++g) {
    const SmallFactor own(precision.data() + (first + g) * q * q, q);
    const auto effect = groups.effect.col(first + g);
    const auto couplings = spread.middleCols(g * q, q);
    for (Index a = 0; a < q; ++a) {
      double column[kMostEffects] = {};  // of A_gg^{-1}
      column[a] = 1;
      small_forward(own.l, q, column);
      small_backward(own.l, q, column);
      for (Index b = 0; b < q; ++b)
        out(b, a) += effect[b] * effect[a] + column[b] + couplings.col(b).dot(couplings.col(a));
    }
  }
}

void draw_groups(GroupStates& groups, Index first, Index m, Index first_level, const State& state,
                 Mat& expected, Mat& out) {
  const Index p = groups.p, q = groups.q;
  Eigen::Map<const Mat> coupling(groups.next_regression.data() + first * p * q, p, q * m);
  auto mean = expected.middleCols(first, m);
  mean = groups.effect.middleCols(first, m) + groups.next_step.middleCols(first, m);
  Eigen::Map<Vec>(mean.data(), q * m).noalias() -= coupling.transpose() * state.step();
  for (Index g = first; g < first + m; ++g) {
    const SmallFactor own(groups.next_precision.data() + g * q * q, q);
    Draws random(state.key(), Purpose::groups, static_cast<std::uint64_t>(first_level + g));
    double noise[kMostEffects];
    for (Index a = 0; a < q; ++a) noise[a] = random.normal();
    small_backward(own.l, q, noise);
    double* effect = groups.effect.data() + g * q;
    for (Index a = 0; a < q; ++a) effect[a] = expected(a, g) + noise[a];
    for (Index a = 0; a < q; ++a) add_multiple(out.data() + a * q, effect, effect[a], q);
  }
}

}  // namespace bsvm
