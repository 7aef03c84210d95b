// A positive number kappa with 1 / (1 + kappa) ~ Beta(shape1, shape2), for the shape of a
// likelihood (likelihood/eps_insensitive.cpp), where that is the probability of a residual outside the tube.
// With theta = log kappa
//
//   p(theta) = kappa^shape2 (1 + kappa)^-(shape1 + shape2) / B(shape1, shape2)
//            = nu^shape1 (1 - nu)^shape2 / B(shape1, shape2),  nu = 1 / (1 + kappa).
//
// As all parameters are (R/parameters.R), kappa is kept as the root of a variance: one over kappa^2
// is hyper[0] / hyper[1].
#include <cmath>

#include "base/error.hpp"
#include "prior.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

class Beta : public Prior {
 public:
  explicit Beta(const Params& params)
      : shape1_(params.positive("shape1")), shape2_(params.positive("shape2")),
        log_beta_(log_gamma(shape1_) + log_gamma(shape2_) - log_gamma(shape1_ + shape2_)) {}

  bool exchangeable() const override { return true; }
  bool of_number() const override { return true; }
  Index hyper_size(Index) const override { return 2; }

  void start(const Moments&, VecRef hyper) const override { hyper.setOnes(); }
  void precision(ConstVecRef hyper, VecRef out) const override {
    out.setConstant(hyper[0] / hyper[1]);
  }
  void scale(VecRef hyper, double t) const override { hyper[1] *= t * t; }

  Index free_size(Index) const override { return 1; }
  void fix(ConstVecRef theta, VecRef hyper) const override { hyper << 1, std::exp(2 * theta[0]); }
  void free(ConstVecRef hyper, VecRef theta) const override {
    theta[0] = 0.5 * (std::log(hyper[1]) - std::log(hyper[0]));
  }

  double log_joint(const Moments& b, ConstVecRef theta, VecRef gradient) const override {
    if (b.count > 0)
      throw InvalidInput("prior", "A beta prior is of a parameter, not of coefficients.");
    const double in = log1p_exp(-theta[0]), out = log1p_exp(theta[0]);  // -log of 1 - nu and of nu
    gradient[0] = shape2_ * std::exp(-out) - shape1_ * std::exp(-in);
    return -shape1_ * out - shape2_ * in - log_beta_;
  }

  NamedNumbers report(ConstVecRef hyper) const override {
    return {{"inverse_mean", hyper[0] / hyper[1]}, {"mean", hyper[1] / hyper[0]}};
  }
  NamedNumbers drawn(ConstVecRef hyper) const override {
    return {{"variance", hyper[1] / hyper[0]}};
  }

 private:
  double shape1_, shape2_, log_beta_;
};

const Register<Prior, Beta> beta_entry("beta");

}  // namespace
}  // namespace bsvm
