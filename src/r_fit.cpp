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

List package(const bsvm::Problem& problem, const bsvm::Result& result) {
  if (!result.state.begun())
    signal_core_error("bsvm_core_interrupted", "Interrupted before the first pass ended.", "");
  bsvm::Index start = 0;
  const List hyper = reports(problem.priors, result.state, start);
  const List group_hyper = reports(problem.group_priors, result.state, start);
  const List common = List::create(
      _["hyper"] = hyper, _["group_hyper"] = group_hyper, _["bound"] = result.bound,
      _["trace"] = trace_matrix(result.trace), _["passes"] = static_cast<int>(result.trace.size()),
      _["gradient"] = result.gradient, _["termination"] = name_of(result.end));
  return join(row_moments(problem, result.state, result.groups), common);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_fit(Rcpp::List problem, Rcpp::List model, Rcpp::List options) {
  return with_core_errors([&] {
    const bsvm::Problem data = to_problem(problem, model);
    const List engine_spec = model["engine"];
    const std::string name = as<std::string>(engine_spec["name"]);
    const auto engine = bsvm::Registry<bsvm::Engine>::make(
        name, to_params(name, engine_spec["parameters"]));
    const bsvm::Options run = to_run_options(options);
    RHost host(as<bool>(options["verbose"]));
    const auto rows = bsvm::make_source(data, engine->use(), as<int>(options["threads"]));
    return package(data, engine->run(data, *rows, run, host));
  });
}
