// The exponential power law (002, (5), corrected: models.md, section 6)
//
//   p(b_j) = exp(-|b_j / (nu sigma_j)|^alpha) / (2 nu sigma_j Gamma(1 + 1/alpha)),  0 < alpha <= 2
//
// with nu fixed, or lambda = nu^-alpha ~ Gamma(shape, rate) given alpha (002, section 3.3), and
// alpha fixed or uniform. Given b, lambda is Gamma(shape + m/alpha, rate + S), S(alpha) = sum_j
// |b_j / sigma_j|^alpha; the mode of that is the CME-step. With lambda integrated out
//
//   p(b | alpha) = Gamma(shape + m/alpha) / {(rate + S)^(shape + m/alpha) Gamma(1 + 1/alpha)^m}
//
// up to what does not depend on alpha. As a mixture, b_j ~ N(0, nu^2 sigma_j^2 / tau_j), tau_j
// given z = |b_j / (nu sigma_j)| that of power_mixture.hpp. tau is drawn last: alpha and nu are
// drawn from laws in which it is integrated out.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "prior.hpp"
#include "random/power_mixture.hpp"
#include "random/slice.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

// Draws stay where numbers do.
constexpr double kLeastExponent = 0.05;
constexpr double kLogLeastNu = -345, kLogMostNu = 23;  // 1e-150, 1e10
constexpr double kLeastPrecision = 1e-100, kMostPrecision = 1e100;

bool possible_scale(double log_nu) { return log_nu >= kLogLeastNu && log_nu <= kLogMostNu; }

class Bridge : public Prior {
 public:
  explicit Bridge(const Params& params)
      : alpha_(params.finite("alpha")), nu_(params.finite("nu")),
        shape_(params.positive("shape")), rate_(params.positive("rate")),
        sigma_(params.positives("sigma")) {
    if (alpha_ < 0 || alpha_ > 2)
      throw InvalidInput("alpha", "'alpha' of bridge must be in (0, 2], or 0: inferred.");
    if (nu_ < 0) throw InvalidInput("nu", "'nu' of bridge must be positive, or 0: inferred.");
  }

  bool supports(Use use) const override {
    if (use == Use::point) return alpha_ > 0;
    return use == Use::drawn && (alpha_ == 0 || alpha_ >= kLeastExponent);
  }
  bool exchangeable() const override { return false; }
  Index hyper_size(Index m) const override { return 2 + m; }  // nu, alpha, precisions

  void start(const Moments&, VecRef hyper) const override {
    const Index m = hyper.size() - 2;
    hyper[0] = nu_ > 0 ? nu_ : 1;
    hyper[1] = alpha_ > 0 ? alpha_ : 1;
    hyper.tail(m) = (2 * (hyper[0] * scales(m)).cwiseAbs2().cwiseInverse())
                        .cwiseMax(kLeastPrecision).cwiseMin(kMostPrecision);
  }

  void precision(ConstVecRef hyper, VecRef out) const override { out = hyper.tail(out.size()); }

  void draw(const Moments& b, Draws& random, VecRef hyper) const override {
    const Index m = b.square.size();
    const Vec log_size = 0.5 * b.square.array().log() - scales(m).array().log();
    const double alpha = alpha_ > 0 ? alpha_ : draw_exponent(log_size, hyper[1], random);
    const double log_nu = nu_ > 0 ? std::log(nu_) : draw_log_nu(log_size, alpha, random);
    hyper.head(2) << std::exp(log_nu), alpha;
    for (Index j = 0; j < m; ++j) {
      const double log_tau = draw_log_mixing(alpha, log_size[j] - log_nu, random);
      const double precision = std::exp(log_tau - 2 * (log_nu + std::log(scale_of(j))));
      hyper[2 + j] = std::min(std::max(precision, kLeastPrecision), kMostPrecision);
    }
  }

  // tau stays as it is. Where nu moves, p(t b | t nu, tau) and the Jacobian t^m of b cancel.
  double log_scaled(const Moments& b, ConstVecRef hyper, double t) const override {
    const Index m = b.square.size();
    if (nu_ > 0)
      return static_cast<double>(m) * std::log(t) - 0.5 * t * t * b.square.dot(hyper.tail(m));
    const double alpha = hyper[1], log_nu = std::log(hyper[0]) + std::log(t);
    if (!possible_scale(log_nu)) return -std::numeric_limits<double>::infinity();
    return -alpha * shape_ * log_nu - rate_ * std::exp(-alpha * log_nu);
  }

