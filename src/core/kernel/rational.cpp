// The rational quadratic, (1 + z)^{-a} with z = r2 / (2 a): squared exponentials of many length
// scales, the more alike the larger a. theta ends with log a. Slopes:
//
//   dphi/dr2 = -phi / (2 (1 + z)),   dphi/dlog a = a phi {z / (1 + z) - log(1 + z)}.
#include <cmath>

#include "base/registry.hpp"
#include "radial.hpp"

namespace bsvm {
namespace {

class RationalQuadratic : public Radial {
 public:
  explicit RationalQuadratic(const Params& params) : Radial(params, 1) {}

 private:
  void profile(ConstVecRef shape, Eigen::Ref<Arr> r2) const override {
    const double a = bounded_exp(shape[0]);
    r2 = (-a * logarithm(r2 / (2 * a))).exp();
  }
  void times_slope(ConstVecRef shape, const Eigen::Ref<const Arr>& r2, Eigen::Ref<Arr> weight,
                   VecRef pull) const override {
    const double a = bounded_exp(shape[0]);
    const Arr z = r2 / (2 * a), log = logarithm(z);
    weight *= (-a * log).exp();
    pull[0] += a * (weight * (z / (1 + z) - log)).sum();
    weight *= -0.5 / (1 + z);
  }

  static Arr logarithm(const Arr& z) {
    return z.unaryExpr([](double at) { return std::log1p(at); });
  }
};

const Register<Kernel, RationalQuadratic> rational_entry("rational");

}  // namespace
}  // namespace bsvm
