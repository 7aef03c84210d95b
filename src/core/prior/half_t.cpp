// b_j ~ N(0, s2) with a half-t prior on the standard deviation s, as a mixture
// (Wand, Ormerod, Padoan & Fruehwirth 2011):
//   s2 | a ~ IG(nu/2, nu/a),   a ~ IG(1/2, 1/scale^2),   nu = df
//
//   q(s2) = IG(alpha, B), alpha = (nu + m)/2,  B = nu E[1/a] + E|b|^2 / 2
//   q(a)  = IG(beta, C),  beta = (nu + 1)/2,   C = nu E[1/s2] + 1/scale^2
//
// Both conditions at once are a quadratic in E[1/s2]. A draw has IG(1, s2) and IG(1, a) in
// place of q(s2) and q(a).
#include <cmath>
#include <limits>

#include "prior.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

class HalfT : public Prior {
 public:
  explicit HalfT(const Params& params)
      : df_(params.positive("df")), rate_(std::pow(params.positive("scale"), -2)) {}

  bool exchangeable() const override { return true; }
  Index hyper_size(Index) const override { return 4; }  // alpha, B, beta, C

  void start(const Moments& b, VecRef hyper) const override { settle(b, 1, hyper); }

  void update(const Moments& b, double reach, VecRef hyper) const override {
    const Vec before = hyper;
    settle(b, mean_inverse(b), hyper);
    reach_further(before, reach, hyper);
  }

  void draw(const Moments& b, Draws& random, VecRef hyper) const override {
    const double inv_s2 = hyper[0] / hyper[1];
    const double a = random.inverse_gamma(0.5 * (df_ + 1), df_ * inv_s2 + rate_);
    const double s2 =
        draw_variance(0.5 * (df_ + b.seen()), df_ / a + 0.5 * b.square.sum(), random);
    hyper = Eigen::Vector4d(1, s2, 1, a);
  }

  void precision(ConstVecRef hyper, VecRef out) const override {
    out.setConstant(hyper[0] / hyper[1]);
  }

  double value(const Moments& b, ConstVecRef hyper) const override {
    const double alpha = hyper[0], B = hyper[1], beta = hyper[2], C = hyper[3];
    const double inv_s2 = alpha / B, log_inv_s2 = digamma(alpha) - std::log(B);
    const double inv_a = beta / C, log_inv_a = digamma(beta) - std::log(C);
    const double square = b.square.sum() + b.unseen / inv_s2;
    const double coefficients =
        0.5 * (b.count * (log_inv_s2 - kLog2Pi) - inv_s2 * square);
    const double s2_given_a =
        0.5 * df_ * (std::log(df_) + log_inv_a) - log_gamma(0.5 * df_) +
        (0.5 * df_ + 1) * log_inv_s2 - df_ * inv_a * inv_s2;
    const double a = 0.5 * std::log(rate_) - log_gamma(0.5) + 1.5 * log_inv_a -
                     rate_ * inv_a;
    const double q = log_density(alpha, B, log_inv_s2) + log_density(beta, C, log_inv_a);
    const double unseen = 0.5 * b.unseen * (1 + kLog2Pi - std::log(inv_s2));
    return coefficients + s2_given_a + a - q + unseen;
  }

  // Of the half-t itself, a integrated out: it is drawn anew, given s2, before it is used.
  double log_scaled(const Moments&, ConstVecRef hyper, double t) const override {
    const double variance = hyper[1] / hyper[0] * (t * t);
    if (!possible_variance(variance)) return -std::numeric_limits<double>::infinity();
    return std::log(t) - 0.5 * (df_ + 1) * std::log1p(rate_ / df_ * variance);
  }

  void scale(VecRef hyper, double t) const override { hyper[1] *= t * t; }

  Index free_size(Index) const override { return 1; }

  // With a as it is given s2.
  void fix(ConstVecRef theta, VecRef hyper) const override {
    hyper << 1, std::exp(2 * theta[0]), 0.5 * (df_ + 1),
        df_ * std::exp(-2 * theta[0]) + rate_;
  }

  void free(ConstVecRef hyper, VecRef theta) const override {
    theta[0] = 0.5 * (std::log(hyper[1]) - std::log(hyper[0]));
  }

  double log_joint(const Moments& b, ConstVecRef theta, VecRef gradient) const override {
    const double ratio = std::log(rate_ / df_) + 2 * theta[0];  // log s2 / (df scale^2)
    gradient[0] = 1 - (df_ + 1) * std::exp(ratio - log1p_exp(ratio));
    const double normaliser = std::log(2.0) + log_gamma(0.5 * (df_ + 1)) - log_gamma(0.5 * df_) -
                              log_gamma(0.5) + 0.5 * std::log(rate_ / df_);
    const double prior = normaliser + theta[0] - 0.5 * (df_ + 1) * log1p_exp(ratio);
    return prior + log_coefficients(b, theta[0], gradient[0]);
  }

  NamedNumbers report(ConstVecRef hyper) const override {
    const double mean = hyper[0] > 1 ? hyper[1] / (hyper[0] - 1)
                                     : std::numeric_limits<double>::infinity();
    return {{"shape", hyper[0]}, {"scale", hyper[1]},
            {"inverse_mean", hyper[0] / hyper[1]}, {"mean", mean},
            {"aux_shape", hyper[2]}, {"aux_scale", hyper[3]}};  // of q(a)
  }

  NamedNumbers drawn(ConstVecRef hyper) const override {
    return {{"variance", hyper[1] / hyper[0]}};
  }

 private:
  // E log of an inverse-gamma(shape, scale) density at itself.
  static double log_density(double shape, double scale, double log_inverse) {
    return shape * std::log(scale) - log_gamma(shape) + (shape + 1) * log_inverse - shape;
  }

  // The positive root E of  df beta E / (df E + rate) + E square/2 = alpha',
  // alpha' without the unseen half.
  double mean_inverse(const Moments& b) const {
    const double alpha = 0.5 * (df_ + b.count - b.unseen);
    const double beta = 0.5 * (df_ + 1), half = 0.5 * b.square.sum();
    const double linear = df_ * beta + half * rate_ - alpha * df_;
    const double root = std::hypot(linear, 2 * std::sqrt(half * df_ * alpha * rate_));
    return linear > 0 ? 2 * alpha * rate_ / (linear + root)
                      : (root - linear) / (2 * half * df_);
  }

  void settle(const Moments& b, double mean_inverse, VecRef hyper) const {
    hyper[0] = 0.5 * (df_ + b.count);
    hyper[1] = hyper[0] / mean_inverse;
    hyper[2] = 0.5 * (df_ + 1);
    hyper[3] = df_ * mean_inverse + rate_;
  }

  double df_, rate_;
};

const Register<Prior, HalfT> half_t_entry("half_t");

}  // namespace
}  // namespace bsvm
