// A positive number whose logarithm theta is N(log median, sd^2), the median 1 if none is given: by
// what factor a scale changes (likelihood/scaled_rows.cpp), or a number of a kernel, which starts at
// the one that was learned.
#include "of_number.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

class LogNormal : public OfNumber {
 public:
  explicit LogNormal(const Params& params)
      : sd_(params.positive("sd")),
        centre_(params.given("median") ? std::log(params.positive("median")) : 0),
        start_(params.given("start") ? params.positive("start") : 1) {}

  void start(const Moments&, VecRef hyper) const override { hyper << 1, start_ * start_; }

 private:
  double log_density(double theta, double& slope) const override {
    const double z = (theta - centre_) / sd_;
    slope = -z / sd_;
    return -0.5 * (z * z + kLog2Pi) - std::log(sd_);
  }

  double sd_, centre_, start_;
};

const Register<Prior, LogNormal> log_normal_entry("log_normal");

}  // namespace
}  // namespace bsvm
