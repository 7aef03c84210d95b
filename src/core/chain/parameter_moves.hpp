#pragma once
#include <functional>

#include "coefficients/coefficients.hpp"
#include "learnt_axes.hpp"

namespace bsvm {

// Slices of the parameters of the likelihood and of the blocks, coefficients and effects held
// (design_moves.hpp has them follow) and latent scales averaged out: along each, or where there are
// several, which may be strongly correlated (a scale and a shape), along learnt axes. A covariance
// does not see where the tails go: so also along the differences of any two, which leave the product
// of what they are logarithms of; not of coefficients of a parameter, whose tails are those of the
// rows' log p.
class ParameterMoves {
 public:
  explicit ParameterMoves(const Coefficients& side);

  // log_likelihood(): of the rows at the State's parameters. It is asked last where they end. Where
  // it throws NumericalFailure, as at a kernel whose covariance is singular, parameters don't go.
  // `tune`: may one learn?
  void run(State& state, const std::function<double()>& log_likelihood, bool tune);

  // All that was learnt.
  Vec learnt() const { return axes_.learnt(); }
  void restore(ConstVecRef learnt) { axes_.restore(learnt); }

 private:
  void move(Index k, State& state, const std::function<double()>& log_likelihood, bool tune);
  Vec direction(Index k) const;
  Index size() const { return axes_.size(); }

  const Coefficients& side_;
  std::vector<std::pair<Index, Index>> pairs_;
  LearntAxes axes_;  // and the pairs
};

}  // namespace bsvm
