#include <algorithm>

#include "core/coefficients/coefficients.hpp"
#include "core/gaussian/approximation.hpp"
#include "r_convert.h"
#include "r_host.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;

namespace {

// (d, h) d mean/d theta on the outside scale, where coefficients are all that moves; or NULL.
SEXP mean_slope(const bsvm::Problem& problem, const bsvm::Node& node) {
  if (problem.integrated < 0 || node.slope.size() == 0) return R_NilValue;
  bsvm::Mat slope = node.slope;
  slope.topRows(problem.columns()).array().colwise() *= dense_units(problem).array();
  return to_array(slope, {slope.rows(), slope.cols()});
}

List component(const bsvm::Problem& problem, const bsvm::Node& node, double weight) {
  const List common = List::create(_["weight"] = weight, _["log_density"] = node.log_density,
                                   _["matched"] = node.matched,
                                   _["theta"] = to_numeric(node.theta),
                                   _["slope"] = mean_slope(problem, node));
  return join(common, problem.integrated >= 0 ? integrated_moments(problem, node)
                                              : row_moments(problem, node.state, node.groups));
}

Rcpp::IntegerVector free_sizes(const bsvm::Problem& problem) {
  Rcpp::IntegerVector out;
  for (const auto* slots : {&problem.priors, &problem.group_priors})
    for (const bsvm::PriorSlot& slot : *slots) {
      const auto columns = static_cast<bsvm::Index>(slot.columns.size());
      out.push_back(static_cast<int>(slot.prior->free_size(columns)));
    }
  return out;
}

List package(const bsvm::Problem& problem, const bsvm::Approximation& found) {
  List components;
  for (size_t k = 0; k < found.nodes.size(); ++k)
    components.push_back(component(problem, found.nodes[k], found.weights[k]));
  const bsvm::Index h = found.theta_covariance.rows();
  const double* first = found.weights.data();
  const auto top = std::max_element(first, first + found.weights.size());
  const bsvm::State& state = found.nodes[top - first].state;
  const List out = List::create(
      _["components"] = components, _["free"] = free_sizes(problem),
      _["unbounded"] = Rcpp::wrap(found.unbounded),
      _["theta_covariance"] = to_array(found.theta_covariance, {h, h}),
      _["integrated"] = static_cast<int>(problem.integrated), _["bound"] = found.evidence,
      _["trace"] = trace_matrix(found.climb.trace), _["passes"] = found.passes,
      _["gradient"] = found.climb.gradient, _["termination"] = name_of(found.climb.end));
  return join(out, latent_report(problem.latent->report(state), bsvm::imputations(found)));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_approximate(Rcpp::List problem, Rcpp::List model, Rcpp::List options,
                            SEXP rows = R_NilValue) {
  return with_host(options["verbose"], rows, [&](RHost& host) {
    const bsvm::Problem data = to_problem(problem, model);
    const List engine_spec = model["engine"];
    const std::string name = as<std::string>(engine_spec["name"]);
    const auto engine = bsvm::Registry<bsvm::Approximator>::make(
        name, to_params(name, engine_spec["parameters"]));
    const int threads = to_count(options, "threads", 1);
    return package(data, engine->run(data, source_for(data, rows), to_run_options(options), threads,
                                     host));
  });
}
