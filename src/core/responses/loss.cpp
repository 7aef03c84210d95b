#include "loss.hpp"

#include <algorithm>
#include <cmath>

#include "random/slice.hpp"
#include "random/truncated_normal.hpp"
#include "special/functions.hpp"
#include "special/normal_law.hpp"

namespace bsvm {

double log_below(double a) { return log_mills(-a) - 0.5 * (a * a + kLog2Pi); }

double log_between(double a, double b) {
  if (a >= 0) return log_between(-b, -a);
  if (b > 0) return std::log1p(-std::exp(log_below(a)) - std::exp(log_below(-b)));
  const double high = log_below(b), share = std::exp(log_below(a) - high);
  return share < 1 ? high + std::log1p(-share) : kNothing;
}

namespace {

// N(mean, sd^2) above and below `end`, and between two ends.
double draw_above(double end, double mean, double sd, Draws& random) {
  return end + sd * excess_above((end - mean) / sd, random);
}
double draw_below(double end, double mean, double sd, Draws& random) {
  return end - sd * excess_above((mean - end) / sd, random);
}
double draw_between(double low, double high, double mean, double sd, Draws& random) {
  const double width = (high - low) / sd;
  if (!(width > 0)) return low;
  if (0.5 * (low + high) >= mean) return low + sd * excess_within((low - mean) / sd, width, random);
  return high - sd * excess_within((mean - high) / sd, width, random);
}

class NormalLoss : public Loss {
 public:
  explicit NormalLoss(const Prior& prior) : prior_(prior), hyper_(prior.hyper_size(1)) {
    Moments shape;
    shape.count = 1;
    shape.square = Vec::Ones(1);
    prior.start(shape, hyper_);
    find();
  }

  double draw_latent(double y, double mean, double variance, Draws& random) const override {
    const double precision = 1 / variance + 1 / variance_;
    return (mean / variance + y / variance_) / precision + random.normal() / std::sqrt(precision);
  }

  void draw_numbers(const std::vector<double>& e, double, Draws& random) override {
    Moments moments;
    moments.square = Vec::Zero(1);
    for (const double own : e) moments.square[0] += own * own;
    moments.count = static_cast<double>(e.size());
    prior_.draw(moments, random, hyper_);
    find();
  }

  double log_density(const std::vector<double>& e) const override {
    double out = 0;
    for (const double own : e) out -= 0.5 * own * own / variance_;
    return out;
  }
  Vec numbers() const override { return Vec::Constant(1, variance_); }
  Vec state() const override { return hyper_; }
  void restore(ConstVecRef state) override {
    hyper_ = state;
    find();
  }

 private:
  void find() {
    Vec precision(1);
    prior_.precision(hyper_, precision);
    variance_ = 1 / precision[0];
  }

  const Prior& prior_;
  Vec hyper_;
  double variance_ = 1;
};

class TubeLoss : public Loss {
 public:
  TubeLoss(double scale, double nu, double a, double b)
      : scale_(scale > 0 ? scale : 0.3), nu_(nu > 0 ? nu : 0.5), a_(a), b_(b),
        draws_scale_(!(scale > 0)), draws_nu_(!(nu > 0)) {}

  // Three parts: z below y - epsilon, within, above, where it is N(mean + variance/s, variance),
  // N(mean, variance) and N(mean - variance/s, variance).
  double draw_latent(double y, double mean, double variance, Draws& random) const override {
    const double sd = std::sqrt(variance), up = variance / scale_, width = epsilon();
    const double low = y - width, high = y + width;
    // log of exp{-(low - mean)/s + variance/(2 s^2)} Phi((low - mean - up)/sd), and its mirror
    // image
    const auto outer = [&](double away) {
      return log_mills((up + away) / sd) - 0.5 * (away * away / variance + kLog2Pi);
    };
    const double below = outer(mean - low), above = outer(high - mean);
    const double within = width > 0 ? log_between((low - mean) / sd, (high - mean) / sd) : kNothing;
    const double most = std::max({below, above, within});
    const double p_below = std::exp(below - most), p_above = std::exp(above - most);
    const double u = random.uniform() * (p_below + p_above + std::exp(within - most));
    if (u < p_below) return draw_below(low, mean + up, sd, random);
    if (u < p_below + p_above) return draw_above(high, mean - up, sd, random);
    return draw_between(low, high, mean, sd, random);
  }

  // Each by a slice: log s and logit nu.
  void draw_numbers(const std::vector<double>& e, double variance, Draws& random) override {
    const auto log_density = [&](double scale, double nu) {
      double out = of_residuals(e, scale, nu);
      if (draws_scale_) out += log_share(scale, nu, variance);
      if (draws_nu_) out += a_ * std::log(nu) + b_ * std::log1p(-nu);
      return std::isnan(out) ? kNothing : out;
    };
    if (draws_scale_) {
      const double here = scale_;
      scale_ = here * std::exp(slice([&](double step) {
                 return std::abs(step) < 50 ? log_density(here * std::exp(step), nu_) : kNothing;
               }, 1, random));
    }
    if (draws_nu_) {
      const double here = std::log(nu_) - std::log1p(-nu_);
      const auto nu = [&](double step) { return 1 / (1 + std::exp(-(here + step))); };
      nu_ = nu(slice([&](double step) {
        const double own = nu(step);
        return own > 1e-6 && own < 1 ? log_density(scale_, own) : kNothing;
      }, 1, random));
    }
  }

  double log_density(const std::vector<double>& e) const override {
    return of_residuals(e, scale_, nu_);
  }
  bool has_share() const override { return draws_scale_; }
  double log_prior(double variance, double t) const override {
    return draws_scale_ ? log_share(t * scale_, nu_, variance) : 0;
  }
  void stretch(double t) override { scale_ *= t; }
  Vec numbers() const override { return Eigen::Vector2d(scale_, nu_); }
  void restore(ConstVecRef state) override {
    scale_ = state[0];
    nu_ = state[1];
  }

 private:
  static double of_residuals(const std::vector<double>& e, double scale, double nu) {
    const double width = scale * (1 - nu) / nu;
    double loss = 0;
    for (const double own : e) loss += std::max(std::abs(own) - width, 0.0);
    return static_cast<double>(e.size()) * std::log(nu / scale) - loss / scale;
  }

  double epsilon() const { return scale_ * (1 - nu_) / nu_; }

  // log of dw/d log s = 2 w (1 - w), w = V/(V + variance).
  static double log_share(double scale, double nu, double variance) {
    const double kappa = (1 - nu) / nu;
    const double own = scale * scale * ((1 - nu) * kappa * kappa / 3 +
                                        nu * (kappa * kappa + 2 * kappa + 2));
    return std::log(2.0) + std::log(own) + std::log(variance) - 2 * std::log(own + variance);
  }

  double scale_, nu_, a_, b_;
  bool draws_scale_, draws_nu_;
};

}  // namespace

std::unique_ptr<Loss> make_normal_loss(const Prior& variance) {
  return std::unique_ptr<Loss>(new NormalLoss(variance));
}

std::unique_ptr<Loss> make_tube_loss(double scale, double nu, double a, double b) {
  return std::unique_ptr<Loss>(new TubeLoss(scale, nu, a, b));
}

}  // namespace bsvm
