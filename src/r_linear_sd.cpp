#include "core/base/error.hpp"
#include "core/rows/sparse/sparse_variance.hpp"
#include "r_convert.h"
#include "r_host.h"

namespace {

std::vector<int> integers(const Rcpp::List& from, const char* name) {
  return Rcpp::as<std::vector<int>>(from[name]);
}

bsvm::SparseFactor to_factor(const Rcpp::List& factor) {
  bsvm::SparseFactor out;
  out.order = integers(factor, "order");
  out.leading = to_count(factor, "n_leading");
  out.start = integers(factor, "p");
  out.row = integers(factor, "i");
  out.value = Rcpp::as<std::vector<double>>(factor["x"]);
  return out;
}

}  // namespace

// Standard deviations of the linear predictors of any rows under a sparse posterior: z a list
// (i, p, x, nrow), x (nrow, p).
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_linear_sd(Rcpp::List factor, Rcpp::List z, Rcpp::NumericMatrix x) {
  return with_host(R_NilValue, [&](RHost& host) {
    const std::vector<int> start = integers(z, "p"), row = integers(z, "i");
    const Rcpp::NumericVector value = z["x"];
    bsvm::SparseColumns columns;
    columns.columns = static_cast<bsvm::Index>(start.size()) - 1;
    columns.start = start.data();
    columns.row = row.data();
    columns.value = value.begin();
    const Rcpp::NumericMatrix root = factor["root"];
    if (start.empty() || start.back() != value.size() || value.size() != Rf_xlength(z["i"]) ||
        to_count(z, "nrow") != x.nrow())
      throw bsvm::InvalidInput("sparse", "The sparse columns must be compressed by column.");
    const bsvm::Vec variance = bsvm::linear_variances(
        to_factor(factor), Eigen::Map<const bsvm::Mat>(root.begin(), root.nrow(), root.ncol()),
        columns, Eigen::Map<const bsvm::Mat>(x.begin(), x.nrow(), x.ncol()), host);
    return to_numeric(variance.cwiseSqrt());
  });
}
