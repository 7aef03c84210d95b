#include <cmath>
#include <limits>
#include <numeric>

#include "core/linalg/sparse_pattern.hpp"
#include "core/rows/sparse/sparse_rows.hpp"
#include "r_convert.h"

namespace {

constexpr double kMostPairs = 2e7;  // of columns that share a row: an order takes seconds to find

double pairs(const bsvm::SparseColumns& sparse, bsvm::Index n) {
  std::vector<double> size(n, 0);
  for (int k = 0; k < sparse.start[sparse.columns]; ++k) ++size[sparse.row[k]];
  return std::inner_product(size.begin(), size.end(), size.begin(), 0.0);
}

bsvm::SparseColumns to_columns(const Rcpp::List& sparse) {
  const Rcpp::IntegerVector start = sparse["p"], row = sparse["i"], levels = sparse["levels"],
                            effects = sparse["effects"];
  const Rcpp::NumericVector value = sparse["x"];
  bsvm::SparseColumns out;
  out.columns = start.size() - 1;
  out.start = start.begin();
  out.row = row.begin();
  out.value = value.begin();
  for (R_xlen_t t = 0; t < levels.size(); ++t) out.terms.push_back({levels[t], effects[t]});
  return out;
}

bsvm::SparsePattern pattern_of(const bsvm::SparseColumns& columns, int n, int dense) {
  const bsvm::Levels parts(columns);
  const bsvm::Graph graph = level_graph(columns, n, parts);
  return analyse(graph, parts.weight, dense, late_levels(graph, parts));
}

}  // namespace

// Multiplications of one Cholesky factor of the precision of sparse columns, as in
// `problem$sparse`, and so many dense ones; infinite where finding an order would take too long.
// [[Rcpp::export(rng = false)]]
double core_sparse_cost(Rcpp::List sparse, int n, int dense) {
  return with_core_errors([&] {
    const bsvm::SparseColumns columns = to_columns(sparse);
    if (pairs(columns, n) > kMostPairs) return std::numeric_limits<double>::infinity();
    const bsvm::SparsePattern found = pattern_of(columns, n, dense);
    double sum = std::pow(static_cast<double>(found.root()), 3) / 3;
    for (bsvm::Index k = 0; k < found.leading; ++k)
      sum += std::pow(static_cast<double>(found.start[k + 1] - found.start[k] + found.tail()), 2);
    return sum;
  });
}

// Which of these columns, from 1 and increasing, stay with so many dense ones in the root.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_root_columns(Rcpp::List sparse, int n, int dense) {
  return with_core_errors([&] {
    const bsvm::SparsePattern found = pattern_of(to_columns(sparse), n, dense);
    Rcpp::IntegerVector out(found.order.begin() + found.leading, found.order.end());
    return Rcpp::IntegerVector(out + 1);
  });
}
