#pragma once
#include "prior.hpp"

namespace bsvm {

// What priors on the covariance Sigma of q joint effects share: u ~ N(0, Sigma) for each
// of m levels, q(Sigma) = inverse Wishart(d, F F'), kept as {d, F (q, q)} with F lower
// triangular. A draw is written as d = 1, F F' = Sigma, so E Sigma^{-1} = d (F F')^{-1}
// either way. F and not F F', which is singular to working accuracy long before F is.
//
// With q = 1 it is an exchangeable prior on one variance, columns and unseen coefficients
// included, as ridge and half_t are.
class JointPrior : public Prior {
 public:
  bool exchangeable() const override { return q_ == 1; }
  Index effects() const override { return q_; }
  Index hyper_size(Index) const override { return 1 + q_ * q_; }

  void precision(ConstVecRef hyper, VecRef out) const override;
  void scale(VecRef hyper, double t) const override { hyper.segment(1, q_ * q_) *= t; }
  void stretch(Index a, VecRef hyper, double t) const override;
  NamedNumbers report(ConstVecRef hyper) const override;
  NamedNumbers drawn(ConstVecRef hyper) const override;

 protected:
  explicit JointPrior(const Params& params);  // `effects`

  Mat mean_inverse(ConstVecRef hyper) const;         // (q, q) E Sigma^{-1}
  double mean_log_inverse(ConstVecRef hyper) const;  // E log |Sigma^{-1}|
  // E log of the density of inverse Wishart(df, Lambda), given E log |Lambda|,
  // E tr(Lambda Sigma^{-1}) and E log |Sigma^{-1}|.
  double log_density(double df, double log_det, double trace, double log_inverse) const;
  // E log p(b | Sigma) + entropy of the unseen - E log q(Sigma).
  double value_without_prior(const Moments& b, ConstVecRef hyper) const;

  double levels(const Moments& b) const { return b.count / static_cast<double>(q_); }
  double seen_levels(const Moments& b) const { return b.seen() / static_cast<double>(q_); }
  Mat square(const Moments& b) const;  // (q, q) sum of E u u'

  // q(Sigma) = inverse Wishart(df, lambda).
  void settle(double df, const Mat& lambda, VecRef hyper) const;
  // The step from `before` taken `reach` times as far along the geodesic of positive
  // definite matrices, which for q = 1 is reach_further().
  void go_further(const Vec& before, double reach, VecRef hyper) const;
  void draw_covariance(double df, const Mat& lambda, Draws& random, VecRef hyper) const;

  // Would every variance of Sigma be possible if the standard deviation of effect a
  // (-1: of all) were t times what it is?
  bool possible(ConstVecRef hyper, Index a, double t) const;

  Index q_;

 private:
  Eigen::Map<const Mat> factor(ConstVecRef hyper) const { return {hyper.data() + 1, q_, q_}; }
  NamedNumbers lower_triangle(const char* what, const Mat& a) const;
};

}  // namespace bsvm
