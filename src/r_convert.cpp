#include "r_convert.hpp"

#include "core/block/dense.hpp"

using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericMatrix;
using Rcpp::NumericVector;

namespace {

// Null for R's NULL; never a copy, so the argument must be of type double.
const double* view(const List& list, const char* name) {
  SEXP x = list[name];
  return Rf_isNull(x) ? nullptr : REAL(x);
}

bsvm::PriorSlot to_slot(const List& block) {
  bsvm::PriorSlot slot;
  const std::string name = as<std::string>(block["prior"]);
  slot.prior = bsvm::Registry<bsvm::Prior>::make(name, to_params(name, block["parameters"]));
  for (int column : as<std::vector<int>>(block["columns"])) slot.columns.push_back(column - 1);
  slot.unseen = as<double>(block["unseen"]);
  return slot;
}

}  // namespace

bsvm::Vec to_vec(const NumericVector& x) {
  return Eigen::Map<const bsvm::Vec>(x.begin(), x.size());
}

NumericVector to_array(const bsvm::Mat& values, const std::vector<bsvm::Index>& dim) {
  NumericVector out(values.data(), values.data() + values.size());
  out.attr("dim") = Rcpp::IntegerVector(dim.begin(), dim.end());
  return out;
}

bsvm::Params to_params(const std::string& component, SEXP numbers) {
  std::map<std::string, double> values;
  if (Rf_length(numbers) > 0) {
    const NumericVector x(numbers);
    const std::vector<std::string> names = as<std::vector<std::string>>(x.names());
    for (R_xlen_t k = 0; k < x.size(); ++k) values[names[k]] = x[k];
  }
  return bsvm::Params(component, values);
}

bsvm::Problem to_problem(const List& problem, const List& model) {
  bsvm::Problem out;
  const NumericMatrix x = problem["x"];
  out.n = x.nrow();
  out.y = view(problem, "y");
  out.weight = view(problem, "weight");
  out.offset = view(problem, "offset");
  // An intercept that is not a column of x saves the caller a copy of x.
  const bool intercept = problem.containsElementNamed("intercept") &&
                         as<bool>(problem["intercept"]);
  if (intercept) out.blocks.emplace_back(new bsvm::OnesBlock);
  out.blocks.emplace_back(new bsvm::DenseBlock(
      x.begin(), out.n, to_vec(problem["center"]).tail(x.ncol()),
      to_vec(problem["scale"]).tail(x.ncol())));
  out.groups = as<int>(problem["n_groups"]);
  if (out.groups > 0) {
    out.group = INTEGER(problem["group"]);
    SEXP z = problem["z"];
    if (Rf_isNull(z)) {
      out.multipliers.reset(new bsvm::OnesBlock);
    } else {
      const bsvm::Index q = Rf_ncols(z);
      out.multipliers.reset(new bsvm::DenseBlock(REAL(z), out.n, bsvm::Vec::Zero(q),
                                                 bsvm::Vec::Ones(q)));
    }
  }
  const List likelihood = model["likelihood"];
  const std::string name = as<std::string>(likelihood["name"]);
  out.likelihood = bsvm::Registry<bsvm::Likelihood>::make(
      name, to_params(name, likelihood["parameters"]));
  for (const List block : as<List>(model["blocks"])) out.priors.push_back(to_slot(block));
  for (const List block : as<List>(model["group_blocks"]))
    out.group_priors.push_back(to_slot(block));
  bsvm::check(out);
  return out;
}

NumericVector to_named(const bsvm::NamedNumbers& numbers) {
  NumericVector out(numbers.size());
  Rcpp::CharacterVector names(numbers.size());
  for (size_t k = 0; k < numbers.size(); ++k) {
    names[k] = numbers[k].first;
    out[k] = numbers[k].second;
  }
  out.names() = names;
  return out;
}

void signal_core_error(const char* type, const std::string& message,
                       const std::string& argument) {
  List condition = List::create(Rcpp::_["message"] = message, Rcpp::_["call"] = R_NilValue,
                                Rcpp::_["argument"] = argument);
  condition.attr("class") = Rcpp::CharacterVector::create(type, "error", "condition");
  Rcpp::Function("stop")(condition);
  throw Rcpp::exception("unreachable");
}
