#pragma once
#include "integrated_twin.hpp"

// Rows in groups, the Problem in which the groups' effects can be integrated out, and its twin.
namespace bsvm_test {

// One effect a group: a random intercept.
inline Data grouped(Index p, Index n = 40, Index groups = 6, Index q = 1) {
  Shape shape;
  shape.n = n;
  shape.p = p;
  shape.q = q;
  shape.ones = q == 1;
  shape.groups = groups;
  shape.seed = 2;
  return simulate(shape);
}

// Coefficients N(0, 3), the one effect's variance inverse-gamma(1.2, 0.8).
inline Problem integrated_problem(const Data& data, const char* likelihood) {
  return with(to_problem(data, {normal_prior(3, range(0, data.shape.p))},
                         {ridge_prior(1.2, 0.8, {0})}), likelihood, 0);
}
inline IntegratedTwin integrated_twin(const Data& data, const char* likelihood) {
  return IntegratedTwin(data, likelihood, VecL::Constant(data.shape.p, 3), 1.2L, 0.8L);
}

}  // namespace bsvm_test
