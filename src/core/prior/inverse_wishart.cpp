// u ~ N(0, Sigma) for m levels of q joint effects, Sigma ~ inverse Wishart(df, Lambda)
// (000, section 3.1; Zhao, Staudenmayer, Coull & Wand 2006):
//
//   q(Sigma) = inverse Wishart(df + m, Lambda + S),  S = sum over levels of E u u'
#include <limits>

#include "base/error.hpp"
#include "joint.hpp"
#include "linalg/small.hpp"

namespace bsvm {
namespace {

class InverseWishart : public JointPrior {
 public:
  explicit InverseWishart(const Params& params)
      : JointPrior(params), df_(params.positive("df")), lambda_(q_, q_) {
    if (!(df_ > static_cast<double>(q_ - 1)))
      throw InvalidInput("df", "'df' of inverse_wishart must be above effects - 1.");
    for (Index j = 0; j < q_; ++j)
      for (Index i = j; i < q_; ++i) lambda_(i, j) = lambda_(j, i) = entry(params, i, j);
    Mat factor = lambda_;
    if (!small_cholesky(factor.data(), q_))
      throw InvalidInput("scale", "'scale' of inverse_wishart must be positive definite.");
    log_det_ = small_logdet(factor.data(), q_);
  }

  void start(const Moments& b, VecRef hyper) const override {
    const double df = df_ + levels(b);
    settle(df, df * Mat::Identity(q_, q_), hyper);
  }

  // Unseen coefficients (q = 1) enter at E b^2 = 1/precision, as in ridge.
  void update(const Moments& b, double reach, VecRef hyper) const override {
    const Vec before = hyper;
    const double df = df_ + levels(b);
    settle(df, df / (df - b.unseen) * (lambda_ + square(b)), hyper);
    go_further(before, reach, hyper);
  }

  void draw(const Moments& b, Draws& random, VecRef hyper) const override {
    draw_covariance(df_ + seen_levels(b), lambda_ + square(b), random, hyper);
  }

  double value(const Moments& b, ConstVecRef hyper) const override {
    return value_without_prior(b, hyper) +
           log_density(df_, log_det_, trace(hyper), mean_log_inverse(hyper));
  }

  // p(t u | t^2 Sigma) and the Jacobian of u cancel; that of Sigma is t^{q (q + 1)}.
  double log_scaled(const Moments&, ConstVecRef hyper, double t) const override {
    if (!possible(hyper, -1, t)) return -std::numeric_limits<double>::infinity();
    return -static_cast<double>(q_) * df_ * std::log(t) - 0.5 * trace(hyper) / (t * t);
  }

  // The Jacobian of Sigma is t^{q + 1} here.
  double log_stretched(Index a, ConstVecRef hyper, double t) const override {
    if (!possible(hyper, a, t)) return -std::numeric_limits<double>::infinity();
    const Mat inverse = mean_inverse(hyper);
    const double own = lambda_(a, a) * inverse(a, a);
    const double others = lambda_.col(a).dot(inverse.col(a)) - own;
    return -df_ * std::log(t) - (0.5 * own / t + others) / t;
  }

 protected:
  double prior_df() const override { return df_; }

  double log_rest(const Mat& inverse_root, Mat& T) const override {
    T = lambda_;
    return log_normaliser(df_, log_det_) -
           0.5 * (inverse_root * lambda_ * inverse_root.transpose()).trace();
  }

 private:
  static double entry(const Params& params, Index i, Index j) {
    const std::string name = "scale_" + std::to_string(i + 1) + "_" + std::to_string(j + 1);
    return i == j ? params.positive(name) : params.finite(name);
  }

  double trace(ConstVecRef hyper) const {
    return lambda_.cwiseProduct(mean_inverse(hyper)).sum();
  }

  double df_;
  Mat lambda_;
  double log_det_;
};

const Register<Prior, InverseWishart> inverse_wishart_entry("inverse_wishart");

}  // namespace
}  // namespace bsvm
