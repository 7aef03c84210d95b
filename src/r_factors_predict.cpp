#include "core/factors/predict.hpp"
#include "r_host.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericVector;

namespace {

bsvm::NewRows to_new_rows(const List& rows) {
  bsvm::NewRows out;
  out.x = to_mat(rows["x"]);
  out.covariates = to_mat(rows["covariates"]);
  out.offset = Rf_isNull(rows["offset"]) ? bsvm::Vec(bsvm::Vec::Zero(out.x.rows()))
                                         : to_vec(rows["offset"]);
  return out;
}

// An array as it is in R, its last dimension that of draws.
Eigen::Map<const bsvm::Mat> by_draws(const NumericVector& x, bsvm::Index draws) {
  if (draws == 0 || x.size() % draws != 0)
    throw bsvm::InvalidInput("draws", "The draws must be as many for each number.");
  return {x.begin(), x.size() / draws, draws};
}

}  // namespace

// What draws of a factor model say of new rows given their variables alone
// (core/factors/predict.hpp). `rows`: x (N, p), NA where missing, and covariates (N, d), matrices of
// doubles; offset or NULL. `draws`: m of them, mean (p, m), loadings (p, K, m), noise (p or 1, m),
// alpha (d, m), beta (K, m). `options`: feedback, as the model has it, threads, verbose.
// Returns scores (N, K, m), means of the rows' scores; covariance (K, K, patterns, m), theirs, and
// pattern (N), which of these is a row's, 1 of complete rows; mean and variance (N, m) of the linear
// predictors.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_factor_predict(Rcpp::List rows, Rcpp::List draws, Rcpp::List options) {
  return with_host(options["verbose"], [&](RHost& host) {
    const NumericVector mean = draws["mean"], loadings = draws["loadings"],
                        noise = draws["noise"], alpha = draws["alpha"], beta = draws["beta"];
    const bsvm::Index m = Rf_ncols(mean);
    const Eigen::Map<const bsvm::Mat> own = by_draws(beta, m);
    const bsvm::FactorDraws kept{by_draws(mean, m), by_draws(loadings, m), by_draws(noise, m),
                                 by_draws(alpha, m), own.rows()};
    const bool feedback = as<bool>(options["feedback"]);
    const bsvm::NewRows given = to_new_rows(rows);
    const bsvm::Predicted out = bsvm::predict_factors(
        given, kept,
        [&](bsvm::Index draw, const bsvm::Scores& scores) {
          return bsvm::linear_links(scores, own.col(draw), feedback);
        },
        to_count(options, "threads", 1), host);
    host.resignal();
    const bsvm::Index n = given.x.rows(), k = kept.factors;
    const bsvm::Index patterns = k > 0 ? out.covariance.rows() / (k * k) : 1;
    Rcpp::IntegerVector pattern(n);
    for (bsvm::Index row = 0; row < n; ++row)
      pattern[row] = static_cast<int>(out.pattern[static_cast<size_t>(row)]) + 1;
    return List::create(_["scores"] = to_array(out.scores, {n, k, m}),
                        _["covariance"] = to_array(out.covariance, {k, k, patterns, m}),
                        _["pattern"] = pattern, _["mean"] = to_array(out.mean, {n, m}),
                        _["variance"] = to_array(out.variance, {n, m}));
  });
}
