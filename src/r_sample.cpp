#include "core/coefficients/coefficients.hpp"
#include "core/rows/memory/memory_source.hpp"
#include "r_draws.h"
#include "r_host.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericVector;

namespace {

// The drawn hyper-parameters of each prior, with their names.
List variances(const bsvm::Problem& problem, const bsvm::SampleResult& result) {
  List out;
  const bsvm::Coefficients side(problem, 0, false);
  const bsvm::State state = side.start(bsvm::Vec());
  bsvm::Index first = 0;
  for (const bsvm::PriorPart& part : side.parts()) {
    const auto named = part.slot.prior->drawn(side.hyper(state, part));
    const bsvm::Index rows = static_cast<bsvm::Index>(named.size());
    NumericVector own = draws_array(result, &bsvm::ChainDraws::hyper, first, rows);
    const NumericVector names = to_named(named);
    own.attr("dimnames") = List::create(names.names(), R_NilValue, R_NilValue);
    out.push_back(own);
    first += rows;
  }
  return out;
}

// Of what is unknown in the design.
List unknowns(const bsvm::Problem& problem, const bsvm::SampleResult& result,
              const bsvm::SampleOptions& options) {
  if (!problem.latent->any()) return List();
  bsvm::Imputations imputed;  // none of rows that are elsewhere
  if (problem.here())
    imputed =
        bsvm::MemorySource(problem, bsvm::Use::drawn, 1).imputations(bsvm::State(bsvm::Layout()));
  imputed.mean = mean_over(result, &bsvm::ChainDraws::unknown_center);
  imputed.sd =
      sd_over(result, &bsvm::ChainDraws::unknown_center, &bsvm::ChainDraws::unknown_square);
  const List report = latent_report(
      problem.latent->report_drawn(mean_over(result, &bsvm::ChainDraws::law)), imputed);
  if (!options.keep_unknowns) return report;
  return join(report, List::create(_["unknowns"] = draws_array(result, &bsvm::ChainDraws::unknowns,
                                                               0, imputed.mean.size())));
}

List package(const bsvm::Problem& problem, const bsvm::SampleResult& result,
             const bsvm::SampleOptions& options) {
  need_draws(result);
  const bsvm::Index p = problem.columns(), effects = problem.group_coefficients();
  Rcpp::RObject kept_effects;
  if (options.keep_effects)
    kept_effects = draws_array(result, &bsvm::ChainDraws::effects, 0, effects);
  const List out = List::create(
      _["coefficients"] = draws_array(result, &bsvm::ChainDraws::coefficients, 0, p),
      _["variances"] = variances(problem, result), _["effects"] = kept_effects,
      _["mean"] = to_numeric(mean_over(result, &bsvm::ChainDraws::mean)),
      _["effects_mean"] = to_numeric(mean_over(result, &bsvm::ChainDraws::effect_mean)),
      _["effects_sd"] = to_numeric(sd_over(result, &bsvm::ChainDraws::effect_center,
                                           &bsvm::ChainDraws::effect_square)));
  return join(join(out, run_facts(result)), unknowns(problem, result, options));
}

}  // namespace

// rows: NULL, or where they are (r_rows.h).
// [[Rcpp::export(rng = false)]]
Rcpp::List core_sample(Rcpp::List problem, Rcpp::List model, Rcpp::List options,
                       SEXP rows = R_NilValue) {
  return with_host(options["verbose"], rows, [&](RHost& host) {
    const bsvm::Problem data = to_problem(problem, model);
    const List engine_spec = model["engine"];
    const std::string name = as<std::string>(engine_spec["name"]);
    const auto sampler = bsvm::Registry<bsvm::Sampler>::make(
        name, to_params(name, engine_spec["parameters"]));
    bsvm::SampleOptions run = to_sample_options(options);
    run.in_turn = !data.here();
    if (!run.checkpoint.empty()) {
      Fingerprint print;
      print.add(problem);
      print.add(model);
      run.fingerprint = print.value();
    }
    const bsvm::SampleResult result =
        bsvm::run_chains(*sampler, data, source_for(data, rows), run, host);
    host.resignal();
    return package(data, result, run);
  });
}
