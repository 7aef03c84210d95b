// b_j ~ N(0, s2), s2 ~ inverse-gamma(A, B) (000, Algorithm 2).
//
//   q(s2) = IG(A_q, B_q),  A_q = A + m/2,  B_q = B + E|b|^2 / 2
//
// E|b|^2 includes u unseen coefficients at E b^2 = B_q/A_q each, which turns
// the second equation into E 1/s2 = (A_q - u/2) / (B + seen/2). A draw has q(s2) = IG(1, s2)
// in their place; then the unseen are integrated out, and A + seen/2 is the shape.
#include <cmath>
#include <limits>

#include "prior.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

class Ridge : public Prior {
 public:
  explicit Ridge(const Params& params)
      : shape_(params.positive("shape")), scale_(params.positive("scale")) {}

  bool exchangeable() const override { return true; }
  Index hyper_size(Index) const override { return 2; }  // A_q, B_q

  void start(const Moments& b, VecRef hyper) const override {
    hyper.setConstant(shape_ + b.count / 2);
  }

  void update(const Moments& b, double reach, VecRef hyper) const override {
    const Vec before = hyper;
    hyper[0] = shape_ + b.count / 2;
    hyper[1] = hyper[0] * (scale_ + b.square.sum() / 2) / (hyper[0] - b.unseen / 2);
    reach_further(before, reach, hyper);
  }

  void draw(const Moments& b, Draws& random, VecRef hyper) const override {
    hyper[0] = 1;
    hyper[1] = draw_variance(shape_ + b.seen() / 2, scale_ + b.square.sum() / 2, random);
  }

  void precision(ConstVecRef hyper, VecRef out) const override {
    out.setConstant(hyper[0] / hyper[1]);
  }

  double value(const Moments& b, ConstVecRef hyper) const override {
    const double shape = hyper[0], scale = hyper[1], mean_inverse = shape / scale;
    const double mean_log_inverse = digamma(shape) - std::log(scale);
    const double square = b.square.sum() + b.unseen / mean_inverse;
    const double coefficients =
        0.5 * (b.count * (mean_log_inverse - kLog2Pi) - mean_inverse * square);
    const double prior = shape_ * std::log(scale_) - log_gamma(shape_) +
                         (shape_ + 1) * mean_log_inverse - scale_ * mean_inverse;
    const double q = shape * std::log(scale) - log_gamma(shape) +
                     (shape + 1) * mean_log_inverse - shape;
    const double unseen = 0.5 * b.unseen * (1 + kLog2Pi - std::log(mean_inverse));
    return coefficients + prior - q + unseen;
  }

  // p(t b | t^2 s2) and the Jacobian t^m of b cancel.
  double log_scaled(const Moments&, ConstVecRef hyper, double t) const override {
    const double variance = hyper[1] / hyper[0] * (t * t);
    if (!possible_variance(variance)) return -std::numeric_limits<double>::infinity();
    return -2 * shape_ * std::log(t) - scale_ / variance;
  }

  void scale(VecRef hyper, double t) const override { hyper[1] *= t * t; }

  Index free_size(Index) const override { return 1; }

  void fix(ConstVecRef theta, VecRef hyper) const override {
    hyper << 1, std::exp(2 * theta[0]);
  }

  void free(ConstVecRef hyper, VecRef theta) const override {
    theta[0] = 0.5 * (std::log(hyper[1]) - std::log(hyper[0]));
  }

  double log_joint(const Moments& b, ConstVecRef theta, VecRef gradient) const override {
    const double scaled = scale_ * std::exp(-2 * theta[0]);
    gradient[0] = 2 * (scaled - shape_);
    const double prior = std::log(2.0) + shape_ * (std::log(scale_) - 2 * theta[0]) -
                         log_gamma(shape_) - scaled;
    return prior + log_coefficients(b, theta[0], gradient[0]);
  }

  NamedNumbers report(ConstVecRef hyper) const override {
    const double mean = hyper[0] > 1 ? hyper[1] / (hyper[0] - 1)
                                     : std::numeric_limits<double>::infinity();
    return {{"shape", hyper[0]}, {"scale", hyper[1]},
            {"inverse_mean", hyper[0] / hyper[1]}, {"mean", mean}};
  }

  NamedNumbers drawn(ConstVecRef hyper) const override {
    return {{"variance", hyper[1] / hyper[0]}};
  }

 private:
  double shape_, scale_;
};

const Register<Prior, Ridge> ridge_entry("ridge");

}  // namespace
}  // namespace bsvm
