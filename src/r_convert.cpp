#include "r_convert.h"

#include <algorithm>
#include <climits>

#include "core/block/dense.hpp"
#include "core/block/elsewhere.hpp"

using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericMatrix;
using Rcpp::NumericVector;

namespace {

void require(bool holds, const char* argument, const char* rule) {
  if (!holds)
    throw bsvm::InvalidInput(argument, std::string("'") + argument + "' must be " + rule + ".");
}

constexpr double kMostSeed = 9007199254740992;  // whole numbers a double knows

// Is every number finite? What is not makes the sum NaN.
bool all_finite(SEXP x) {
  const Eigen::Map<const bsvm::Arr> numbers(REAL(x), Rf_xlength(x));
  return !(numbers * 0).isNaN().any();
}

// Null for R's NULL; never a copy, so type and length must be right.
const double* view(const List& list, const char* name, R_xlen_t length) {
  SEXP x = list[name];
  if (Rf_isNull(x)) return nullptr;
  require(TYPEOF(x) == REALSXP && Rf_xlength(x) == length, name,
          "a double vector with an element a row");
  return REAL(x);
}

void take_groups(const List& problem, bsvm::Problem& out) {
  SEXP group = problem["group"], z = problem["z"];
  require(TYPEOF(group) == INTSXP && Rf_xlength(group) == out.n, "group",
          "an integer vector with an element a row");
  out.group = INTEGER(group);
  require(std::all_of(out.group, out.group + out.n,
                      [&](int code) { return code >= 1 && code <= out.groups; }),
          "group", "codes from 1 to the number of groups");
  if (Rf_isNull(z)) {
    out.multipliers.reset(new bsvm::OnesBlock);
    return;
  }
  require(TYPEOF(z) == REALSXP && Rf_isMatrix(z) && Rf_nrows(z) == out.n, "z",
          "a double matrix with a row for each row of x");
  require(all_finite(z), "z", "finite");
  const bsvm::Index q = Rf_ncols(z);
  out.multipliers.reset(
      new bsvm::DenseBlock(REAL(z), out.n, bsvm::Vec::Zero(q), bsvm::Vec::Ones(q)));
}

// An integer vector of the list; never a copy.
const int* integers(const List& list, const char* name, R_xlen_t length) {
  SEXP x = list[name];
  require(TYPEOF(x) == INTSXP && Rf_xlength(x) == length, name, "an integer vector");
  return INTEGER(x);
}

// list(level, rows), levels from 1.
std::vector<bsvm::LargeLevel> to_large_levels(const List& large) {
  const NumericVector level = large["level"], rows = large["rows"];
  std::vector<bsvm::LargeLevel> out;
  for (R_xlen_t k = 0; k < level.size(); ++k)
    out.push_back({static_cast<bsvm::Index>(level[k]) - 1, static_cast<bsvm::Index>(rows[k])});
  return out;
}

void take_terms(const List& sparse, bsvm::Problem& out) {
  const std::vector<int> levels = as<std::vector<int>>(sparse["levels"]),
                         effects = as<std::vector<int>>(sparse["effects"]);
  require(levels.size() == effects.size(), "sparse", "one number of effects a term");
  for (size_t t = 0; t < levels.size(); ++t) {
    require(levels[t] >= 1 && effects[t] >= 1, "sparse", "terms of one level at least");
    out.sparse.terms.push_back({levels[t], effects[t]});
    out.sparse.columns += bsvm::Index{levels[t]} * effects[t];
  }
  require(out.sparse.columns <= INT_MAX, "sparse", "of fewer columns than integers can count");
}

void take_sparse(const List& sparse, bsvm::Problem& out) {
  take_terms(sparse, out);
  out.sparse.start = integers(sparse, "p", out.sparse.columns + 1);
  const R_xlen_t size = out.sparse.start[out.sparse.columns];
  require(size >= 0, "sparse", "compressed by column");
  out.sparse.row = integers(sparse, "i", size);
  SEXP x = sparse["x"];
  require(TYPEOF(x) == REALSXP && Rf_xlength(x) == size, "sparse", "given by doubles");
  out.sparse.value = REAL(x);
}

std::map<std::string, double> to_values(SEXP numbers) {
  std::map<std::string, double> values;
  if (Rf_length(numbers) > 0) {
    const NumericVector x(numbers);
    const std::vector<std::string> names = as<std::vector<std::string>>(x.names());
    for (R_xlen_t k = 0; k < x.size(); ++k) values[names[k]] = x[k];
  }
  return values;
}

// Double vectors and matrices by name, NULL for none.
std::map<std::string, bsvm::Params::Array> to_arrays(const List& given) {
  std::map<std::string, bsvm::Params::Array> arrays;
  const std::vector<std::string> names = as<std::vector<std::string>>(given.names());
  for (size_t k = 0; k < names.size(); ++k) {
    SEXP values = given[k];
    if (Rf_isNull(values)) continue;
    require(TYPEOF(values) == REALSXP, names[k].c_str(), "given by doubles");
    const R_xlen_t rows = Rf_isMatrix(values) ? Rf_nrows(values) : Rf_xlength(values);
    arrays.emplace(names[k], bsvm::Params::Array(REAL(values), rows,
                                                 Rf_isMatrix(values) ? Rf_ncols(values) : 1));
  }
  return arrays;
}

// list(name, parameters, arrays).
void take_latent(const List& latent, bsvm::Problem& out) {
  const std::string name = as<std::string>(latent["name"]);
  out.latent = bsvm::Registry<bsvm::Latent>::make(
      name,
      bsvm::Params(name, to_values(latent["parameters"]), to_arrays(latent["arrays"])));
}

// What it looks up of the rows, if anything, is with these.
std::unique_ptr<bsvm::Likelihood> to_likelihood(const List& likelihood, const List& problem) {
  const std::string name = as<std::string>(likelihood["name"]);
  std::map<std::string, bsvm::Params::Array> arrays;
  if (has(problem, "looked_up")) arrays = to_arrays(problem["looked_up"]);
  return bsvm::Registry<bsvm::Likelihood>::make(
      name, bsvm::Params(name, to_values(likelihood["parameters"]), std::move(arrays)));
}

// How many levels the term of these effects has.
bsvm::Index levels_of(const bsvm::Problem& problem, bsvm::Index effect) {
  if (problem.multipliers) return problem.groups;
  for (const bsvm::SparseTerm& term : problem.sparse.terms) {
    if (effect < term.effects) return term.levels;
    effect -= term.effects;
  }
  return 0;
}

// list(name, parameters), and perhaps arrays and parts, a list of such lists.
bsvm::Params to_tree(const List& given) {
  std::map<std::string, bsvm::Params::Array> arrays;
  if (has(given, "arrays") && Rf_length(given["arrays"]) > 0) arrays = to_arrays(given["arrays"]);
  std::vector<bsvm::Params> parts;
  if (has(given, "parts"))
    for (const List part : as<List>(given["parts"])) parts.push_back(to_tree(part));
  return bsvm::Params(as<std::string>(given["name"]), to_values(given["parameters"]),
                      std::move(arrays), std::move(parts));
}

// Blocks of terms that the core makes from the rows' variables: after the dense columns.
void take_features(const List& features, bsvm::Problem& out) {
  for (const List feature : features) {
    const bsvm::Params params = to_tree(feature);
    auto block = bsvm::Registry<bsvm::Block>::make(params.component(), params);
    SEXP x = feature["x"];
    require(TYPEOF(x) == REALSXP && Rf_isMatrix(x) && Rf_nrows(x) == out.n && all_finite(x), "x",
            "a finite double matrix with a row for each row of the data");
    block->take(REAL(x), out.n, Rf_ncols(x));
    out.blocks.push_back(std::move(block));
  }
}

bsvm::PriorSlot to_slot(const List& block) {
  bsvm::PriorSlot slot;
  const std::string name = as<std::string>(block["prior"]);
  slot.prior = bsvm::Registry<bsvm::Prior>::make(name, to_params(name, block["parameters"]));
  for (int column : as<std::vector<int>>(block["columns"])) slot.columns.push_back(column - 1);
  slot.unseen = as<double>(block["unseen"]);
  slot.parameter = block.containsElementNamed("parameter") && as<bool>(block["parameter"]);
  if (block.containsElementNamed("start") && !Rf_isNull(block["start"]))
    slot.start = to_vec(block["start"]);
  return slot;
}

// list(n, units, n_groups, group_units, several): what is known of rows that are elsewhere. Several
// grouping factors: list(levels, effects, shared), columns of shared levels from 1.
void take_elsewhere(const List& problem, bsvm::Problem& out) {
  out.n = to_count(problem, "n");
  out.groups = to_count(problem, "n_groups");
  out.blocks.emplace_back(new bsvm::ElsewhereBlock(to_vec(problem["units"])));
  if (out.groups > 0)
    out.multipliers.reset(new bsvm::ElsewhereBlock(to_vec(problem["group_units"])));
  if (has(problem, "several")) {
    const List several = problem["several"];
    take_terms(several, out);
    for (const double column : as<std::vector<double>>(several["shared"]))
      out.shared.push_back(static_cast<int>(column) - 1);
  }
  if (has(problem, "latent")) take_latent(problem["latent"], out);
}

void take_rows(const List& problem, bsvm::Problem& out) {
  require(TYPEOF(problem["x"]) == REALSXP && Rf_isMatrix(problem["x"]), "x", "a double matrix");
  const NumericMatrix x = problem["x"];
  out.n = x.nrow();
  out.y = view(problem, "y", out.n);
  require(out.y != nullptr, "y", "given");
  out.weight = view(problem, "weight", out.n);
  out.offset = view(problem, "offset", out.n);
  // An intercept that is not a column of x saves the caller a copy of x.
  const bool intercept = problem.containsElementNamed("intercept") &&
                         as<bool>(problem["intercept"]);
  require(has(problem, "latent") || all_finite(x), "x", "finite");
  const R_xlen_t columns = x.ncol() + intercept;
  for (const char* name : {"center", "scale"}) {
    SEXP numbers = problem[name];
    require(TYPEOF(numbers) == REALSXP && Rf_xlength(numbers) == columns && all_finite(numbers),
            name, "one finite number a column");
  }
  require((to_vec(problem["scale"]).array() > 0).all(), "scale", "above 0");
  if (intercept) out.blocks.emplace_back(new bsvm::OnesBlock);
  out.blocks.emplace_back(new bsvm::DenseBlock(
      x.begin(), out.n, to_vec(problem["center"]).tail(x.ncol()),
      to_vec(problem["scale"]).tail(x.ncol())));
  if (has(problem, "features")) take_features(problem["features"], out);
  out.groups = to_count(problem, "n_groups");
  if (out.groups > 0) take_groups(problem, out);
  if (has(problem, "sparse")) take_sparse(problem["sparse"], out);
  if (has(problem, "latent")) take_latent(problem["latent"], out);
}

}  // namespace

