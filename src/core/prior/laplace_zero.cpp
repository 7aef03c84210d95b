// The Laplace-zero prior (000, section 3.2): a coefficient is g v,
//
//   v_k | b_k, s2 ~ N(0, s2 / b_k),  b_k ~ IG(1, 1/2),  s2 ~ IG(A, B),  g_k ~ Bernoulli(rho),
//
// so that v_k given s2 is Laplace with scale s. Under q, with O_k = E v_k^2 and t = E 1/s2,
//
//   q(b_k) is inverse Gaussian with shape 1 and mean b_k = (t O_k)^{-1/2},
//   q(s2) = IG(A_q, B_q),  A_q = A + m/2,  B_q = B + sum_k b_k O_k / 2,
//   q(g_k) is Bernoulli.
//
// The first two solve each other: sum_k b_k O_k = t^{-1/2} T, T = sum_k O_k^{1/2}, leaves
// B t + T t^{1/2} / 2 = A_q. With E log b_k the terms of q(b_k) cancel those of its prior, but
// for -log 2 - 1/(2 b_k).
//
// What hardly any row sees follows its prior, O_k = 1/(t b_k), and holds t where it is: in a pass
// t moves by about the share of the coefficients that are in. A bold update takes O_k as
// proportional to (1/(t b_k))^f_k. Then with b_k at its best
//
//   t b_k O_k = 1/b_k = c_k (t/t_0)^e_k,  e_k = (1 - f_k)/(2 - f_k),
//   c_k = (t_0 O_k b_k0^f_k)^{1/(2 - f_k)} from the values before,
//
// and of the power of t the sum takes 1 - 2 e_k + 2 e_k (t/t_0)^{1/2}, which is exact without f.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "prior.hpp"
#include "random/inverse_gaussian.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

// x log(y / x), which is 0 at x = 0.
double relative_log(double x, double y) { return x > 0 ? x * std::log(y / x) : 0; }

class LaplaceZero : public Prior {
 public:
  explicit LaplaceZero(const Params& params)
      : rho_(params.positive("rho")), shape_(params.positive("shape")),
        scale_(params.positive("scale")) {
    if (rho_ > 1) throw InvalidInput("rho", "'rho' of laplace_zero must be at most 1.");
  }

  bool supports(Use use) const override { return use == Use::augmented || use == Use::drawn; }
  bool exchangeable() const override { return false; }
  bool selects() const override { return true; }
  double log_odds(ConstVecRef) const override { return std::log(rho_) - std::log1p(-rho_); }

  Index hyper_size(Index m) const override { return 2 + 2 * m; }  // A_q, B_q, b_k, E g_k

  void start(const Moments& v, VecRef hyper) const override {
    hyper.setOnes();
    hyper.head(2).setConstant(shape_ + v.count / 2);
  }

  void update(const Moments& v, double reach, VecRef hyper) const override {
    const Index m = v.square.size();
    const Vec before = hyper.head(2 + m);
    const double t = before[0] / before[1], shape = shape_ + v.count / 2;
    const Arr f = v.follow.size() > 0 ? Arr(v.follow.array()) : Arr::Zero(m);
    const Arr power = (2 - f).inverse(), e = (1 - f) * power;
    const Arr c = (t * v.square.array() * before.tail(m).array().pow(f)).pow(power);
    const double held = ((1 - 2 * e) * c).sum() / 2, root = std::sqrt(t);
    const double next = positive_root((e * c).sum() / root, std::max(shape - held, shape_));
    hyper[0] = shape;
    hyper[1] = shape / (next * next);
    hyper.segment(2, m) = (c * (2 * std::log(next / root) * e).exp()).inverse();
    reach_further(before, reach, hyper.head(2 + m));
  }

  // What is out is integrated out: there b_k is a draw from its prior, 1/b_k of twice an
  // exponential law (000, Appendix B, but for that).
  void draw(const Moments& v, Draws& random, VecRef hyper) const override {
    const Index m = v.square.size();
    auto b = hyper.segment(2, m);
    const auto g = hyper.tail(m);
    const double square = g.cwiseProduct(b).dot(v.square);
    hyper[0] = 1;
    hyper[1] = draw_variance(shape_ + g.sum() / 2, scale_ + square / 2, random);
    for (Index k = 0; k < m; ++k) {
      const double normal = random.normal(), uniform = random.uniform();
      b[k] = g[k] != 0 ? inverse_gaussian(std::sqrt(v.square[k] / hyper[1]), normal, uniform)
                       : -0.5 / std::log(uniform);
    }
  }

  // p(t v | t^2 s2) of what is in and the Jacobian cancel.
  double log_scaled(const Moments&, ConstVecRef hyper, double t) const override {
    const double variance = hyper[1] / hyper[0] * (t * t);
    if (!possible_variance(variance)) return -std::numeric_limits<double>::infinity();
    return -2 * shape_ * std::log(t) - scale_ / variance;
  }

  void scale(VecRef hyper, double t) const override { hyper[1] *= t * t; }

  void precision(ConstVecRef hyper, VecRef out) const override {
    out = hyper[0] / hyper[1] * hyper.segment(2, out.size());
  }

  double value(const Moments& v, ConstVecRef hyper) const override {
    const Index m = v.square.size();
    const double shape = hyper[0], scale = hyper[1], mean_inverse = shape / scale;
    const double mean_log = std::log(scale) - digamma(shape);  // E log s2
    const Arr b = hyper.segment(2, m).array();
    const double coefficients =
        -0.5 * (mean_inverse * (b * v.square.array()).sum() + b.inverse().sum()) -
        v.count * (std::log(2.0) + 0.5 * mean_log);
    const double prior = shape_ * std::log(scale_) - log_gamma(shape_) -
                         (shape_ + 1) * mean_log - scale_ * mean_inverse;
    const double q = shape * std::log(scale) - log_gamma(shape) - (shape + 1) * mean_log - shape;
    return coefficients + prior - q + inclusion_value(hyper.tail(m));
  }

  NamedNumbers report(ConstVecRef hyper) const override {
    const Index m = (hyper.size() - 2) / 2;
    return {{"s", std::sqrt(hyper[1] / hyper[0])}, {"included", hyper.tail(m).sum()}};
  }

  NamedNumbers drawn(ConstVecRef hyper) const override {
    return {{"s", std::sqrt(hyper[1] / hyper[0])}};
  }

 private:
  // x > 0 with B x^2 + half x = right.
  double positive_root(double half, double right) const {
    return 2 * right / (half + std::sqrt(half * half + 4 * right * scale_));
  }

  // E log p(g) - E log q(g).
  double inclusion_value(ConstVecRef g) const {
    double sum = 0;
    for (Index k = 0; k < g.size(); ++k)
      sum += relative_log(g[k], rho_) + relative_log(1 - g[k], 1 - rho_);
    return sum;
  }

  double rho_, shape_, scale_;
};

const Register<Prior, LaplaceZero> laplace_zero_entry("laplace_zero");

}  // namespace
}  // namespace bsvm
