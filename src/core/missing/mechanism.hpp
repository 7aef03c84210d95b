#pragma once
#include <vector>

#include "imputation_slots.hpp"
#include "unknowns.hpp"

namespace bsvm {

// Which entries are missing as a function of the variables: a probit of each indicator,
//
//   P(entry j is observed) = Phi(t'phi_j),  phi_j ~ N(0, probit_variance I),
//
// t (q) some of the columns `given` and some of the variables (after Faes, Ormerod & Wand 2011),
// with a latent a_j ~ N(t'phi_j, 1) whose sign the indicator is. Row by row; the State has E phi
// (q, J) and the covariance that all phi_j share, zero of draws.
class Mechanism {
 public:
  explicit Mechanism(const Unknowns& unknowns);
  bool any() const { return !unknowns_.indicators.empty(); }

  void prepare(const State& state);

  // (q) of a row: `given` its first, columns n apart; x (d).
  Vec regressors(const double* given, Index n, ConstVecRef x) const;

  // E a (J) at E t; and the row's share of the bound there: with S the covariance of x_M it is less
  // by tr(precision S) / 2.
  double expect(ConstVecRef t, const std::vector<Index>& missing, VecRef latent) const;
  void draw(ConstVecRef t, const std::vector<Index>& missing, Draws& random, VecRef latent) const;

  // The log density quadratic in x_M that a leaves: its precision, and its slope at t.
  Mat precision(const std::vector<Index>& missing) const;
  Vec slope(const std::vector<Index>& missing, ConstVecRef t, ConstVecRef latent) const;

 private:
  const Unknowns& unknowns_;
  ImputationSlots slots_;
  std::vector<Index> place_;  // (d) of a variable in t, or -1
  Mat phi_, spread_, second_;  // (q, J); (q, q) and the sum over j of E phi_j phi_j'
};

}  // namespace bsvm