bool has(const List& list, const char* name) {
  return list.containsElementNamed(name) && !Rf_isNull(list[name]);
}

int to_count(const List& list, const char* name, int least) {
  const double x = as<double>(list[name]);
  require(x >= least && x <= INT_MAX, name, "a whole number in the range of integers");
  return static_cast<int>(x);
}

std::uint64_t to_seed(const List& list) {
  const double x = as<double>(list["seed"]);
  require(x >= 0 && x <= kMostSeed, "seed", "a whole number");
  return static_cast<std::uint64_t>(x);
}

NumericVector to_numeric(const bsvm::Vec& x) {
  return NumericVector(x.data(), x.data() + x.size());
}

bsvm::Mat to_mat(const Rcpp::NumericMatrix& x) {
  return Eigen::Map<const bsvm::Mat>(x.begin(), x.nrow(), x.ncol());
}

std::unique_ptr<bsvm::Prior> to_prior(const List& block) {
  const std::string name = as<std::string>(block["prior"]);
  return bsvm::Registry<bsvm::Prior>::make(name, to_params(name, block["parameters"]));
}

bsvm::Vec to_vec(const NumericVector& x) {
  return Eigen::Map<const bsvm::Vec>(x.begin(), x.size());
}

NumericVector to_array(const bsvm::Mat& values, const std::vector<bsvm::Index>& dim) {
  NumericVector out(values.data(), values.data() + values.size());
  out.attr("dim") = Rcpp::IntegerVector(dim.begin(), dim.end());
  return out;
}

