#pragma once
#include "integral_oracle.hpp"

// q(b) = N(mu, L L') for all coefficients at once, group effects included, and its exact expected
// bound: every row's expectation by itself, in long double, prior variances known.
namespace bsvm_test {

struct GaussianTwin {
  Oracle rows;        // design, y, weights, offset and prior precision, on one scale
  const RowLaw* law;  // kPseudo or kNormalised

  Index size() const { return rows.size(); }
  Real log_joint(const VecL& b) const;  // log p(y | b) + log p(b)
  Real expected(Real y, Real m, Real v) const;  // E log p(y | f)
  Real bound(const VecL& mean, const MatL& root) const;  // root: L, any

  // Of bound(mean + L a, L (1 + T)) in a and in the lower triangle of T, at zero, by differences.
  VecL gradient(const VecL& mean, const MatL& root) const;

  // Bound's gradient in the mean, and D + C'WC, of the pseudo-likelihood in closed form.
  VecL slope(const VecL& mean, const MatL& covariance) const;
  MatL precision(const VecL& mean, const MatL& covariance) const;
};

const RowLaw& law_of(const char* likelihood);

// Of data with fixed prior variances of the dense columns and of a group's effects (outside scale).
GaussianTwin gaussian_twin(const Data& data, const char* likelihood, const Vec& variance,
                           const Vec& group_variance = Vec());

// A sample's mean of log p(y, b) - log q(b) and its standard error.
struct Estimate {
  Real mean, error;
};
Estimate simulated_bound(const GaussianTwin& twin, const VecL& mean, const MatL& root, int draws);

}  // namespace bsvm_test
