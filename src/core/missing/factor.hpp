#pragma once

#include <Eigen/Cholesky>

#include "base/error.hpp"
#include "base/types.hpp"

namespace bsvm {

inline Eigen::LLT<Mat> factor_of(const Mat& a) {
  Eigen::LLT<Mat> out(a);
  if (out.info() != Eigen::Success || !a.allFinite())
    throw NumericalFailure(
        "The covariance of the imputation model is not positive definite to working accuracy. "
        "Leave out variables that repeat others.");
  return out;
}

inline double logdet(const Eigen::LLT<Mat>& factor) {
  return 2 * factor.matrixLLT().diagonal().array().log().sum();
}

}  // namespace bsvm
