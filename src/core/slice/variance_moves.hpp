#pragma once
#include "coefficients/coefficients.hpp"
#include "rows/lines/predictors.hpp"
#include "working_gaussian.hpp"

namespace bsvm {

// Slices along each free parameter theta_k of the priors, in which what the prior is of follows: at
// fixed e in x = m(theta) + L(theta)^{-T} e, where the WorkingGaussian has mean m and precision
// L L' of x given all else. The density is that of (e, theta_k), so with the map's determinant.
// Where the rows say much of x it hardly moves (a centred parameterisation), where they say little
// it scales with theta (one that is not centred).
class VarianceMoves {
 public:
  VarianceMoves(const Coefficients& side, const WorkingRows& working,
                const WorkingGaussian& gaussian);

  // `tune`: may first intervals be adapted?
  void run_dense(State& state, Predictors& rows, bool tune, Draws& random);
  void run_groups(State& state, Predictors& rows, bool tune, Draws& random);

  const Vec& widths() const { return widths_; }
  void restore(ConstVecRef widths) { widths_ = widths; }

 private:
  // A block of coefficients with all effects following their regression, or a block of the effects
  // of a factor's levels.
  class Dense;
  class Levels;

  template <class Block>
  void move(const PriorPart& part, Index at, Index k, Block& block, State& state, bool tune,
            Draws& random);

  const Coefficients& side_;
  const WorkingRows& working_;
  const WorkingGaussian& gaussian_;
  Vec widths_;  // (free parameters) of first intervals
};

}  // namespace bsvm
