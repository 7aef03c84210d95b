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
  Index free_size(Index) const override { return q_ * (q_ + 1) / 2; }
  void fix(ConstVecRef theta, VecRef hyper) const override;
  void free(ConstVecRef hyper, VecRef theta) const override;
  double log_joint(const Moments& b, ConstVecRef theta, VecRef gradient) const override;
  NamedNumbers report(ConstVecRef hyper) const override;
  NamedNumbers drawn(ConstVecRef hyper) const override;

 protected:
  explicit JointPrior(const Params& params);  // `effects`

  // The prior of Sigma = F F', given F^{-1}: log p(Sigma) = -(df + q + 1) sum log F_jj + rest.
  // Returns `rest` and fills T (q, q), for which its differential is that of -tr(T Sigma^{-1})/2.
  virtual double prior_df() const = 0;
  virtual double log_rest(const Mat& inverse_root, Mat& T) const = 0;

  Mat mean_inverse(ConstVecRef hyper) const;         // (q, q) E Sigma^{-1}
  double mean_log_inverse(ConstVecRef hyper) const;  // E log |Sigma^{-1}|
  // E log of the density of inverse Wishart(df, Lambda), given E log |Lambda|,
  // E tr(Lambda Sigma^{-1}) and E log |Sigma^{-1}|.
  double log_density(double df, double log_det, double trace, double log_inverse) const;
  double log_normaliser(double df, double log_det) const;
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
  Mat unpack(ConstVecRef theta) const;  // F
  // The power of F_ii in p(Sigma) and in the Jacobian: |dSigma/dF| = 2^q prod_i F_ii^{q - i}, i
  // from zero, and dF_ii = F_ii d log F_ii.
  double diagonal_power(Index i) const { return -prior_df() - static_cast<double>(i); }

  Eigen::Map<const Mat> factor(ConstVecRef hyper) const { return {hyper.data() + 1, q_, q_}; }
  NamedNumbers lower_triangle(const char* what, const Mat& a) const;
};

}  // namespace bsvm
