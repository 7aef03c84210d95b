// What engines find out, as lists of R.
#include <sstream>

#include "core/coefficients/coefficients.hpp"
#include "r_convert.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericMatrix;

namespace {

// The leading columns of the sparse factor and the root's inverse.
List sparse_factor(const bsvm::SparseFactor& factor, const bsvm::Mat& root) {
  return List::create(
      _["order"] = Rcpp::wrap(factor.order), _["p"] = Rcpp::wrap(factor.start),
      _["i"] = Rcpp::wrap(factor.row), _["x"] = Rcpp::wrap(factor.value),
      _["n_leading"] = static_cast<int>(factor.leading),
      _["root"] = to_array(root, {root.rows(), root.rows()}));
}

// A file of group effects, and what brings its numbers outside. It is R's from now on.
List group_file(const bsvm::Problem& problem, const bsvm::GroupFile& file) {
  file.kept = true;
  return List::create(
      _["path"] = file.path, _["sum"] = hex_of(file.sum),
      _["effects"] = static_cast<double>(file.effects),
      _["columns"] = static_cast<double>(file.columns),
      _["levels"] = static_cast<double>(file.levels), _["unit"] = to_numeric(dense_units(problem)),
      _["group_unit"] = to_numeric(problem.multipliers->unit()));
}

// Moments of the group effects: conditional on the rest, or with the factor.
List group_posterior(const bsvm::Problem& problem, const bsvm::GroupPosterior& groups,
                     const bsvm::Mat& root) {
  const bsvm::Index p = problem.columns(), q = problem.effects(), m = problem.groups;
  if (problem.sparse.columns > 0)
    return List::create(_["effects"] = to_numeric(groups.effect),
                        _["effects_sd"] = to_numeric(groups.effect_sd),
                        _["factor"] = sparse_factor(groups.factor, root));
  if (groups.file) return List::create(_["group_file"] = group_file(problem, *groups.file));
  return List::create(_["group_mean"] = to_array(groups.mean, {q, m}),
                      _["group_precision"] = to_array(groups.precision, {q, q, m}),
                      _["group_regression"] = to_array(groups.regression, {q, p, m}));
}

}  // namespace

std::string hex_of(std::uint64_t x) {
  std::ostringstream out;
  out << std::hex << x;
  return out.str();
}

List join(const List& a, const List& b) { return Rcpp::Function("c", R_BaseEnv)(a, b); }

bsvm::Options to_run_options(const List& options) {
  bsvm::Options out;
  out.tolerance = as<double>(options["tol"]);
  out.max_passes = to_count(options, "max_passes");
  if (!Rf_isNull(options["start"])) out.start = to_vec(options["start"]);
  if (options.containsElementNamed("starts")) out.starts = to_count(options, "starts");
  if (options.containsElementNamed("seed")) out.seed = to_seed(options);
  return out;
}

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

List row_moments(const bsvm::Problem& problem, const bsvm::State& state,
                 const bsvm::GroupPosterior& groups) {
  const bsvm::Index p = problem.columns();
  const bsvm::Coefficients side(problem, state.layout.p - p);
  const bsvm::OutsideMoments outside = side.outside(state, groups);
  const List common =
      List::create(_["mean"] = to_numeric(outside.mean),
                   _["covariance"] = to_array(outside.covariance, {p, p}),
                   _["scatter"] = to_numeric(outside.scatter));
  return join(common, group_posterior(problem, outside.groups, side.outside_root(state)));
}

List latent_report(const bsvm::NamedMatrices& parts, const bsvm::Imputations& imputed) {
  if (parts.empty() && imputed.row.empty()) return List();
  Rcpp::IntegerVector row(imputed.row.begin(), imputed.row.end()),
      variable(imputed.variable.begin(), imputed.variable.end());
  List law;
  for (const auto& part : parts)
    law[part.first] = to_array(part.second, {part.second.rows(), part.second.cols()});
  return List::create(_["imputed"] = List::create(_["row"] = row + 1, _["variable"] = variable + 1,
                                                  _["mean"] = to_numeric(imputed.mean),
                                                  _["sd"] = to_numeric(imputed.sd)),
                      _["law"] = law);
}

bsvm::Vec dense_units(const bsvm::Problem& problem) {
  bsvm::Vec out(problem.columns());
  bsvm::Index first = 0;
  for (const auto& block : problem.blocks) {
    out.segment(first, block->columns()) = block->unit();
    first += block->columns();
  }
  return out;
}

// Coefficients are the dense columns, then other factors' effects; the groups are outside already.
List integrated_moments(const bsvm::Problem& problem, const bsvm::Node& node) {
  const bsvm::Index p = problem.columns(), d = node.state.layout.p, q = node.groups.mean.rows(),
                    m = node.groups.mean.cols();
  bsvm::Vec unit = bsvm::Vec::Ones(d);
  unit.head(p) = dense_units(problem);
  const bsvm::Mat root =
      node.state.inverse_factor().triangularView<Eigen::Lower>() * bsvm::Mat(unit.asDiagonal());
  const bsvm::Mat covariance = root.transpose() * root;
  const bsvm::Vec mean = node.state.mean().cwiseProduct(unit);
  List out = List::create(
      _["mean"] = to_numeric(mean.head(p)),
      _["covariance"] = to_array(covariance.topLeftCorner(p, p), {p, p}),
      _["group_mean"] = to_array(node.groups.mean, {q, m}),
      _["group_precision"] = to_array(node.groups.precision, {q, q, m}),
      _["group_regression"] = to_array(node.groups.regression, {q, d, m}));
  if (d == p) return out;
  return join(out, List::create(_["joint_mean"] = to_numeric(mean),
                                _["joint_covariance"] = to_array(covariance, {d, d})));
}
