// The density whose mode f is the quantile tau of y: tau (1 - tau) / s exp{-tau r_+ / s - (1 - tau)
// (-r)_+ / s}, r = y - f. `scale` is given, or log s inferred.
#include "scaled_rows.hpp"
#include "two_hinges.hpp"

namespace bsvm {
namespace {

std::unique_ptr<Likelihood> make_asymmetric_laplace(const Params& params) {
  const double tau = params.share("tau");
  const Number scale(params, "scale");
  return make_scaled_family(params, scale.free(), [=](ConstVecRef theta) {
    const double s = scale(theta, 0);
    return std::make_unique<TwoHinges>(tau / s, (1 - tau) / s, 0, 0);
  });
}

const RegisterMaker<Likelihood> asymmetric_laplace_entry("asymmetric_laplace",
                                                         make_asymmetric_laplace);

}  // namespace
}  // namespace bsvm
