// The skewed hinge pseudo-likelihood (001, equation 5): with u = 1 - y f
//
//   log L(y, f) = -gamma (c |u| + u) + log(gamma0 / c),  c = sqrt(1 + 2 gamma0 / gamma),
//
// without the constant where gamma0 is zero: exp{-2 gamma (u)_+}. With
//
//   a = gamma (c + 1),  b = gamma (c - 1) = 2 gamma gamma0 / a
//
// the loss is a (u)_+ + b (-u)_+, and gamma0 / c = 1 / (1/a + 1/b): the two hinges of a residual
// 1 - g that is u, g = y f. Both have their kink where g is one, so that one latent scale is enough
// for the two: with h = w gamma c u, w the row's weight,
//
//   L^w = (gamma0 / c)^w exp(-w gamma u) exp(-|h|),
//
// and exp(-|h|) is an average of exp(-tau h^2 / 2) over tau, which given h is inverse Gaussian with
// mean 1/|h| and shape 1; at w = 1, tau gamma c^2 is 001's 1/lambda. Averaged over, one scale and
// one for each hinge come to the same bound.
//
// `gamma` and `gamma0` are given or not. What is not is inferred: log gamma, then log gamma0.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "family.hpp"
#include "random/inverse_gaussian.hpp"
#include "two_hinges.hpp"

namespace bsvm {
namespace {

class SkewedHinge : public Likelihood {
 public:
  SkewedHinge(double gamma, double gamma0)
      : SkewedHinge(gamma, gamma0, std::sqrt(gamma * (gamma + 2 * gamma0))) {}

  bool supports(Use use) const override { return of_margin_.supports(use); }
  void check(const double* y, Index n) const override { check_signs(y, n); }
  // That of the hinge, whose slope is two, or less where it is steeper.
  double most_offset() const override { return kUnitsOfOffset / std::max(1.0, 0.5 * a_); }
  const char* offset_scale() const override { return kMarginScale; }

  Atoms atoms(double y) const override { return {b_ > 0 ? 2 : 1, {{y, -y, a_}, {y, y, b_}}}; }

  void terms(Use use, const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
             const Eigen::Ref<const Arr>& v, RowTerms& out) const override {
    of_margin_.terms(use, Arr::Ones(y.size()), y * m, v, out);
    out.slope *= y;
  }

  void draw(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& f,
            const Eigen::Ref<const Arr>& weight, const RowDraws& random,
            RowTerms& out) const override {
    for (Index i = 0; i < y.size(); ++i) {
      const double u = 1 - y[i] * f[i], steep = weight[i] * even_;
      const double tau =
          inverse_gaussian(steep * std::abs(u), random.normal[i], random.uniform[i]);
      out.value[i] = weight[i] * (log_c_ - (a_ * std::max(u, 0.0) + b_ * std::max(-u, 0.0)));
      out.slope[i] = y[i] * (weight[i] * gamma_ + steep * (tau * (steep * u)));
      out.weight[i] = out.curvature[i] = steep * steep * tau;
    }
  }

  // A few rows at a time, which stay near.
  double over(const LineRows& rows, double s, double t) const override {
    constexpr Index kAtATime = 256;
    Eigen::Array<double, kAtATime, 4> near;  // one, y f, y a, y b
    near.col(0).setOnes();
    double sum = 0;
    for (Index from = 0; from < rows.r; from += kAtATime) {
      const Index r = std::min(kAtATime, rows.r - from);
      const auto turn = [&](const double* of, Index to) {
        for (Index i = 0; i < r; ++i) near(i, to) = rows.y[from + i] * of[from + i];
      };
      turn(rows.f, 1);
      if (rows.a) turn(rows.a, 2);
      turn(rows.b, 3);
      const double* column = near.data();
      sum += of_margin_.over({column, column + kAtATime, rows.a ? column + 2 * kAtATime : nullptr,
                              column + 3 * kAtATime, rows.weight ? rows.weight + from : nullptr, r},
                             s, t);
    }
    return sum;
  }

  Tilted averaged(double y, double mean, double v, double weight) const override {
    return turned(y, of_margin_.averaged(1, y * mean, v, weight));
  }

  double draw_averaged(double y, double mean, double v, double weight,
                       Draws& random) const override {
    return y * of_margin_.draw_averaged(1, y * mean, v, weight, random);
  }

 private:
  SkewedHinge(double gamma, double gamma0, double even)
      : gamma_(gamma), even_(even), a_(even + gamma), b_(2 * gamma * (gamma0 / a_)),
        of_margin_(a_, b_, 0, 0), log_c_(of_margin_.log_constant()) {}

  double gamma_, even_, a_, b_;  // even_ is gamma c
  TwoHinges of_margin_;
  double log_c_;
};

// As gamma grows without gamma0 nothing holds it but its prior, whatever the rows: the constant
// that falls with it is missing.
std::unique_ptr<Likelihood> make_skewed_hinge(const Params& params) {
  const Number gamma(params, "gamma"), gamma0(params, "gamma0", true);
  if (gamma.free() > 0 && gamma0.free() == 0 && params.not_negative("gamma0") == 0)
    throw InvalidInput("gamma", "'gamma' can be inferred only where 'gamma0' is above zero.");
  return make_family(gamma.free() + gamma0.free(), [=](ConstVecRef theta) {
    return std::make_unique<SkewedHinge>(gamma(theta, 0), gamma0(theta, gamma.free()));
  });
}

const RegisterMaker<Likelihood> skewed_hinge_entry("skewed_hinge", make_skewed_hinge);

}  // namespace
}  // namespace bsvm
