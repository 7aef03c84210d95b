// The density of support vector regression, exp(-|r|_eps / s) / (2 (s + eps)), r = y - f, |r|_eps =
// max(|r| - eps, 0). Its shape is kappa = eps / s alone: nu = 1 / (1 + kappa) is the probability of
// a residual outside the tube. Without a tube it is the Laplace density.
//
// `epsilon` or `kappa`, and `scale`, are given or not. What is not is inferred: log s, then log
// kappa.
#include "base/error.hpp"
#include "scaled_rows.hpp"
#include "two_hinges.hpp"

namespace bsvm {
namespace {

std::unique_ptr<Likelihood> with_tube(double scale, double epsilon) {
  return std::make_unique<TwoHinges>(1 / scale, 1 / scale, epsilon, epsilon);
}

std::unique_ptr<Likelihood> make_eps_insensitive(const Params& params) {
  const Number scale(params, "scale"), kappa(params, "kappa", true);
  if (!params.given("epsilon"))
    return make_scaled_family(params, scale.free() + kappa.free(), [=](ConstVecRef theta) {
      const double s = scale(theta, 0);
      return with_tube(s, s * kappa(theta, scale.free()));
    });
  if (params.given("kappa"))
    throw InvalidInput("epsilon", "'epsilon' and 'kappa' of eps_insensitive say the same.");
  const double epsilon = params.not_negative("epsilon");
  return make_scaled_family(params, scale.free(), [=](ConstVecRef theta) {
    return with_tube(scale(theta, 0), epsilon);
  });
}

const RegisterMaker<Likelihood> eps_insensitive_entry("eps_insensitive", make_eps_insensitive);

}  // namespace
}  // namespace bsvm
