#include <chrono>

#include "core/responses/independent_chain.hpp"
#include "core/responses/responses_chain.hpp"
#include "r_draws.h"
#include "r_host.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericMatrix;

namespace {

// The columns of the design, with an intercept that is none of x.
bsvm::Mat standardised(const List& problem) {
  const NumericMatrix x = problem["x"];
  const bsvm::Vec center = to_vec(problem["center"]), scale = to_vec(problem["scale"]);
  const bsvm::Index first = as<bool>(problem["intercept"]) ? 1 : 0;
  bsvm::Mat out = bsvm::Mat::Ones(x.nrow(), center.size());
  const Eigen::Map<const bsvm::Mat> given(x.begin(), x.nrow(), x.ncol());
  for (bsvm::Index j = first; j < out.cols(); ++j)
    out.col(j) = (given.col(j - first).array() - center[j]) / scale[j];
  return out;
}

// `blocks`: of each response a list of blocks of the same columns.
std::vector<bsvm::ColumnPart> to_parts(const List& blocks) {
  std::vector<bsvm::ColumnPart> out;
  for (const List block : as<List>(blocks[0])) {
    out.emplace_back();
    for (int column : as<std::vector<int>>(block["columns"]))
      out.back().columns.push_back(column - 1);
    if (block.containsElementNamed("choices"))
      for (const Rcpp::IntegerVector choice : as<List>(block["choices"])) {
        out.back().choices.emplace_back();
        for (int column : choice) out.back().choices.back().push_back(column - 1);
      }
    out.back().unseen = as<double>(block["unseen"]);
    if (!Rf_isNull(block["start"])) out.back().start = to_vec(block["start"]);
  }
  for (const List own : blocks)
    for (R_xlen_t k = 0; k < own.size(); ++k)
      out[static_cast<size_t>(k)].priors.push_back(to_prior(own[k]));
  return out;
}

bsvm::LevelPart to_factor(const List& factor, bsvm::Index n) {
  bsvm::LevelPart out;
  for (int code : as<std::vector<int>>(factor["codes"])) out.code.push_back(code - 1);
  out.levels = to_count(factor, "levels", 1);
  out.z = Rf_isNull(factor["z"]) ? bsvm::Mat(bsvm::Mat::Ones(n, 1))
                                 : to_mat(factor["z"]);
  out.prior = to_prior(factor);
  return out;
}

bsvm::LossPart to_loss(const List& loss) {
  bsvm::LossPart out;
  if (loss.containsElementNamed("prior")) {
    out.variance = to_prior(loss);
    return out;
  }
  out.scale = as<double>(loss["scale"]);
  out.nu = as<double>(loss["nu"]);
  out.a = as<double>(loss["a"]);
  out.b = as<double>(loss["b"]);
  return out;
}

// The drawn numbers of each prior, with their names: of all responses by block, then of the
// factors, the residuals, second residuals, which sets of columns were in the model (from 0), and
// the log weights of independent proposals.
List hyper_draws(const bsvm::Responses& model, const bsvm::SampleResult& result,
                 bool independent) {
  List out;
  bsvm::Index first = 0;
  const auto add = [&](const bsvm::Prior& prior, double count) {
    bsvm::Vec hyper = bsvm::Vec(prior.hyper_size(static_cast<bsvm::Index>(count)));
    bsvm::Moments shape;
    shape.count = count;
    shape.square = bsvm::Vec::Zero(prior.effects() * prior.effects());
    prior.start(shape, hyper);
    const auto named = prior.drawn(hyper);
    const bsvm::Index rows = static_cast<bsvm::Index>(named.size());
    Rcpp::NumericVector own = draws_array(result, &bsvm::ChainDraws::hyper, first, rows);
    own.attr("dimnames") = List::create(to_named(named).names(), R_NilValue, R_NilValue);
    out.push_back(own);
    first += rows;
  };
  for (size_t j = 0; j < static_cast<size_t>(model.q()); ++j)
    for (const bsvm::ColumnPart& part : model.parts)
      add(*part.priors[j], static_cast<double>(part.width()) + part.unseen);
  for (const bsvm::LevelPart& factor : model.factors)
    add(*factor.prior, static_cast<double>(factor.prior->effects() * factor.levels));
  add(*model.residual, static_cast<double>(model.n() * model.q()));
  for (const bsvm::LossPart& loss : model.losses) {
    const bsvm::Index rows = loss.variance ? 1 : 2;
    out.push_back(draws_array(result, &bsvm::ChainDraws::hyper, first, rows));
    first += rows;
  }
  for (const bsvm::ColumnPart& part : model.parts) {
    if (part.choices.empty()) continue;
    out.push_back(draws_array(result, &bsvm::ChainDraws::hyper, first, 1));
    ++first;
  }
  if (independent) out.push_back(draws_array(result, &bsvm::ChainDraws::hyper, first, 1));
  return out;
}

}  // namespace

