#include <algorithm>

#include "r_convert.h"

namespace {

template <class Component>
bool is_registered(const std::string& name) {
  const std::vector<std::string> names = bsvm::Registry<Component>::names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What an engine asks of priors.
bsvm::Use prior_use(const std::string& name, const bsvm::Params& params) {
  if (is_registered<bsvm::Engine>(name)) return bsvm::Registry<bsvm::Engine>::make(name, params)->use();
  if (is_registered<bsvm::Sampler>(name))
    return bsvm::Registry<bsvm::Sampler>::make(name, params)->prior_use();
  return is_registered<bsvm::Estimator>(name) ? bsvm::Use::point : bsvm::Use::expected;
}

// What an engine asks of the likelihood; estimators are EM over latent scales of its atoms.
bsvm::Use likelihood_use(const std::string& name, const bsvm::Params& params) {
  if (is_registered<bsvm::Engine>(name)) return bsvm::Registry<bsvm::Engine>::make(name, params)->use();
  if (is_registered<bsvm::Sampler>(name)) return bsvm::Registry<bsvm::Sampler>::make(name, params)->use();
  if (is_registered<bsvm::Approximator>(name))
    return bsvm::Registry<bsvm::Approximator>::make(name, params)->likelihood_use();
  return bsvm::Use::augmented;
}

}  // namespace

// What kind of prior: is one precision all it uses, does it select?
// [[Rcpp::export(rng = false)]]
Rcpp::LogicalVector core_prior_traits(std::string prior, SEXP parameters) {
  return with_core_errors([&] {
    const auto made = bsvm::Registry<bsvm::Prior>::make(prior, to_params(prior, parameters));
    return Rcpp::LogicalVector::create(Rcpp::_["exchangeable"] = made->exchangeable(),
                                       Rcpp::_["selects"] = made->selects());
  });
}

// Can the engine take the prior?
// [[Rcpp::export(rng = false)]]
bool core_takes(std::string engine, SEXP engine_parameters, std::string prior,
                SEXP prior_parameters) {
  return with_core_errors([&] {
    const bsvm::Use use = prior_use(engine, to_params(engine, engine_parameters));
    return bsvm::Registry<bsvm::Prior>::make(prior, to_params(prior, prior_parameters))
        ->supports(use);
  });
}

// Can the engine take the likelihood?
// [[Rcpp::export(rng = false)]]
bool core_takes_likelihood(std::string engine, SEXP engine_parameters, std::string likelihood,
                           SEXP likelihood_parameters) {
  return with_core_errors([&] {
    const bsvm::Use use = likelihood_use(engine, to_params(engine, engine_parameters));
    const auto made = bsvm::Registry<bsvm::Likelihood>::make(
        likelihood, to_params(likelihood, likelihood_parameters));
    return made->supports(use) &&
           (!is_registered<bsvm::Estimator>(engine) || made->atoms(1).count > 0);
  });
}

// Is log p(y | f) concave in f?
// [[Rcpp::export(rng = false)]]
bool core_is_concave(std::string likelihood, SEXP parameters) {
  return with_core_errors([&] {
    return bsvm::Registry<bsvm::Likelihood>::make(likelihood, to_params(likelihood, parameters))
        ->concave();
  });
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_registry() {
  return Rcpp::List::create(
      Rcpp::_["priors"] = bsvm::Registry<bsvm::Prior>::names(),
      Rcpp::_["likelihoods"] = bsvm::Registry<bsvm::Likelihood>::names(),
      Rcpp::_["engines"] = bsvm::Registry<bsvm::Engine>::names(),
      Rcpp::_["approximators"] = bsvm::Registry<bsvm::Approximator>::names(),
      Rcpp::_["samplers"] = bsvm::Registry<bsvm::Sampler>::names(),
      Rcpp::_["estimators"] = bsvm::Registry<bsvm::Estimator>::names());
}
