#include "r_convert.h"
#include "r_host.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;

namespace {

bsvm::EstimateOptions to_estimate_options(const List& options) {
  bsvm::EstimateOptions out;
  out.tolerance = as<double>(options["tol"]);
  out.max_passes = to_count(options, "max_passes");
  out.starts = to_count(options, "starts");
  out.annealing = to_count(options, "annealing");
  out.seed = to_seed(options);
  if (has(options, "most_numbers"))
    out.most_numbers = static_cast<bsvm::Index>(as<double>(options["most_numbers"]));
  if (!Rf_isNull(options["start"])) out.start = to_vec(options["start"]);
  return out;
}

List reports(const std::vector<bsvm::PriorSlot>& priors, const std::vector<bsvm::Vec>& hyper,
             size_t first) {
  List out;
  for (const bsvm::PriorSlot& slot : priors)
    out.push_back(to_named(slot.prior->report(hyper[first++])));
  return out;
}

Rcpp::NumericMatrix to_trace(const std::vector<bsvm::EstimateTrace>& trace) {
  Rcpp::NumericMatrix out(static_cast<int>(trace.size()), 2);
  for (size_t k = 0; k < trace.size(); ++k) {
    out(static_cast<int>(k), 0) = trace[k].objective;
    out(static_cast<int>(k), 1) = trace[k].gap;
  }
  Rcpp::colnames(out) = Rcpp::CharacterVector::create("objective", "gap");
  return out;
}

List package(const bsvm::Problem& problem, const bsvm::Estimate& found) {
  return List::create(
      _["mean"] = to_numeric(found.coefficients), _["effects"] = to_numeric(found.effects),
      _["multipliers"] = to_numeric(found.multipliers),
      _["hyper"] = reports(problem.priors, found.hyper, 0),
      _["group_hyper"] = reports(problem.group_priors, found.hyper, problem.priors.size()),
      _["objective"] = found.objective, _["dual"] = found.dual, _["gap"] = found.gap,
      _["certified"] = found.certified, _["read_again"] = found.read_again, _["trace"] = to_trace(found.trace),
      _["passes"] = static_cast<int>(found.trace.size()), _["optima"] = Rcpp::wrap(found.optima),
      _["termination"] = name_of(found.end));
}

}  // namespace

// parts: NULL, or what reads the rows (core_shard_parts).
// [[Rcpp::export(rng = false)]]
Rcpp::List core_estimate(Rcpp::List problem, Rcpp::List model, Rcpp::List options,
                         SEXP parts = R_NilValue) {
  return with_host(options["verbose"], parts, [&](RHost& host) {
    const bsvm::Problem data = to_problem(problem, model);
    const List engine_spec = model["engine"];
    const std::string name = as<std::string>(engine_spec["name"]);
    const auto engine = bsvm::Registry<bsvm::Estimator>::make(
        name, to_params(name, engine_spec["parameters"]));
    const bsvm::EstimateOptions run = to_estimate_options(options);
    if (Rf_isNull(parts)) return package(data, engine->run(data, run, host));
    return package(data, engine->run_in_parts(data, *Rcpp::XPtr<bsvm::RowParts>(parts), run, host));
  });
}
