#pragma once
#include "state.hpp"

namespace bsvm {

// What a set of rows says of the coefficients at a State: a quadratic model of
// their share of the objective, with the groups' own effects eliminated. Sums
// of disjoint sets of rows add, and one vector holds them all, so that they
// can come from a thread, a file or another machine.
struct RowSums {
  Index p = 0;
  Index raw = 0;  // p where the State has `scatter`, else 0
  Index own = 0;  // numbers of the latent: Layout::latent_sums
  Index parameters = 0, leaving = 0;  // as in Layout
  Vec x;

  explicit RowSums(Index columns) : RowSums(Layout{columns}) {}
  explicit RowSums(const Layout& l)
      : p(l.p), raw(l.scatter), own(l.latent_sums), parameters(l.parameters), leaving(l.leaving),
        x(Vec::Zero(leaving_start() + leaving)) {}

  void clear() { x.setZero(); }
  RowSums& operator+=(const RowSums& other) {
    x += other.x;
    return *this;
  }

  double& value() { return x[0]; }  // share of the bound
  double& rows() { return x[1]; }   // how many rows were seen: one lost on the way shows
  // Sum over groups of log det A_gg under the new weights.
  double& group_logdet() { return x[2]; }
  // Groups' share of the Newton decrement g' H^{-1} g.
  double& group_decrement() { return x[3]; }
  // Groups' share of the squared change of q's precision, in its own metric.
  double& group_change() { return x[4]; }
  // (p) gradient of the rows' share in the mean, groups eliminated.
  Eigen::Map<Vec> linear() { return {x.data() + 5, p}; }
  // (p, p), lower triangle: precision under the rows' weights, groups eliminated.
  Eigen::Map<Mat> weight() { return {x.data() + 5 + p, p, p}; }
  // (p, p), lower triangle: the same under the (damped) curvatures.
  Eigen::Map<Mat> curvature() { return {x.data() + 5 + p + p * p, p, p}; }
  // (p) or none: the diagonal of the precision under the rows' weights, nothing eliminated.
  Eigen::Map<Vec> raw_diagonal() { return {x.data() + 5 + p + 2 * p * p, raw}; }
  // Of the latent, which lays them out itself.
  Eigen::Map<Vec> latent() { return {x.data() + latent_start(), own}; }
  Eigen::Map<const Vec> latent() const { return {x.data() + latent_start(), own}; }

  // Derivatives of `value` in the parameters of the likelihood and of the blocks at fixed q, if
  // State::slopes() asks for them: (parameters) the first, (parameters, parameters) minus the second.
  Eigen::Map<Vec> pull() { return {x.data() + parameter_start(), parameters}; }
  Eigen::Map<const Vec> pull() const { return {x.data() + parameter_start(), parameters}; }
  Eigen::Map<Mat> bend() {
    return {x.data() + parameter_start() + parameters, parameters, parameters};
  }
  Eigen::Map<const Mat> bend() const {
    return {x.data() + parameter_start() + parameters, parameters, parameters};
  }

  // (leaving) derivatives of `value` in the variances of which rows have shares.
  Eigen::Map<Vec> left_over() { return {x.data() + leaving_start(), leaving}; }
  Eigen::Map<const Vec> left_over() const { return {x.data() + leaving_start(), leaving}; }

 private:
  Index leaving_start() const { return parameter_start() + parameters * (1 + parameters); }
  Index parameter_start() const { return latent_start() + own; }
  Index latent_start() const { return 5 + p + 2 * p * p + raw; }
};

}  // namespace bsvm
