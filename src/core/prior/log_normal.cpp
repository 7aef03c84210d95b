// A positive number whose logarithm theta is N(0, sd^2): by what factor a scale changes
// (likelihood/scaled_rows.cpp).
#include "of_number.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

class LogNormal : public OfNumber {
 public:
  explicit LogNormal(const Params& params) : sd_(params.positive("sd")) {}

 private:
  double log_density(double theta, double& slope) const override {
    const double z = theta / sd_;
    slope = -z / sd_;
    return -0.5 * (z * z + kLog2Pi) - std::log(sd_);
  }

  double sd_;
};

const Register<Prior, LogNormal> log_normal_entry("log_normal");

}  // namespace
}  // namespace bsvm
