// The hinge pseudo-likelihood exp{-2 (1 - y f)_+} (000, section 2.3).
//
// With the latent scale of the row averaged over, its share of the bound is
//   l(m, v) = y m - 1 - sqrt(chi),  chi = E u^2 = (1 - y m)^2 + v,  u = 1 - y f
// (the Bessel functions of 000 are K_{1/2}, which is elementary). It is jointly
// concave in m and the standard deviation.
//
// Given f the latent precision w = 1/a of a row of weight omega is inverse Gaussian with
// mean 1/|u| and shape omega, and leaves -(omega w / 2) (f - y (1 + 1/w))^2 (000, App. A;
// models.md, section 1, with gamma = omega).
#include <algorithm>
#include <cmath>

#include "../error.hpp"
#include "../linalg/kernels.hpp"
#include "../random/inverse_gaussian.hpp"
#include "likelihood.hpp"

namespace bsvm {
namespace {

class Hinge : public Likelihood {
 public:
  explicit Hinge(const Params&) {}

  bool supports(Use use) const override {
    return use == Use::augmented || use == Use::drawn;
  }

  void terms(Use use, const Eigen::Ref<const Arr>& y,
             const Eigen::Ref<const Arr>& m, const Eigen::Ref<const Arr>& v,
             RowTerms& out) const override {
    if (use != Use::augmented)
      throw InvalidInput("likelihood",
                         "The hinge likelihood has these terms for its augmented bound only.");
    out.slope = 1 - y * m;                                  // E u
    out.value = (out.slope.square() + v).sqrt();            // sqrt(chi)
    // A row exactly on its margin with no variance left keeps a finite weight.
    out.weight = out.value.max(1e-100).inverse();           // E 1/a
    out.curvature = v * out.weight.cube();
    out.value = -out.slope - out.value;
    out.slope = y * (1 + out.weight * out.slope);
  }

  void draw(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& f,
            const Eigen::Ref<const Arr>& weight, const RowDraws& random,
            RowTerms& out) const override {
    const Index r = y.size();
    for (Index i = 0; i < r; ++i) {
      const double u = 1 - y[i] * f[i], omega = weight[i];
      const double w =
          omega * inverse_gaussian(omega * std::abs(u), random.normal[i], random.uniform[i]);
      out.value[i] = -2 * omega * std::max(u, 0.0);
      out.slope[i] = omega * y[i] * (1 + w * u);
      out.weight[i] = out.curvature[i] = omega * w;
    }
  }

  double along(const double* margin, const double* slope, const double* weight, double t,
               Index r) const override {
    return -2 * kernels().positive_parts(margin, slope, weight, t, r);
  }
};

const Register<Likelihood, Hinge> entry("hinge");

}  // namespace
}  // namespace bsvm