bsvm::Params to_params(const std::string& component, SEXP numbers) {
  return bsvm::Params(component, to_values(numbers));
}

bsvm::Params to_params(const std::string& component, SEXP numbers, const List& arrays) {
  if (arrays.size() == 0) return to_params(component, numbers);
  return bsvm::Params(component, to_values(numbers), to_arrays(arrays));
}

bsvm::Problem to_problem(const List& problem, const List& model) {
  bsvm::Problem out;
  if (has(problem, "units")) take_elsewhere(problem, out);
  else take_rows(problem, out);
  if (has(problem, "large")) out.large = to_large_levels(problem["large"]);
  if (has(model, "integrated")) out.integrated = to_count(model, "integrated", -1);
  if (has(problem, "leaving"))
    for (const int k : as<std::vector<int>>(problem["leaving"])) out.leaving.push_back(k - 1);
  if (has(problem, "left_over"))
    out.left_over =
        view(problem, "left_over", out.n * static_cast<R_xlen_t>(out.leaving.size()));
  out.likelihood = to_likelihood(model["likelihood"], problem);
  for (const List block : as<List>(model["blocks"])) out.priors.push_back(to_slot(block));
  for (const List block : as<List>(model["group_blocks"])) {
    out.group_priors.push_back(to_slot(block));
    bsvm::PriorSlot& slot = out.group_priors.back();
    if (!slot.columns.empty()) slot.levels = levels_of(out, slot.columns[0]);
  }
  bsvm::Index first = out.likelihood->free_size();
  for (const auto& block : out.blocks) {
    block->find_parameters(first);
    first += block->free_size();
  }
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
  signal_again(condition);
}

void signal_again(SEXP condition) {
  Rcpp::Function("stop", R_BaseEnv)(condition);
  throw Rcpp::exception("unreachable");
}
