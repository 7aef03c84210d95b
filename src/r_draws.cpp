#include "r_draws.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericVector;

bsvm::SampleOptions to_sample_options(const List& options) {
  bsvm::SampleOptions out;
  out.draws = to_count(options, "draws", 1);
  if (options.containsElementNamed("most")) out.most = to_count(options, "most");
  out.burnin = to_count(options, "burnin");
  out.thin = to_count(options, "thin", 1);
  out.chains = to_count(options, "chains", 1);
  out.threads = to_count(options, "threads", 1);
  out.seed = to_seed(options);
  out.keep_effects = as<bool>(options["keep_effects"]);
  if (options.containsElementNamed("keep_unknowns"))
    out.keep_unknowns = as<bool>(options["keep_unknowns"]);
  out.checkpoint = as<std::string>(options["checkpoint"]);
  out.resume = as<bool>(options["resume"]);
  out.interval = as<double>(options["checkpoint_interval"]);
  return out;
}

NumericVector draws_array(const bsvm::SampleResult& result, bsvm::Mat bsvm::ChainDraws::*part,
                          bsvm::Index first, bsvm::Index rows) {
  const bsvm::Index kept = result.kept, chains = static_cast<bsvm::Index>(result.chains.size());
  NumericVector out(static_cast<R_xlen_t>(rows * kept * chains));
  for (bsvm::Index k = 0; k < chains; ++k)
    Eigen::Map<bsvm::Mat>(out.begin() + k * rows * kept, rows, kept) =
        (result.chains[k].*part).block(first, 0, rows, kept);
  out.attr("dim") = Rcpp::IntegerVector::create(rows, kept, chains);
  return out;
}

bsvm::Vec mean_over(const bsvm::SampleResult& result, bsvm::Vec bsvm::ChainDraws::*part) {
  bsvm::Vec sum = bsvm::Vec::Zero((result.chains[0].*part).size());
  double count = 0;
  for (const bsvm::ChainDraws& chain : result.chains) {
    sum += static_cast<double>(chain.kept) * (chain.*part);
    count += static_cast<double>(chain.kept);
  }
  return sum / count;
}

bsvm::Vec sd_over(const bsvm::SampleResult& result, bsvm::Vec bsvm::ChainDraws::*centers,
                  bsvm::Vec bsvm::ChainDraws::*squares) {
  const bsvm::Vec center = mean_over(result, centers);
  bsvm::Vec square = bsvm::Vec::Zero(center.size());
  double count = 0;
  for (const bsvm::ChainDraws& chain : result.chains) {
    square += chain.*squares +
              static_cast<double>(chain.kept) * (chain.*centers - center).cwiseAbs2();
    count += static_cast<double>(chain.kept);
  }
  return (square / std::max(1.0, count - 1)).cwiseSqrt();
}

void need_draws(const bsvm::SampleResult& result) {
  if (result.kept == 0)
    signal_core_error("bsvm_core_interrupted", "Interrupted before the first draw was kept.", "");
}

List run_facts(const bsvm::SampleResult& result) {
  return List::create(_["draws"] = static_cast<int>(result.kept), _["resumed"] = result.resumed,
                      _["checkpoint_failed"] = result.unwritten,
                      _["seed"] = static_cast<double>(result.seed),
                      _["termination"] = result.interrupted ? "interrupted" : "completed");
}
