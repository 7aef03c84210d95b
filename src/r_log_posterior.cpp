#include "core/coefficients/log_posterior.hpp"
#include "r_convert.h"
#include "r_host.h"

// log p(y, b, theta) at points (d + h, K), the effects of the factor model$integrated integrated
// out; `quick`: to seven digits, of two effects a level under the normalised likelihood about.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_log_posterior(Rcpp::List problem, Rcpp::List model,
                                       Rcpp::NumericMatrix points, bool quick, int threads) {
  return with_host(R_NilValue, [&](RHost& host) {
    const bsvm::Problem data = to_problem(problem, model);
    bsvm::LogPosterior density(data, threads,
                               quick ? bsvm::Precision::quick : bsvm::Precision::exact);
    return to_numeric(density.at(
        Eigen::Map<const bsvm::Mat>(points.begin(), points.nrow(), points.ncol()), host));
  });
}
