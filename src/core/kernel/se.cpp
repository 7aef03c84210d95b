// The squared exponential, exp(-r2 / 2): functions with all derivatives.
#include "base/registry.hpp"
#include "radial.hpp"

namespace bsvm {
namespace {

class SquaredExponential : public Radial {
 public:
  explicit SquaredExponential(const Params& params) : Radial(params, 0) {}

 private:
  void profile(ConstVecRef, Eigen::Ref<Arr> r2) const override { r2 = (-0.5 * r2).exp(); }
  void times_slope(ConstVecRef, const Eigen::Ref<const Arr>& r2, Eigen::Ref<Arr> weight,
                   VecRef) const override {
    weight *= -0.5 * (-0.5 * r2).exp();
  }
};

const Register<Kernel, SquaredExponential> se_entry("se");

}  // namespace
}  // namespace bsvm
