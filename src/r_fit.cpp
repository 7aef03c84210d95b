#include "core/engine/coefficients.hpp"
#include "r_convert.h"
#include "r_host.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericMatrix;
using Rcpp::NumericVector;

namespace {

NumericMatrix trace_matrix(const std::vector<bsvm::TraceEntry>& trace) {
  NumericMatrix out(static_cast<int>(trace.size()), 4);
  for (size_t k = 0; k < trace.size(); ++k) {
    out(k, 0) = trace[k].bound;
    out(k, 1) = trace[k].gradient;
    out(k, 2) = trace[k].damping;
    out(k, 3) = trace[k].step;
  }
  Rcpp::colnames(out) = Rcpp::CharacterVector::create("bound", "gradient", "damping", "step");
  return out;
}

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

// The leading columns of the sparse factor and the root's inverse.
List sparse_factor(const bsvm::SparseFactor& factor, const bsvm::Mat& root) {
  return List::create(
      _["order"] = Rcpp::wrap(factor.order), _["p"] = Rcpp::wrap(factor.start),
      _["i"] = Rcpp::wrap(factor.row), _["x"] = Rcpp::wrap(factor.value),
      _["n_leading"] = static_cast<int>(factor.leading),
      _["root"] = to_array(root, {root.rows(), root.rows()}));
}

// Moments of the group effects: conditional on the rest, or with the factor.
List group_posterior(const bsvm::Problem& problem, const bsvm::GroupPosterior& groups,
                     const bsvm::Mat& root) {
  const bsvm::Index p = problem.columns(), q = problem.effects(), m = problem.groups;
  if (problem.sparse.columns > 0)
    return List::create(_["effects"] = to_numeric(groups.effect),
                        _["effects_sd"] = to_numeric(groups.effect_sd),
                        _["factor"] = sparse_factor(groups.factor, root));
  return List::create(_["group_mean"] = to_array(groups.mean, {q, m}),
                      _["group_precision"] = to_array(groups.precision, {q, q, m}),
                      _["group_regression"] = to_array(groups.regression, {q, p, m}));
}

List join(const List& a, const List& b) {
  return Rcpp::Function("c", R_BaseEnv)(a, b);
}

List package(const bsvm::Problem& problem, const bsvm::Result& result) {
  if (!result.state.begun())
    signal_core_error("bsvm_core_interrupted", "Interrupted before the first pass ended.", "");
  const bsvm::Index p = problem.columns();
  const bsvm::Coefficients side(problem, result.state.layout.p - p);
  const bsvm::OutsideMoments outside = side.outside(result);
  bsvm::Index start = 0;
  const List hyper = reports(problem.priors, result.state, start);
  const List group_hyper = reports(problem.group_priors, result.state, start);
  const List common = List::create(
      _["mean"] = to_numeric(outside.mean), _["covariance"] = to_array(outside.covariance, {p, p}),
      _["hyper"] = hyper, _["group_hyper"] = group_hyper, _["bound"] = result.bound,
      _["trace"] = trace_matrix(result.trace), _["passes"] = static_cast<int>(result.trace.size()),
      _["gradient"] = result.gradient, _["termination"] = name_of(result.end));
  return join(common, group_posterior(problem, outside.groups, side.outside_root(result.state)));
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
    bsvm::Options run;
    run.tolerance = as<double>(options["tol"]);
    run.max_passes = as<int>(options["max_passes"]);
    if (!Rf_isNull(options["start"])) run.start = to_vec(options["start"]);
    RHost host(as<bool>(options["verbose"]));
    const auto rows = make_source(data, engine->use(), as<int>(options["threads"]));
    return package(data, engine->run(data, *rows, run, host));
  });
}
