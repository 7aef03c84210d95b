// A positive number kappa with 1 / (1 + kappa) ~ Beta(shape1, shape2), for the shape of a
// likelihood (likelihood/eps_insensitive.cpp), where that is the probability of a residual outside the tube.
// With theta = log kappa
//
//   p(theta) = kappa^shape2 (1 + kappa)^-(shape1 + shape2) / B(shape1, shape2)
//            = nu^shape1 (1 - nu)^shape2 / B(shape1, shape2),  nu = 1 / (1 + kappa).
#include "of_number.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

class Beta : public OfNumber {
 public:
  explicit Beta(const Params& params)
      : shape1_(params.positive("shape1")), shape2_(params.positive("shape2")),
        log_beta_(log_gamma(shape1_) + log_gamma(shape2_) - log_gamma(shape1_ + shape2_)) {}

 private:
  double log_density(double theta, double& slope) const override {
    const double in = log1p_exp(-theta), out = log1p_exp(theta);  // -log of 1 - nu and of nu
    slope = shape2_ * std::exp(-out) - shape1_ * std::exp(-in);
    return -shape1_ * out - shape2_ * in - log_beta_;
  }

  double shape1_, shape2_, log_beta_;
};

const Register<Prior, Beta> beta_entry("beta");

}  // namespace
}  // namespace bsvm
