#pragma once
#include <functional>

#include "coefficients/coefficients.hpp"

namespace bsvm {

// A slice along each parameter of the likelihood and of the blocks in turn, coefficients and effects
// held and latent scales averaged out. Of several parameters along directions in which they were
// uncorrelated during the burn-in: the scale and the tube of a residual are not.
class ParameterMoves {
 public:
  explicit ParameterMoves(const Coefficients& side);

  // log_likelihood(): of the rows at the State's parameters. It is asked last where they end.
  // `tune`: may first intervals and directions be adapted?
  void run(State& state, const std::function<double()>& log_likelihood, bool tune);

  // What chains have learnt, and go on from.
  const Vec& learnt() const { return learnt_; }
  void restore(ConstVecRef learnt) { learnt_ = learnt; }

 private:
  void move(Index k, const Vec& direction, State& state,
            const std::function<double()>& log_likelihood, bool tune);
  Mat directions() const;
  void learn(const Vec& theta);

  Eigen::Map<Vec> mean() { return {learnt_.data() + size_ + 1, size_}; }
  Eigen::Map<Mat> covariance() { return {learnt_.data() + 2 * size_ + 1, size_, size_}; }

  const Coefficients& side_;
  Index size_;
  Vec learnt_;  // widths of first intervals; of several parameters a count, their mean and covariance
};

}  // namespace bsvm
