#include "core/coefficients/coefficients.hpp"
#include "r_convert.h"
#include "r_host.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;

namespace {

List reports(const std::vector<bsvm::PriorSlot>& priors, const bsvm::State& state,
             bsvm::Index& start) {
  List out;
  for (const bsvm::PriorSlot& slot : priors) {
    const bsvm::Index size =
        slot.prior->hyper_size(static_cast<bsvm::Index>(slot.columns.size()));
    out.push_back(to_named(slot.prior->report(state.hyper().segment(start, size))));
    start += size;
  }
  return out;
}

// Of coefficients that are selected: numbers of dense columns, from 1.
List inclusion(const bsvm::Result& result) {
  Rcpp::IntegerVector columns(result.inclusion.columns.begin(), result.inclusion.columns.end());
  return List::create(_["columns"] = columns + 1,
                      _["probability"] = to_numeric(result.inclusion.probability),
                      _["mean"] = to_numeric(result.inclusion.mean),
                      _["sd"] = to_numeric(result.inclusion.sd));
}

// Where the covariance is not a matrix.
List low_rank(const bsvm::LowRank& spread) {
  const auto matrix = [](const bsvm::Mat& x) { return to_array(x, {x.rows(), x.cols()}); };
  return List::create(_["diagonal"] = to_numeric(spread.diagonal),
                      _["less"] = matrix(spread.less), _["more"] = matrix(spread.more));
}

List moments(const bsvm::Problem& problem, const bsvm::Result& result) {
  if (result.spread.diagonal.size() == 0)
    return row_moments(problem, result.state, result.groups);
  const bsvm::Coefficients side(problem, 0, false);
  return List::create(_["mean"] = to_numeric(side.outside_mean(result.state.mean())),
                      _["covariance"] = low_rank(result.spread));
}

List package(const bsvm::Problem& problem, const bsvm::Result& result,
             const bsvm::Imputations& imputed) {
  if (!result.state.begun())
    signal_core_error("bsvm_core_interrupted", "Interrupted before the first iteration ended.", "");
  bsvm::Index start = 0;
  const List hyper = reports(problem.priors, result.state, start);
  const List group_hyper = reports(problem.group_priors, result.state, start);
  const List common = List::create(
      _["hyper"] = hyper, _["group_hyper"] = group_hyper, _["bound"] = result.bound,
      _["trace"] = trace_matrix(result.trace), _["passes"] = static_cast<int>(result.trace.size()),
      _["gradient"] = result.gradient, _["termination"] = name_of(result.end));
  const List fit = join(join(moments(problem, result), common),
                        latent_report(problem.latent->report(result.state), imputed));
  if (result.start_bounds.empty()) return fit;
  return join(fit, List::create(_["inclusion"] = inclusion(result),
                                _["start_bounds"] = Rcpp::wrap(result.start_bounds)));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_fit(Rcpp::List problem, Rcpp::List model, Rcpp::List options,
                    SEXP rows = R_NilValue) {
  return with_host(options["verbose"], rows, [&](RHost& host) {
    const bsvm::Problem data = to_problem(problem, model);
    const List engine_spec = model["engine"];
    const std::string name = as<std::string>(engine_spec["name"]);
    const auto engine = bsvm::Registry<bsvm::Engine>::make(
        name, to_params(name, engine_spec["parameters"]));
    const bsvm::Options run = to_run_options(options);
    const auto source =
        source_for(data, rows)(engine->use(), to_count(options, "threads", 1));
    const bsvm::Result result = engine->run(data, *source, run, host);
    host.resignal();
    if (!data.latent->any() || !result.state.begun()) return package(data, result, {});
    source->back(result.state);
    return package(data, result, source->imputations(result.state));
  });
}
