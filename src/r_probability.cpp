#include <cmath>

#include "r_convert.h"

namespace {

// A standard deviation beside which nothing counts but where p(1 | f) is one half.
constexpr double kWide = 1e17;

}  // namespace

// p(1 | f) of a likelihood, averaged over links N(mean, sd^2), both (n) and finite.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_averaged_probability(std::string likelihood, SEXP parameters,
                                              Rcpp::NumericVector mean, Rcpp::NumericVector sd) {
  return with_core_errors([&] {
    if (mean.size() != sd.size())
      throw bsvm::InvalidInput("sd", "There must be a standard deviation for each mean.");
    const auto made = bsvm::Registry<bsvm::Likelihood>::make(likelihood,
                                                             to_params(likelihood, parameters));
    Rcpp::NumericVector out(mean.size());
    for (R_xlen_t i = 0; i < mean.size(); ++i) {
      const double s = std::min(sd[i], kWide);
      const double m = sd[i] > kWide ? mean[i] * (kWide / sd[i]) : mean[i];
      out[i] = std::exp(made->averaged(1, m, s * s, 1).value);
    }
    return out;
  });
}
