#include <chrono>

#include "core/factors/factors_chain.hpp"
#include "r_draws.h"
#include "r_factors.h"
#include "r_host.h"
#include "r_kernel.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericVector;

namespace {

bsvm::LoadingsPart to_loadings(const List& loadings) {
  bsvm::LoadingsPart out;
  out.local = as<bool>(loadings["local"]);
  if (out.local) {
    out.rate = as<double>(loadings["rate"]);
    out.shape = as<double>(loadings["shape"]);
    out.rate_of_rate = as<double>(loadings["rate_of_rate"]);
    return out;
  }
  for (const List prior : as<List>(loadings["priors"])) out.priors.push_back(to_prior(prior));
  return out;
}

bsvm::ProcessPart to_process(const List& kernel) {
  bsvm::ProcessPart out;
  out.kernel = to_kernel(kernel["factors"]);
  out.start = to_vec(kernel["start"]);
  const List priors = kernel["priors"];
  for (R_xlen_t k = 0; k < priors.size(); ++k)
    out.numbers.push_back(Rf_isNull(priors[k]) ? nullptr : to_prior(priors[k]));
  out.variance = to_prior(kernel["variance"]);
  out.exact = as<bool>(kernel["exact"]);
  if (!out.exact) out.points = to_count(kernel, "points", 1);
  return out;
}

}  // namespace

bsvm::FactorModel to_factor_model(const List& data, const List& model) {
  bsvm::FactorModel out;
  out.x = to_mat(data["x"]);
  out.covariates = to_mat(data["covariates"]);
  out.y = to_vec(data["y"]);
  if (!Rf_isNull(data["weight"])) out.weight = to_vec(data["weight"]);
  if (!Rf_isNull(data["offset"])) out.offset = to_vec(data["offset"]);
  out.factors = to_count(model, "factors");
  out.mean_variance = as<double>(model["mean_variance"]);
  out.feedback = as<bool>(model["feedback"]);
  out.turned = as<bool>(model["reduced"]);
  out.loadings = to_loadings(model["loadings"]);
  if (model.containsElementNamed("kernel") && !Rf_isNull(model["kernel"]))
    out.process = to_process(model["kernel"]);
  const List noise = model["noise"], likelihood = model["likelihood"];
  out.noise = {as<bool>(noise["each"]), as<double>(noise["shape"]), as<double>(noise["rate"])};
  for (const List part : as<List>(model["parts"])) {
    out.parts.emplace_back();
    for (int place : as<std::vector<int>>(part["places"]))
      out.parts.back().places.push_back(place - 1);
    out.parts.back().prior = to_prior(part);
  }
  const std::string name = as<std::string>(likelihood["name"]);
  out.likelihood = bsvm::Registry<bsvm::Likelihood>::make(
      name, to_params(name, likelihood["parameters"]));
  for (const List prior : as<List>(likelihood["priors"]))
    out.parameters.push_back(to_prior(prior));
  return out;
}

namespace {

// mean (p, draws, chains), loadings (p, K, draws, chains) and noise (p or 1, draws, chains) of
// every so many draws; of a process also b (M, draws, chains), theta (numbers of its kernel, draws,
// chains) and variance (1, draws, chains); without inducing points also inputs (K, M, draws, chains).
List seldom_draws(const bsvm::SharedFactors& shared, const bsvm::SampleResult& result,
                  bsvm::Index every) {
  const bsvm::FactorModel& model = shared.model;
  const bsvm::Index p = model.p(), k = model.factors, noise = model.noise.each ? p : 1;
  const bsvm::Index chains = static_cast<bsvm::Index>(result.chains.size());
  const bsvm::Index draws = every > 0 ? result.kept / every : 0;
  const auto part = [&](bsvm::Index first, bsvm::Index rows,
                        const std::vector<bsvm::Index>& dim) {
    bsvm::Mat own(rows, draws * chains);
    for (bsvm::Index c = 0; c < chains && draws > 0; ++c)
      own.middleCols(c * draws, draws) =
          result.chains[static_cast<size_t>(c)].seldom.block(first, 0, rows, draws);
    return to_array(own, dim);
  };
  const List out = List::create(_["mean"] = part(0, p, {p, draws, chains}),
                                _["loadings"] = part(p, p * k, {p, k, draws, chains}),
                                _["noise"] = part(p * (1 + k), noise, {noise, draws, chains}));
  if (model.linear()) return out;
  const bool exact = model.process.exact;
  const bsvm::Index first = p * (1 + k) + noise, size = model.process.start.size();
  const bsvm::Index m = exact ? static_cast<bsvm::Index>(shared.labelled.size())
                              : shared.points.cols();
  const List function =
      List::create(_["b"] = part(first, m, {m, draws, chains}),
                   _["theta"] = part(first + m, size, {size, draws, chains}),
                   _["variance"] = part(first + m + size, 1, {1, draws, chains}));
  if (!exact) return join(out, function);
  const List inputs =
      List::create(_["inputs"] = part(first + m + size + 1, k * m, {k, m, draws, chains}));
  return join(join(out, function), inputs);
}

// Means and standard deviations of scores given x alone, (N, K, chains) each.
List score_moments(const bsvm::FactorModel& model, const bsvm::SampleResult& result) {
  const bsvm::Index size = model.n() * model.factors;
  const bsvm::Index chains = static_cast<bsvm::Index>(result.chains.size());
  bsvm::Mat mean(size, chains), sd(size, chains);
  for (bsvm::Index c = 0; c < chains; ++c) {
    const bsvm::Vec& law = result.chains[static_cast<size_t>(c)].law;
    mean.col(c) = law.head(size);
    sd.col(c) = (law.tail(size) - mean.col(c).cwiseAbs2()).cwiseMax(0).cwiseSqrt();
  }
  const std::vector<bsvm::Index> dim{model.n(), model.factors, chains};
  return List::create(_["scores_mean"] = to_array(mean, dim), _["scores_sd"] = to_array(sd, dim));
}

NumericVector named_hyper(const bsvm::FactorModel& model, const bsvm::SampleResult& result) {
  const std::vector<std::string> names = bsvm::factor_numbers(model);
  NumericVector out = draws_array(result, &bsvm::ChainDraws::hyper, 0,
                                  static_cast<bsvm::Index>(names.size()));
  out.attr("dimnames") = List::create(Rcpp::wrap(names), R_NilValue, R_NilValue);
  return out;
}

}  // namespace

