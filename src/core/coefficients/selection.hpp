#pragma once
#include "coefficients.hpp"

namespace bsvm {

// Which of the State's coefficients are selected, and the way between the State of v and that of
// the effective coefficients g v which the rows see:
//
//   E g v = g E v,  Cov(g v) = G S G + diag(scatter),  scatter_j = g_j (1 - g_j) (S_jj + E v_j^2)
class Selection {
 public:
  Selection(const Model& problem, const Coefficients& side);

  const std::vector<Index>& columns() const { return columns_; }
  // (p) E g_j, one where nothing is selected.
  Vec inclusion(const State& own) const { return side_.included(own); }
  void set(State& own, ConstVecRef inclusion) const;
  // (p) log odds of the prior, of those in columns().
  Vec log_odds(const State& own) const;

  // Of start `number`: each coefficient is half in with probability 1/2, else in.
  void draw(int number, std::uint64_t seed, State& own) const;

  State effective(const State& own) const;
  Inclusion report(const State& own, ConstVecRef sd) const;  // sd (p) of v

 private:
  const Coefficients& side_;
  std::vector<Index> columns_;  // of the State
};

// Log odds are kept within limits such that no inclusion is zero: G has an inverse.
double inclusion_at(double log_odds);
// The squared length of a step of an inclusion in the Fisher metric, to first order.
double squared_move(double from, double to);

// (p) By which power of its prior variance E v_j^2 changes, where S_jj (variance) is 1 / (prior
// precision + what the rows add).
Vec followed(const Coefficients& side, ConstVecRef variance, const State& own);

// The rows' share of the bound as a function of the effective mean and covariance, near m_0 and to
// first order in the covariance, the groups' effects at their best:
//   t'm - m'K m / 2 - tr(R Cov) / 2,  and `raw` in place of R's diagonal for `scatter`
struct RowModel {
  Mat weight, curvature;  // (p, p) R and K
  Vec raw, linear;        // (p) linear is t
};
RowModel row_model(RowSums& sums, ConstVecRef mean);

// q(v) given q(g) and the priors. Returns the squared norm of the gradient there was.
double improve_gaussian(const Coefficients& side, const Selection& selection,
                        const RowModel& rows, State& own, Host& host);

// q(g_j) given q(v), one after the other. The same.
double improve_inclusion(const Selection& selection, const RowModel& rows, State& own,
                         Host& host);

}  // namespace bsvm
