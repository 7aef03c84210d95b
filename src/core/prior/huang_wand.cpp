// u ~ N(0, Sigma) for m levels of q joint effects, half-t(df, scale_k) on each standard
// deviation, as a mixture (Huang & Wand 2013):
//   Sigma | a ~ inverse Wishart(df + q - 1, 2 df diag(1/a_k)),  a_k ~ IG(1/2, 1/scale_k^2)
// With df = 2 every correlation is uniform on (-1, 1).
//
//   q(Sigma) = inverse Wishart(df + q - 1 + m, 2 df diag(E[1/a_k]) + S)
//   q(a_k) = IG(beta, C_k),  beta = (df + q)/2,  C_k = df E[Sigma^{-1}]_kk + 1/scale_k^2
//
// S = sum over levels of E u u'. A draw has IG(1, a_k) in place of q(a_k).
#include <limits>

#include "joint.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

class HuangWand : public JointPrior {
 public:
  explicit HuangWand(const Params& params)
      : JointPrior(params), df_(params.positive("df")), rate_(q_) {
    for (Index k = 0; k < q_; ++k)
      rate_[k] = std::pow(params.positive("scale_" + std::to_string(k + 1)), -2);
  }

  Index hyper_size(Index m) const override {  // and beta, C
    return JointPrior::hyper_size(m) + 1 + q_;
  }

  void start(const Moments& b, VecRef hyper) const override {
    const double df = prior_df() + levels(b);
    settle(df, df * Mat::Identity(q_, q_), hyper);
    set_aux(df_ + rate_.array(), hyper);
  }

  void update(const Moments& b, double reach, VecRef hyper) const override {
    const Vec before = hyper;
    const double df = prior_df() + levels(b);
    const Mat s = square(b);
    const Arr inverse = fixed_point(df - b.unseen, s);
    settle(df, df / (df - b.unseen) * prior_scale(inverse, s), hyper);
    set_aux(beta() / inverse, hyper);
    go_further(before, reach, hyper);
    reach_further(before.tail(1 + q_), reach, hyper.tail(1 + q_));
  }

  void draw(const Moments& b, Draws& random, VecRef hyper) const override {
    const Arr rate = df_ * mean_inverse(hyper).diagonal() + rate_;
    Arr a(q_);
    for (Index k = 0; k < q_; ++k) a[k] = random.inverse_gamma(beta(), rate[k]);
    draw_covariance(prior_df() + seen_levels(b), prior_scale(1 / a, square(b)), random, hyper);
    set_aux(a, hyper);
    hyper[aux()] = 1;
  }

  double value(const Moments& b, ConstVecRef hyper) const override {
    const Vec mean = mean_inverse(hyper).diagonal();
    const double beta = hyper[aux()];
    double log_det = static_cast<double>(q_) * std::log(2 * df_), trace = 0, a = 0;
    for (Index k = 0; k < q_; ++k) {
      const double C = hyper[aux() + 1 + k], inverse = beta / C;
      const double log_inverse = digamma(beta) - std::log(C);
      log_det += log_inverse;
      trace += 2 * df_ * inverse * mean[k];
      a += 0.5 * std::log(rate_[k]) - log_gamma(0.5) + 1.5 * log_inverse - rate_[k] * inverse;
      a -= beta * std::log(C) - log_gamma(beta) + (beta + 1) * log_inverse - beta;
    }
    return value_without_prior(b, hyper) +
           log_density(prior_df(), log_det, trace, mean_log_inverse(hyper)) + a;
  }

  // Of Sigma's own prior, proportional to
  //   |Sigma|^{-(df + 2q)/2} prod_k (df (Sigma^{-1})_kk + 1/scale_k^2)^{-beta},
  // the a_k integrated out: they are drawn anew, given Sigma, before they are used.
  double log_scaled(const Moments&, ConstVecRef hyper, double t) const override {
    if (!possible(hyper, -1, t)) return -std::numeric_limits<double>::infinity();
    const Vec inverse = mean_inverse(hyper).diagonal();
    const Arr ratio = df_ * inverse.array() / rate_.array();
    return -static_cast<double>(q_) * prior_df() * std::log(t) -
           beta() * (ratio / (t * t)).log1p().sum();
  }

