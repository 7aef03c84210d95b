#include "core/linalg/rotate.hpp"
#include "r_convert.h"

// [[Rcpp::export(rng = false)]]
Rcpp::List core_rotate(Rcpp::NumericMatrix x, Rcpp::NumericVector center,
                       Rcpp::NumericVector scale) {
  return with_core_errors([&] {
    const bsvm::Rotation rotation =
        bsvm::rotate(Eigen::Map<const bsvm::Mat>(x.begin(), x.nrow(), x.ncol()),
                     to_vec(center), to_vec(scale));
    const bsvm::Index r = rotation.basis.cols();
    return Rcpp::List::create(
        Rcpp::_["features"] = to_array(rotation.features, {x.nrow(), r}),
        Rcpp::_["basis"] = to_array(rotation.basis, {x.ncol(), r}));
  });
}
