// The exponential power law (002, (5), corrected: models.md, section 6)
//
//   p(b_j) = exp(-|b_j / (nu sigma_j)|^alpha) / (2 nu sigma_j Gamma(1 + 1/alpha)),  0 < alpha <= 2
//
// with nu fixed, or nu^-alpha ~ Gamma(shape, rate) (002, section 3.3). Given b the density of
// nu^-alpha is Gamma(shape + m/alpha, rate + sum_j |b_j / sigma_j|^alpha), whose mode is the CME-step.
#include <algorithm>
#include <cmath>

#include "../error.hpp"
#include "prior.hpp"

namespace bsvm {
namespace {

class Bridge : public Prior {
 public:
  explicit Bridge(const Params& params)
      : alpha_(params.finite("alpha")), nu_(params.finite("nu")),
        shape_(params.positive("shape")), rate_(params.positive("rate")),
        sigma_(params.numbers("sigma")) {
    if (alpha_ < 0 || alpha_ > 2)
      throw InvalidInput("alpha", "'alpha' of bridge must be in (0, 2], or 0: inferred.");
    if (nu_ < 0) throw InvalidInput("nu", "'nu' of bridge must be positive, or 0: inferred.");
    if ((sigma_.array() <= 0).any())
      throw InvalidInput("sigma", "'sigma' of bridge must be positive.");
  }

  bool supports(Use use) const override { return use == Use::point && alpha_ > 0; }
  bool exchangeable() const override { return false; }
  Index hyper_size(Index) const override { return 1; }  // nu

  void start(const Moments&, VecRef hyper) const override { hyper[0] = nu_ > 0 ? nu_ : 1; }
  void precision(ConstVecRef hyper, VecRef out) const override {
    out = 2 * (hyper[0] * scales(out.size())).cwiseAbs2().cwiseInverse();
  }

  Penalty penalty(ConstVecRef hyper, Index m) const override {
    return {alpha_, hyper[0] * scales(m)};
  }

  void to_mode(ConstVecRef b, VecRef hyper) const override {
    if (nu_ > 0) return;
    const double count = static_cast<double>(b.size()) / alpha_ + shape_ - 1;
    if (!(count > 0))
      throw InvalidInput("prior", "'shape' of a bridge prior is too small for nu to have a mode "
                                  "with so few coefficients.");
    const double sum = rate_ + (b.cwiseQuotient(scales(b.size()))).array().abs().pow(alpha_).sum();
    hyper[0] = std::pow(sum / count, 1 / alpha_);
  }

  NamedNumbers report(ConstVecRef hyper) const override { return {{"nu", hyper[0]}}; }
  NamedNumbers drawn(ConstVecRef hyper) const override { return {{"nu", hyper[0]}}; }

 private:
  // sigma_j, one where none were given.
  Vec scales(Index m) const { return sigma_.size() == 0 ? Vec::Ones(m) : sigma_; }

  double alpha_, nu_, shape_, rate_;
  Vec sigma_;  // (m) or empty
};

const Register<Prior, Bridge> entry("bridge");

}  // namespace
}  // namespace bsvm