  double log_stretched(Index a, ConstVecRef hyper, double t) const override {
    if (!possible(hyper, a, t)) return -std::numeric_limits<double>::infinity();
    const double ratio = df_ * mean_inverse(hyper)(a, a) / rate_[a];
    return -prior_df() * std::log(t) - beta() * std::log1p(ratio / (t * t));
  }

  NamedNumbers report(ConstVecRef hyper) const override {
    NamedNumbers out = JointPrior::report(hyper);
    out.push_back({"aux_shape", hyper[aux()]});
    for (Index k = 0; k < q_; ++k)
      out.push_back({"aux_scale_" + std::to_string(k + 1), hyper[aux() + 1 + k]});
    return out;
  }

  // With a as it is given Sigma.
  void fix(ConstVecRef theta, VecRef hyper) const override {
    JointPrior::fix(theta, hyper);
    set_aux(df_ * mean_inverse(hyper).diagonal().array() + rate_.array(), hyper);
  }

 protected:
  double prior_df() const override { return df_ + static_cast<double>(q_ - 1); }

  // Of p(Sigma) as in log_scaled(), with the normaliser
  //   prod_k {df^{(df + q - 1)/2} Gamma(beta) / (scale_k Gamma(1/2))} / Gamma_q((df + q - 1)/2).
  double log_rest(const Mat& inverse_root, Mat& T) const override {
    const double q = static_cast<double>(q_);
    double out = log_normaliser(prior_df(), q * std::log(2 * df_));
    T.setZero();
    for (Index k = 0; k < q_; ++k) {
      const double log_ratio =
          2 * std::log(inverse_root.col(k).stableNorm()) + std::log(df_ / rate_[k]);
      const double log_sum = std::log(rate_[k]) + log1p_exp(log_ratio);
      T(k, k) = 2 * beta() * df_ * std::exp(-log_sum);
      out += 0.5 * std::log(rate_[k]) + log_gamma(beta()) - log_gamma(0.5) - beta() * log_sum;
    }
    return out;
  }

 private:
  double beta() const { return 0.5 * (df_ + static_cast<double>(q_)); }
  Index aux() const { return 1 + q_ * q_; }

  void set_aux(const Arr& rate, VecRef hyper) const {
    hyper[aux()] = beta();
    hyper.tail(q_) = rate.matrix();
  }

  // The scale of q(Sigma) at E[1/a] = inverse.
  Mat prior_scale(const Arr& inverse, Mat s) const {
    s.diagonal().array() += 2 * df_ * inverse;
    return s;
  }

  // E[1/a] where both conditions hold, df being q(Sigma)'s without the unseen: first as if S
  // were diagonal, which is exact for q = 1, then by turns.
  Arr fixed_point(double df, const Mat& s) const {
    Arr now(q_);
    for (Index k = 0; k < q_; ++k) now[k] = alone(df, s(k, k), rate_[k]);
    for (int turn = 0; q_ > 1 && turn < 500; ++turn) {
      Vec hyper(1 + q_ * q_);
      settle(df, prior_scale(now, s), hyper);
      const Arr next =
          beta() / (df_ * mean_inverse(hyper).diagonal().array() + rate_.array());
      const double change = (next / now - 1).abs().maxCoeff();
      now = next;
      if (change < 1e-14) break;
    }
    return now;
  }

  // The positive root x of  x {df_ df / (2 df_ x + square) + rate} = beta.
  double alone(double df, double square, double rate) const {
    const double linear = df_ * df + rate * square - 2 * df_ * beta();
    const double root = std::hypot(linear, std::sqrt(8 * df_ * rate * beta()) * std::sqrt(square));
    return linear > 0 ? 2 * beta() * square / (linear + root)
                      : (root - linear) / (4 * df_ * rate);
  }

  double df_;
  Vec rate_;
};

const Register<Prior, HuangWand> huang_wand_entry("huang_wand");

}  // namespace
}  // namespace bsvm
