#include <cmath>

#include "r_convert.h"

namespace {

constexpr double kWide = 1e17;  // a standard deviation beside which the margin has no width

}  // namespace

// Probabilities of class +1 under the normalised hinge likelihood, averaged over links
// N(mean, sd^2), both (n) and finite.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_normalised_probability(Rcpp::NumericVector mean, Rcpp::NumericVector sd) {
  return with_core_errors([&] {
    if (mean.size() != sd.size())
      throw bsvm::InvalidInput("sd", "There must be a standard deviation for each mean.");
    const auto likelihood =
        bsvm::Registry<bsvm::Likelihood>::make("hinge_normalized", bsvm::Params());
    Rcpp::NumericVector out(mean.size());
    for (R_xlen_t i = 0; i < mean.size(); ++i)
      out[i] = sd[i] > kWide ? R::pnorm(mean[i] / sd[i], 0, 1, true, false)
                             : std::exp(likelihood->averaged(mean[i], sd[i] * sd[i], 1).value);
    return out;
  });
}
