// Means, sums of squares, bounds and medians of columns.
#include <algorithm>
#include <cmath>

#include "core/data/column_gram.hpp"
#include "core/data/column_moments.hpp"
#include "core/data/median_search.hpp"
#include "r_convert.h"

using Rcpp::_;
using Rcpp::List;
using Rcpp::NumericVector;

namespace {

const double* weights_of(SEXP weights, R_xlen_t rows) {
  if (Rf_isNull(weights)) return nullptr;
  if (TYPEOF(weights) != REALSXP || Rf_xlength(weights) != rows)
    throw bsvm::InvalidInput("weights", "'weights' must be doubles, one a row.");
  return REAL(weights);
}

List moments_list(const bsvm::ColumnMoments& moments) {
  const auto sums = moments.sums();
  bsvm::Mat bounds(2, sums.least.size());
  bounds.row(0) = sums.least;
  bounds.row(1) = sums.most;
  return List::create(_["weight"] = sums.weight, _["mean"] = to_numeric(sums.mean),
                      _["squares"] = to_numeric(sums.squares),
                      _["bounds"] = to_array(bounds, {2, bounds.cols()}));
}

}  // namespace

// Moments of columns whose rows come in parts: a pointer, to which they are added.
// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_new_moments(int columns) {
  return Rcpp::RObject(Rcpp::XPtr<bsvm::ColumnMoments>(new bsvm::ColumnMoments(columns)));
}

// [[Rcpp::export(rng = false)]]
void core_add_moments(SEXP moments, Rcpp::NumericMatrix x, SEXP weights) {
  with_core_errors([&] {
    Rcpp::XPtr<bsvm::ColumnMoments>(moments)->add(x.begin(), x.nrow(),
                                                  weights_of(weights, x.nrow()));
    return 0;
  });
}

// The same at once, of one column.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_moments_of(Rcpp::NumericVector x, SEXP weights) {
  return with_core_errors([&] {
    bsvm::ColumnMoments moments(1);
    moments.add(x.begin(), x.size(), weights_of(weights, x.size()));
    return moments_list(moments);
  });
}

// list(weight, mean, squares, bounds), the last (2, columns).
// [[Rcpp::export(rng = false)]]
Rcpp::List core_read_moments(SEXP moments) {
  return moments_list(*Rcpp::XPtr<bsvm::ColumnMoments>(moments));
}

// X'X of columns whose rows come in parts: a pointer, to which they are added.
// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_new_gram(int columns) {
  return Rcpp::RObject(Rcpp::XPtr<bsvm::ColumnGram>(new bsvm::ColumnGram(columns)));
}

// [[Rcpp::export(rng = false)]]
void core_add_to_gram(SEXP gram, Rcpp::NumericMatrix x) {
  Rcpp::XPtr<bsvm::ColumnGram>(gram)->add(x.begin(), x.nrow());
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_read_gram(SEXP gram) {
  const bsvm::Mat sum = Rcpp::XPtr<bsvm::ColumnGram>(gram)->sum();
  return Rcpp::NumericMatrix(static_cast<int>(sum.rows()), static_cast<int>(sum.cols()), sum.data());
}

// A search for the median of numbers that are given in parts, in each of its passes: a pointer.
// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_new_median() {
  return Rcpp::RObject(Rcpp::XPtr<bsvm::MedianSearch>(new bsvm::MedianSearch));
}

// [[Rcpp::export(rng = false)]]
void core_add_to_median(SEXP search, Rcpp::NumericVector x, SEXP weights) {
  with_core_errors([&] {
    Rcpp::XPtr<bsvm::MedianSearch>(search)->add(x.begin(), x.size(), weights_of(weights, x.size()));
    return 0;
  });
}

// Ends a pass: NULL while others are needed, then the two numbers between which the median is.
// [[Rcpp::export(rng = false)]]
SEXP core_end_median_pass(SEXP search) {
  bsvm::MedianSearch& own = *Rcpp::XPtr<bsvm::MedianSearch>(search);
  own.end_pass();
  if (!own.found()) return R_NilValue;
  return Rcpp::NumericVector::create(own.lower(), own.upper());
}

// ---- sorted numbers --------------------------------------------------------------------------------

// The numbers of either vector, both sorted and without repetitions.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_union_sorted(Rcpp::NumericVector a, Rcpp::NumericVector b) {
  const R_xlen_t shared = [&] {
    R_xlen_t count = 0;
    for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
      if (*x == *y) ++count, ++x, ++y;
      else if (*x < *y) ++x;
      else ++y;
    }
    return count;
  }();
  NumericVector out(Rcpp::no_init(a.size() + b.size() - shared));
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  return out;
}

// Are they whole numbers of R's integers, none missing?
// [[Rcpp::export(rng = false)]]
bool core_all_integers(Rcpp::NumericVector x) {
  return std::all_of(x.begin(), x.end(), [](double value) {
    return std::abs(value) < 2147483648.0 && value == std::trunc(value);
  });
}

// Places of numbers among sorted `keys`, from 1; 0 of those that are not there, NA of missing ones.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_find_sorted(SEXP keys, Rcpp::NumericVector x) {
  const R_xlen_t size = Rf_xlength(keys);
  Rcpp::IntegerVector out(x.size());
  const auto find = [&](const auto* first) {
    for (R_xlen_t i = 0; i < x.size(); ++i) {
      const auto* at = std::lower_bound(first, first + size, x[i]);
      const bool there = at != first + size && static_cast<double>(*at) == x[i];
      out[i] = std::isnan(x[i]) ? NA_INTEGER : there ? static_cast<int>(at - first) + 1 : 0;
    }
  };
  if (TYPEOF(keys) == INTSXP) find(static_cast<const int*>(INTEGER(keys)));
  else find(static_cast<const double*>(REAL(keys)));
  return out;
}
