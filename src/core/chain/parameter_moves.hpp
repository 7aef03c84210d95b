#pragma once
#include <functional>

#include "coefficients/coefficients.hpp"

namespace bsvm {

// A slice along each parameter of the likelihood and of the blocks in turn, coefficients and effects
// held and latent scales averaged out.
class ParameterMoves {
 public:
  explicit ParameterMoves(const Coefficients& side)
      : side_(side), widths_(Vec::Constant(side.parameters(), 1)) {}

  // log_likelihood(): of the rows at the State's parameters. It is asked last where they end.
  // `tune`: may first intervals be adapted?
  void run(State& state, const std::function<double()>& log_likelihood, bool tune);

  const Vec& widths() const { return widths_; }
  void restore(ConstVecRef widths) { widths_ = widths; }

 private:
  void move(Index k, State& state, const std::function<double()>& log_likelihood, bool tune);

  const Coefficients& side_;
  Vec widths_;  // (parameters) of first intervals
};

}  // namespace bsvm
