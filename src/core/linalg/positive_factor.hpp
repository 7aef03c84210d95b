#pragma once
#include <Eigen/Cholesky>

#include "base/types.hpp"

namespace bsvm {

// The factor of a symmetric matrix (its lower triangle); of one that is not positive definite,
// after its diagonal is raised until it is. For steps of Newton's method where a density is not
// concave.
inline Eigen::LLT<Mat> positive_factor(const Mat& lower) {
  Eigen::LLT<Mat> factor(lower.selfadjointView<Eigen::Lower>());
  for (double add = 1e-8; factor.info() != Eigen::Success && add < 1e12; add *= 10) {
    Mat raised = lower;
    raised.diagonal().array() += add * (1 + lower.diagonal().array().abs());
    factor.compute(raised.selfadjointView<Eigen::Lower>());
  }
  return factor;
}

}  // namespace bsvm
