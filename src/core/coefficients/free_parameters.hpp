#pragma once
#include <vector>

#include "model/problem.hpp"

namespace bsvm {

// Second derivatives of a prior's log_joint in its free parameters, from its gradient.
Mat joint_hessian(const Prior& prior, const Moments& moments, ConstVecRef theta);

// H^{-1} g with the eigenvalues of H made positive.
Vec positive_solve(const Mat& h, const Vec& g);

// Where log_joint(moments, .) is largest, from `theta` by Newton's method with halved steps.
Vec maximise_joint(const Prior& prior, const Moments& moments, ConstVecRef theta);

// log p(theta) of all hyper-parameters, and its gradient.
double log_prior(const Model& problem, ConstVecRef theta, VecRef gradient);

// What a step in each free parameter of all priors is measured by: 1 for logarithms; for an
// off-diagonal entry of a root F of a covariance the diagonal one of its row.
struct FreeUnits {
  Vec unit;                     // (h)
  std::vector<bool> logarithm;  // (h)
};
FreeUnits free_units(const Model& problem, ConstVecRef theta);

}  // namespace bsvm
