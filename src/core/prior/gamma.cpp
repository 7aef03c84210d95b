// A positive number x with density proportional to x^(shape - 1) exp(-rate x), for the scales of a
// likelihood (likelihood/skewed_hinge.cpp). With theta = log x
//
//   p(theta) = rate^shape exp(shape theta - rate e^theta) / Gamma(shape).
#include <algorithm>

#include "of_number.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

class Gamma : public OfNumber {
 public:
  explicit Gamma(const Params& params)
      : shape_(params.positive("shape")), rate_(params.positive("rate")),
        constant_(shape_ * std::log(rate_) - log_gamma(shape_)) {}

 private:
  double log_density(double theta, double& slope) const override {
    const double out = rate_ * std::exp(std::min(theta, kFarthest));
    slope = shape_ - out;
    return constant_ + shape_ * theta - out;
  }

  static constexpr double kFarthest = 300;  // e^theta of any theta is a number

  double shape_, rate_, constant_;
};

const Register<Prior, Gamma> gamma_entry("gamma");

}  // namespace
}  // namespace bsvm