// Factors of x (N, p) that a response depends on (core/factors/model.hpp).
// `data`: x and covariates, matrices of doubles; y; weight and offset or NULL. NA in x and y is
// missing. `model`: factors, mean_variance, feedback, reduced; loadings: local, and rate (0:
// inferred), shape, rate_of_rate, or priors of each factor; noise: each, shape, rate; parts: places
// of coefficients from 1, covariates first, prior, parameters; likelihood: name, parameters,
// priors; kernel, NULL or not there if the classifier is linear: factors, as core_kernel() has
// them, start, the logarithms of its numbers, priors, of each or NULL if it stays there, variance,
// a prior, exact, TRUE without inducing points, and points, how many at most. Then coefficients are
// those of covariates alone, nothing is implied, and kept_loadings has what core_factor_predict()
// takes. `options`: as core_responses() has them, and `every`: loadings of every so many draws, 0 of none; keep_effects is of implied
// coefficients, keep_unknowns of links.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_factor_model(Rcpp::List data, Rcpp::List model, Rcpp::List options) {
  return with_host(options["verbose"], [&](RHost& host) {
    const bsvm::FactorModel own = to_factor_model(data, model);
    bsvm::SampleOptions run = to_sample_options(options);
    run.every = to_count(options, "every");
    run.identified = own.d();
    if (!run.checkpoint.empty()) {
      Fingerprint print;
      for (SEXP part : {SEXP(data), SEXP(model)}) print.add(part);
      run.fingerprint = print.value();
    }
    const auto started = std::chrono::steady_clock::now();
    const bsvm::SharedFactors shared(own);
    const std::chrono::duration<double> prepared = std::chrono::steady_clock::now() - started;
    const bsvm::SampleResult result = bsvm::run_chains(
        [&](int threads, std::uint64_t seed, int chain) {
          return bsvm::make_factors_chain(shared, threads, seed, chain);
        },
        run, host);
    host.resignal();
    need_draws(result);
    const bsvm::Index size = own.coefficients();
    const List out = List::create(
        _["coefficients"] = draws_array(result, &bsvm::ChainDraws::coefficients, 0, size),
        _["variances"] = draws_array(result, &bsvm::ChainDraws::coefficients, size,
                                     own.loadings.scales(own.factors)),
        _["hyper"] = named_hyper(own, result),
        _["implied"] = draws_array(result, &bsvm::ChainDraws::effects, 0,
                                   run.keep_effects && own.linear() ? own.p() : 0),
        _["implied_mean"] = to_numeric(mean_over(result, &bsvm::ChainDraws::effect_center)),
        _["implied_sd"] = to_numeric(sd_over(result, &bsvm::ChainDraws::effect_center,
                                             &bsvm::ChainDraws::effect_square)),
        _["links"] = draws_array(result, &bsvm::ChainDraws::unknowns, 0,
                                 run.keep_unknowns ? own.n() : 0),
        _["links_mean"] = to_numeric(mean_over(result, &bsvm::ChainDraws::unknown_center)),
        _["links_sd"] = to_numeric(sd_over(result, &bsvm::ChainDraws::unknown_center,
                                           &bsvm::ChainDraws::unknown_square)),
        _["kept_loadings"] = seldom_draws(shared, result, run.every),
        _["points"] = to_array(shared.points.transpose(),
                               {shared.points.cols(), shared.points.rows()}),
        _["prepared"] = prepared.count());
    return join(join(out, score_moments(own, result)), run_facts(result));
  });
}