  void scale(VecRef hyper, double t) const override {
    if (nu_ > 0) return;
    hyper[0] *= t;
    hyper.tail(hyper.size() - 2) /= t * t;
  }

  Penalty penalty(ConstVecRef hyper, Index m) const override {
    return {alpha_, hyper[0] * scales(m)};
  }

  void to_mode(ConstVecRef b, VecRef hyper) const override {
    if (nu_ > 0) return;
    const double count = static_cast<double>(b.size()) / alpha_ + shape_ - 1;
    if (!(count > 0))
      throw InvalidInput("prior",
                         "'shape' of a bridge prior is too small for nu to have a mode: the "
                         "number of coefficients / alpha + shape must be above 1.");
    const double sum = rate_ + (b.cwiseQuotient(scales(b.size()))).array().abs().pow(alpha_).sum();
    hyper[0] = std::pow(sum / count, 1 / alpha_);
  }

  double loss(ConstVecRef b, ConstVecRef hyper) const override {
    const double penalty = Prior::loss(b, hyper);
    if (nu_ > 0) return penalty;
    const double count = static_cast<double>(b.size()) / alpha_ + shape_ - 1;
    return penalty + count * alpha_ * std::log(hyper[0]) + rate_ * std::pow(hyper[0], -alpha_);
  }

  NamedNumbers report(ConstVecRef hyper) const override { return {{"nu", hyper[0]}}; }
  NamedNumbers drawn(ConstVecRef hyper) const override {
    NamedNumbers out;
    if (nu_ == 0) out.push_back({"nu", hyper[0]});
    if (alpha_ == 0) out.push_back({"alpha", hyper[1]});
    return out;
  }

 private:
  // sigma_j, one where none were given.
  double scale_of(Index j) const { return sigma_.size() == 0 ? 1 : sigma_[j]; }
  Vec scales(Index m) const { return sigma_.size() == 0 ? Vec::Ones(m) : sigma_; }

  // log p(b | alpha), and with nu fixed given that, up to a constant.
  double log_exponent(const Vec& log_size, double alpha) const {
    const double m = static_cast<double>(log_size.size());
    const double normaliser = -m * log_gamma(1 + 1 / alpha);
    if (nu_ > 0) return normaliser - (alpha * (log_size.array() - std::log(nu_))).exp().sum();
    const double shape = shape_ + m / alpha;
    const double sum = rate_ + (alpha * log_size.array()).exp().sum();
    return normaliser + log_gamma(shape) - shape * std::log(sum);
  }

  // By slice sampling of the logit of its place between kLeastExponent and 2, as far as doubles
  // tell it from both.
  double draw_exponent(const Vec& log_size, double before, Draws& random) const {
    const double range = 2 - kLeastExponent, share = (before - kLeastExponent) / range;
    const double now = std::log(share) - std::log1p(-share);
    const auto exponent = [&](double x) {
      return kLeastExponent + range / (1 + std::exp(-now - x));
    };
    return exponent(slice([&](double x) {
      if (std::abs(now + x) > 30) return -std::numeric_limits<double>::infinity();
      const double jacobian = -log1p_exp(now + x) - log1p_exp(-now - x);
      return log_exponent(log_size, exponent(x)) + jacobian;
    }, 1, random));
  }

  double draw_log_nu(const Vec& log_size, double alpha, Draws& random) const {
    const double shape = shape_ + static_cast<double>(log_size.size()) / alpha;
    const double log_rate = std::log(rate_ + (alpha * log_size.array()).exp().sum());
    double log_nu = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 1000 && !possible_scale(log_nu); ++k)
      log_nu = (log_rate - random.log_gamma_draw(shape)) / alpha;
    return std::min(std::max(log_nu, kLogLeastNu), kLogMostNu);
  }

  double alpha_, nu_, shape_, rate_;
  Vec sigma_;  // (m) or empty
};

const Register<Prior, Bridge> bridge_entry("bridge");

}  // namespace
}  // namespace bsvm
