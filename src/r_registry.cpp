#include "r_convert.h"

// [[Rcpp::export(rng = false)]]
Rcpp::List core_registry() {
  return Rcpp::List::create(
      Rcpp::_["priors"] = bsvm::Registry<bsvm::Prior>::names(),
      Rcpp::_["likelihoods"] = bsvm::Registry<bsvm::Likelihood>::names(),
      Rcpp::_["engines"] = bsvm::Registry<bsvm::Engine>::names(),
      Rcpp::_["approximators"] = bsvm::Registry<bsvm::Approximator>::names(),
      Rcpp::_["samplers"] = bsvm::Registry<bsvm::Sampler>::names());
}
