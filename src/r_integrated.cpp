#include "core/base/error.hpp"
#include "core/rows/integrated/integrated_source.hpp"
#include "r_convert.h"
#include "r_host.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericMatrix;

namespace {

// Coefficients inside, from the outside: dense columns have units, other factors' effects none.
bsvm::Mat inside(const bsvm::Problem& problem, const NumericMatrix& points) {
  bsvm::Mat out = Eigen::Map<const bsvm::Mat>(points.begin(), points.nrow(), points.ncol());
  const bsvm::Vec unit = dense_units(problem);
  out.topRows(unit.size()).array().colwise() /= unit.array();
  return out;
}

void check_points(const bsvm::IntegratedSource& source, const NumericMatrix& points) {
  if (points.nrow() != source.coefficients() + source.free())
    throw bsvm::InvalidInput("parameters", "A point must have a number for each coefficient and "
                                           "each free parameter of the integrated effects.");
}

}  // namespace

// log-likelihood with a factor's effects integrated out at points (d + free, K), coefficients on
// the outside scale; depth 0: value, 1: and gradient, 2: and Hessian.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_integrated(Rcpp::List problem, Rcpp::List model, Rcpp::NumericMatrix points,
                           int depth, int threads) {
  return with_host(R_NilValue, [&](RHost& host) {
    const bsvm::Problem data = to_problem(problem, model);
    bsvm::IntegratedSource source(data, threads);
    check_points(source, points);
    if (depth < 0 || depth > 2)
      throw bsvm::InvalidInput("depth", "'depth' must be 0, 1 or 2.");
    const bsvm::Mat at = inside(data, points);
    const bsvm::Index size = at.rows(), number = at.cols();
    bsvm::Vec unit = bsvm::Vec::Ones(size);
    unit.head(data.columns()) = dense_units(data);
    bsvm::RowSums sums(size);
    Rcpp::NumericVector value(number);
    NumericMatrix gradient(static_cast<int>(size), static_cast<int>(number));
    List hessian;
    for (bsvm::Index k = 0; k < number; ++k) {
      source.sums(at.col(k), static_cast<bsvm::Depth>(depth), sums, host);
      value[k] = sums.value();
      Eigen::Map<bsvm::Vec>(gradient.begin() + k * size, size) = sums.linear().cwiseQuotient(unit);
      if (depth < 2) continue;
      const bsvm::Mat whole = sums.curvature().selfadjointView<Eigen::Lower>();
      const bsvm::Vec inverse = unit.cwiseInverse();
      hessian.push_back(
          to_array(-(inverse.asDiagonal() * whole * inverse.asDiagonal()), {size, size}));
    }
    return List::create(_["value"] = value, _["gradient"] = gradient, _["hessian"] = hessian);
  });
}

// At points as above: log G_g of each group (m, K), G_g the integral of its rows, or by row the log
// of the quotient of G_g and what it is without the row (n, K).
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_integrated_terms(Rcpp::List problem, Rcpp::List model,
                                          Rcpp::NumericMatrix points, bool by_row, int threads) {
  return with_host(R_NilValue, [&](RHost& host) {
    const bsvm::Problem data = to_problem(problem, model);
    bsvm::IntegratedSource source(data, threads, bsvm::Precision::quick);
    check_points(source, points);
    const bsvm::Mat at = inside(data, points);
    const bsvm::Mat out = by_row ? source.row_terms(at, host) : source.group_terms(at, host);
    return NumericMatrix(static_cast<int>(out.rows()), static_cast<int>(out.cols()), out.data());
  });
}

// Quantiles of the integrated effects, a mixture over points: (probabilities, q m).
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_effect_quantiles(Rcpp::List problem, Rcpp::List model,
                                          Rcpp::NumericMatrix points,
                                          Rcpp::NumericVector weights,
                                          Rcpp::NumericVector probabilities, int threads) {
  return with_host(R_NilValue, [&](RHost& host) {
    const bsvm::Problem data = to_problem(problem, model);
    bsvm::IntegratedSource source(data, threads);
    check_points(source, points);
    const bsvm::Mat out = source.quantiles(inside(data, points), to_vec(weights),
                                           to_vec(probabilities), host);
    return NumericMatrix(static_cast<int>(out.rows()), static_cast<int>(out.cols()), out.data());
  });
}

// How the integrated effects' distributions at points differ from normal ones, a column a level,
// all levels of a point adjoining (IntegratedSource::shapes); `moved` on the outside scale.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_effect_shapes(Rcpp::List problem, Rcpp::List model,
                                       Rcpp::NumericMatrix points, Rcpp::NumericMatrix moved,
                                       int threads) {
  return with_host(R_NilValue, [&](RHost& host) {
    const bsvm::Problem data = to_problem(problem, model);
    bsvm::IntegratedSource source(data, threads, bsvm::Precision::quick);
    check_points(source, points);
    const Eigen::Map<const bsvm::Mat> spread(moved.begin(), moved.nrow(), moved.ncol());
    const bsvm::Mat out = source.shapes(inside(data, points), spread, host);
    return NumericMatrix(static_cast<int>(out.rows()), static_cast<int>(out.cols()), out.data());
  });
}
