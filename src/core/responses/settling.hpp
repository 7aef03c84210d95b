#pragma once
#include <cmath>

#include "model.hpp"

namespace bsvm {

// Empirical Bayes by stochastic approximation EM (Responses::settled): averages of the coefficients'
// squares over sweeps, and the hyper-parameters that are best for them.
class Settling {
 public:
  explicit Settling(const Responses& model) : model_(model) {
    if (model.settled == 0) return;
    first_ = static_cast<Index>(kDrawn * static_cast<double>(model.settled));
    for (const ColumnPart& part : model.parts)
      squares_.emplace_back(static_cast<size_t>(model.q()), Vec::Zero(1 + part.width()));
  }

  // Are hyper-parameters drawn in this sweep (from zero)?
  bool draws(Index sweep) const { return model_.settled == 0 || sweep < first_; }

  // The squares of a part's coefficients that are in the model, or their sum. E 1/s^2 under the best
  // q is the mode of log s^2 given the squares' expectation.
  void average(Index sweep, size_t part, Index j, Moments moments, VecRef hyper) {
    if (sweep >= model_.settled) return;
    Vec& kept = squares_[part][static_cast<size_t>(j)];
    const double weight = std::pow(static_cast<double>(sweep + 1 - first_), -kStep);
    kept[0] += weight * (moments.count - kept[0]);
    auto square = kept.segment(1, moments.square.size());
    square += weight * (moments.square - square);
    moments.count = kept[0];
    moments.square = square;
    model_.parts[part].priors[static_cast<size_t>(j)]->update(moments, 1, hyper);
  }

  std::vector<std::vector<Vec>>& squares() { return squares_; }

 private:
  // Of the sweeps to where hyper-parameters are held, the first share draws them. Then the k-th
  // square has the weight k^-kStep.
  static constexpr double kDrawn = 1.0 / 3, kStep = 0.7;

  const Responses& model_;
  Index first_ = 0;
  // Of each part and response: the number of coefficients, which differs by set, and their squares.
  std::vector<std::vector<Vec>> squares_;
};

}  // namespace bsvm