// Several responses: `problem` has the design as core_sample() takes it, `y` (n, q) may have NA.
// `blocks`: of each response, `start` and `choices` (columns in sets) of the first one's are for
// all; `factors`: codes, levels, z, prior, parameters of each grouping factor; `residual`: prior,
// parameters, start. `losses`: none, or of each response prior and parameters of a variance, or
// scale, nu (0: inferred), a, b.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_responses(Rcpp::List problem, Rcpp::NumericMatrix y, Rcpp::List blocks,
                          Rcpp::List factors, Rcpp::List residual, Rcpp::List losses,
                          Rcpp::List options) {
  return with_host(options["verbose"], [&](RHost& host) {
    bsvm::Responses model;
    model.x = standardised(problem);
    model.y = to_mat(y);
    if (!Rf_isNull(problem["weight"])) model.weight = to_vec(problem["weight"]);
    model.parts = to_parts(blocks);
    for (const List factor : factors) model.factors.push_back(to_factor(factor, model.n()));
    model.residual = to_prior(residual);
    if (!Rf_isNull(residual["start"])) model.start = to_vec(residual["start"]);
    for (const List loss : losses) model.losses.push_back(to_loss(loss));
    bsvm::SampleOptions run = to_sample_options(options);
    if (as<bool>(options["empirical"])) model.settled = run.burnin;
    if (!run.checkpoint.empty()) {
      Fingerprint print;
      print.add(options["empirical"]);
      print.add(options["independent"]);
      for (SEXP part : {SEXP(problem), SEXP(y), SEXP(blocks), SEXP(factors), SEXP(residual),
                        SEXP(losses)})
        print.add(part);
      run.fingerprint = print.value();
    }
    const auto started = std::chrono::steady_clock::now();
    const bsvm::SharedResponses shared(model);
    const std::chrono::duration<double> prepared = std::chrono::steady_clock::now() - started;
    // of engine_gaussian(): the variances' modes, about which chains propose
    std::unique_ptr<const bsvm::Evidence> evidence;
    std::unique_ptr<const bsvm::EvidenceModes> modes;
    if (as<bool>(options["independent"])) {
      evidence = std::make_unique<bsvm::Evidence>(shared);
      modes = std::make_unique<bsvm::EvidenceModes>(*evidence, host);
    }
    const bsvm::SampleResult result = bsvm::run_chains(
        [&](int, std::uint64_t seed, int chain) {
          return modes ? bsvm::make_independent_chain(*evidence, *modes, seed, chain)
                       : bsvm::make_responses_chain(shared, seed, chain);
        },
        run, host);
    host.resignal();
    need_draws(result);
    bsvm::Index effects = 0;
    for (const bsvm::LevelPart& factor : model.factors)
      effects += factor.levels * factor.prior->effects();
    const List out = List::create(
        _["coefficients"] = draws_array(result, &bsvm::ChainDraws::coefficients, 0,
                                        model.p() * model.q()),
        _["hyper"] = hyper_draws(model, result, modes != nullptr),
        _["effects"] = draws_array(result, &bsvm::ChainDraws::effects, 0,
                                   run.keep_effects ? effects : 0),
        _["mean"] = to_numeric(mean_over(result, &bsvm::ChainDraws::mean)),
        _["effects_mean"] = to_numeric(mean_over(result, &bsvm::ChainDraws::effect_mean)),
        _["effects_sd"] = to_numeric(sd_over(result, &bsvm::ChainDraws::effect_center,
                                             &bsvm::ChainDraws::effect_square)),
        _["missing_mean"] = to_numeric(mean_over(result, &bsvm::ChainDraws::unknown_center)),
        _["missing_sd"] = to_numeric(sd_over(result, &bsvm::ChainDraws::unknown_center,
                                             &bsvm::ChainDraws::unknown_square)),
        _["prepared"] = prepared.count());
    return join(out, run_facts(result));
  });
}
