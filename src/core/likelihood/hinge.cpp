// The hinge pseudo-likelihood exp{-2 (1 - y f)_+} (000, section 2.3).
//
// With the latent scale of the row averaged over, its share of the bound is
//   l(m, v) = y m - 1 - sqrt(chi),  chi = E u^2 = (1 - y m)^2 + v,  u = 1 - y f
// (the Bessel functions of 000 are K_{1/2}, which is elementary). It is jointly
// concave in m and the standard deviation.
#include "../error.hpp"
#include "likelihood.hpp"

namespace bsvm {
namespace {

class Hinge : public Likelihood {
 public:
  explicit Hinge(const Params&) {}

  bool supports(Use use) const override { return use == Use::augmented; }

  void terms(Use use, const Eigen::Ref<const Arr>& y,
             const Eigen::Ref<const Arr>& m, const Eigen::Ref<const Arr>& v,
             RowTerms& out) const override {
    if (!supports(use))
      throw InvalidInput("likelihood",
                         "The hinge likelihood offers its augmented bound only.");
    out.slope = 1 - y * m;                                  // E u
    out.value = (out.slope.square() + v).sqrt();            // sqrt(chi)
    // A row exactly on its margin with no variance left keeps a finite weight.
    out.weight = out.value.max(1e-100).inverse();           // E 1/a
    out.curvature = v * out.weight.cube();
    out.value = -out.slope - out.value;
    out.slope = y * (1 + out.weight * out.slope);
  }
};

const Register<Likelihood, Hinge> entry("hinge");

}  // namespace
}  // namespace bsvm
