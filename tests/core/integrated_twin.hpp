#pragma once
#include "densities.hpp"
#include "integral_oracle.hpp"

// log p(y, b, theta) with each group's one effect integrated out by brute force: b (p) the dense
// coefficients on the outside scale, with known prior variances; theta = log s of the effect, s^2
// inverse-gamma.
namespace bsvm_test {

class IntegratedTwin {
 public:
  IntegratedTwin(const Data& data, const char* likelihood, VecL variance, Real shape, Real scale);

  Index size() const { return variance_.size(); }
  Real value(const VecL& b, Real theta) const;
  Real value(const VecL& both) const { return value(both.head(size()), both[size()]); }
  VecL gradient(const VecL& both) const;  // (p + 1)
  MatL curvature(const VecL& both) const;  // minus its derivatives, by differences

  // The highest b at theta, and the highest point of all, by Newton's method.
  VecL mode(VecL b, Real theta) const;
  VecL top(VecL both) const;
  // Laplace's approximation of the integral over b, at its mode.
  Real laplace(const VecL& mode, Real theta) const;

  // The law of a group's effect.
  EffectTruth effect(int group, const VecL& both) const;

 private:
  VecL climb(VecL both, Index free) const;

  const RowLaw& law_;
  std::vector<RowsData> groups_;  // c: dense columns
  VecL variance_;
  Real shape_, scale_;
};

}  // namespace bsvm_test
