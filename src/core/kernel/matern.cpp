// Matern kernels of smoothness nu = 1/2, 3/2, 5/2; with s = sqrt(2 nu r2) they and their slopes are
//
//   nu    phi(r2)                     dphi/dr2
//   1/2   exp(-s)                     -exp(-s) / (2 s), infinite at zero
//   3/2   (1 + s) exp(-s)             -(3/2) exp(-s)
//   5/2   (1 + s + s^2/3) exp(-s)     -(5/6) (1 + s) exp(-s)
#include "base/error.hpp"
#include "base/registry.hpp"
#include "radial.hpp"

namespace bsvm {
namespace {

class MaternHalf : public Radial {
 public:
  explicit MaternHalf(const Params& params) : Radial(params, 0) {}

 private:
  void profile(ConstVecRef, Eigen::Ref<Arr> r2) const override { r2 = (-r2.sqrt()).exp(); }
  void times_slope(ConstVecRef, const Eigen::Ref<const Arr>& r2, Eigen::Ref<Arr> weight,
                   VecRef) const override {
    const Arr s = r2.sqrt();
    weight *= -0.5 * (-s).exp() / s;
  }
};

class MaternThreeHalves : public Radial {
 public:
  explicit MaternThreeHalves(const Params& params) : Radial(params, 0) {}

 private:
  void profile(ConstVecRef, Eigen::Ref<Arr> r2) const override {
    const Arr s = (3 * r2).sqrt();
    r2 = (1 + s) * (-s).exp();
  }
  void times_slope(ConstVecRef, const Eigen::Ref<const Arr>& r2, Eigen::Ref<Arr> weight,
                   VecRef) const override {
    weight *= -1.5 * (-(3 * r2).sqrt()).exp();
  }
};

class MaternFiveHalves : public Radial {
 public:
  explicit MaternFiveHalves(const Params& params) : Radial(params, 0) {}

 private:
  void profile(ConstVecRef, Eigen::Ref<Arr> r2) const override {
    const Arr s = (5 * r2).sqrt();
    r2 = (1 + s * (1 + s / 3)) * (-s).exp();
  }
  void times_slope(ConstVecRef, const Eigen::Ref<const Arr>& r2, Eigen::Ref<Arr> weight,
                   VecRef) const override {
    const Arr s = (5 * r2).sqrt();
    weight *= (-5.0 / 6) * (1 + s) * (-s).exp();
  }
};

std::unique_ptr<Kernel> make_matern(const Params& params) {
  const double nu = params.positive("nu");
  if (nu == 0.5) return std::make_unique<MaternHalf>(params);
  if (nu == 1.5) return std::make_unique<MaternThreeHalves>(params);
  if (nu == 2.5) return std::make_unique<MaternFiveHalves>(params);
  throw InvalidInput("nu", "'nu' of matern must be 0.5, 1.5 or 2.5.");
}

const RegisterMaker<Kernel> matern_entry("matern", make_matern);

}  // namespace
}  // namespace bsvm
