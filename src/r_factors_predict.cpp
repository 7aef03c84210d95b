#include "core/factors/predict.hpp"
#include "core/factors/process_links.hpp"
#include "r_host.h"
#include "r_kernel.h"

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

// What draws say of linear predictors given scores.
class LinkDraws {
 public:
  LinkDraws(const List& draws, bsvm::Index m, bool feedback) : feedback_(feedback) {
    if (!draws.containsElementNamed("kernel") || Rf_isNull(draws["kernel"])) {
      beta_ = copied(draws["beta"], m);
      return;
    }
    kernel_ = to_kernel(draws["kernel"]);
    k_ = kernel_->variables();
    if (draws.containsElementNamed("inputs")) inputs_ = copied(draws["inputs"], m);
    else points_ = to_mat(draws["points"]).transpose();
    b_ = copied(draws["b"], m);
    theta_ = copied(draws["theta"], m);
    variance_ = copied(draws["variance"], m);
    const bsvm::Index size = inputs_.size() > 0 ? inputs_.rows() : points_.size();
    if ((points_.size() > 0 && points_.rows() != k_) || k_ * b_.rows() != size ||
        theta_.rows() != kernel_->size() || variance_.rows() != 1)
      throw bsvm::InvalidInput("draws", "The draws are of another process.");
  }

  bsvm::Index factors() const { return kernel_ ? k_ : beta_.rows(); }

  bsvm::LinkMoments at(bsvm::Index draw, const bsvm::Scores& scores) const {
    if (!kernel_) return bsvm::linear_links(scores, beta_.col(draw), feedback_);
    bsvm::Host nobody;
    const bsvm::Features features(*kernel_, points_of(draw), theta_.col(draw), nobody);
    const bsvm::Vec b = b_.col(draw);
    return bsvm::process_links({features, b, std::sqrt(variance_(0, draw))}, scores, feedback_,
                               false, 1, nobody);
  }

 private:
  static bsvm::Mat copied(const NumericVector& x, bsvm::Index m) {
    return x.size() == 0 ? bsvm::Mat(0, m) : bsvm::Mat(by_draws(x, m));
  }

  bsvm::Mat points_of(bsvm::Index draw) const {
    if (inputs_.size() == 0) return points_;
    return Eigen::Map<const bsvm::Mat>(inputs_.col(draw).data(), k_, b_.rows());
  }

  bool feedback_;
  bsvm::Index k_ = 0;
  std::unique_ptr<bsvm::Kernel> kernel_;
  bsvm::Mat beta_, points_, inputs_, b_, theta_, variance_;  // inputs_ (K M, m)
};

}  // namespace

// What draws of a factor model say of new rows given their variables alone
// (core/factors/predict.hpp). `rows`: x (N, p), NA where missing, and covariates (N, d), matrices
// of doubles; offset or NULL. `draws`: m of them, mean (p, m), loadings (p, K, m), noise (p or 1,
// m), alpha (d, m), and of a linear model beta (K, m), else b (M, m), theta (numbers of the kernel, m),
// variance (m), together with points (M, K), or inputs (K, M, m), points of each draw, and kernel,
// its factors as core_kernel() has them.
// `options`: feedback, as the model has it, threads, verbose.
// Returns scores (N, K, m), means of the rows' scores; covariance (K, K, patterns, m), theirs, and
// pattern (N), which of these is a row's, 1 of complete rows; mean and variance (N, m) of the
// linear predictors.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_factor_predict(Rcpp::List rows, Rcpp::List draws, Rcpp::List options) {
  return with_host(options["verbose"], [&](RHost& host) {
    const NumericVector mean = draws["mean"], loadings = draws["loadings"],
                        noise = draws["noise"], alpha = draws["alpha"];
    const bsvm::Index m = Rf_ncols(mean);
    const LinkDraws links(draws, m, as<bool>(options["feedback"]));
    const bsvm::FactorDraws kept{by_draws(mean, m), by_draws(loadings, m), by_draws(noise, m),
                                 by_draws(alpha, m), links.factors()};
    const bsvm::NewRows given = to_new_rows(rows);
    const bsvm::Predicted out = bsvm::predict_factors(
        given, kept,
        [&](bsvm::Index draw, const bsvm::Scores& scores) { return links.at(draw, scores); },
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
