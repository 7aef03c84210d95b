#pragma once
#include <functional>

#include "coefficients/coefficients.hpp"

namespace bsvm {

// Slices of the parameters of the likelihood and of the blocks, coefficients and effects held
// (design_moves.hpp has them follow) and latent scales averaged out: along each, or where there are
// several, which may be strongly correlated (a scale and a shape), along the columns of a root of
// their covariance. That and the first intervals are learnt while draws are not kept. A covariance
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
  Vec learnt() const;
  void restore(ConstVecRef learnt);

 private:
  void move(Index k, State& state, const std::function<double()>& log_likelihood, bool tune);
  void learn(ConstVecRef theta);
  Vec direction(Index k) const;
  Index size() const { return mean_.size(); }

  const Coefficients& side_;
  std::vector<std::pair<Index, Index>> pairs_;
  Vec widths_;      // (parameters, then pairs) of first intervals
  Mat axes_;        // (parameters, parameters)
  Vec seen_;        // how many draws, and of how many of them mean_ and square_ are
  Vec mean_;        // (parameters)
  Mat square_;      // (parameters, parameters) sum of (draw - mean)(draw - mean)'
};

}  // namespace bsvm
