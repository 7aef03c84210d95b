#pragma once
#include "base/error.hpp"
#include "linalg/dense.hpp"

namespace bsvm {

inline Factor factor_of(const Mat& a) {
  Factor out(a);
  if (!out.positive() || !a.allFinite())
    throw NumericalFailure(
        "The covariance of the imputation model is not positive definite to working accuracy. "
        "Leave out variables that repeat others.");
  return out;
}

}  // namespace bsvm
