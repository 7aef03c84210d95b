#pragma once
#include "state.hpp"

namespace bsvm {

// What a set of rows says of the coefficients at a State: a quadratic model of
// their share of the objective, with the groups' own effects eliminated. Sums
// of disjoint sets of rows add, and one vector holds them all, so that they
// can come from a thread, a file or another machine. Of a level that is cut into pieces they know what
// its pieces have added so far, and whoever has all of it eliminates it (rows/large_levels.hpp).
struct RowSums {
  Index p = 0, q = 0;
  Index raw = 0;  // p where the State has `scatter`, else 0
  Index own = 0;  // numbers of the latent: Layout::latent_sums
  Index parameters = 0, leaving = 0, large = 0;  // as in Layout
  Vec x;

  explicit RowSums(Index columns) : RowSums(Layout{columns}) {}
  explicit RowSums(const Layout& l)
      : p(l.p), q(l.q), raw(l.scatter), own(l.latent_sums), parameters(l.parameters),
        leaving(l.leaving), large(l.large), x(Vec::Zero(large_start() + large_size())) {}

  void clear() { x.setZero(); }
  // The same bits as other += *this.
  RowSums& operator+=(const RowSums& other);

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

  // Of each large level: (q, large) its gradient, and under either precision A_gg (q q, large) and A_gd'
  // (p q, large), with the shares of the prior that its pieces had; zeros where none was seen.
  Eigen::Map<Mat> large_gradient() { return {x.data() + large_start(), q, large}; }
  Eigen::Map<Mat> large_precision(bool curvature) {
    return {x.data() + large_precision_start(curvature), q * q, large};
  }
  Eigen::Map<Mat> large_coupling(bool curvature) {
    return {x.data() + large_precision_start(curvature) + large * q * q, p * q, large};
  }
  // A piece whose rows, centred by itself, are in weight() or curvature() already.
  void add_piece(bool curvature, Index number, const double* precision, const double* coupling);

 private:
  Mat meetings(const RowSums& other, bool curvature) const;
  Index large_size() const { return large * (q + 2 * q * (q + p)); }
  Index large_start() const { return leaving_start() + leaving; }
  Index large_precision_start(bool curvature) const {
    return large_start() + large * (q + (curvature ? q * (q + p) : 0));
  }
  Index leaving_start() const { return parameter_start() + parameters * (1 + parameters); }
  Index parameter_start() const { return latent_start() + own; }
  Index latent_start() const { return 5 + p + 2 * p * p + raw; }
};

}  // namespace bsvm
