#pragma once
#include <deque>
#include <functional>

#include "base/types.hpp"

namespace bsvm {

// Directions of ascent from what the last steps have shown of the curvature (L-BFGS; Nocedal &
// Wright 2006, Algorithm 7.4), for a gradient that is preconditioned to about unit curvature.
class LimitedMemory {
 public:
  // Where to go from a point with this gradient.
  Vec direction(ConstVecRef gradient) const;

  // A step that was taken and how the gradient changed along it.
  void learn(ConstVecRef step, ConstVecRef change);
  void forget() { pairs_.clear(); }

  // Other coordinates: how a step is written in them, and how a gradient is.
  using Change = std::function<Vec(ConstVecRef)>;
  // The last `number` coordinates stay as they are from now on.
  void cut(Index number);
  void rewrite(const Change& step, const Change& gradient);
  bool empty() const { return pairs_.empty(); }

 private:
  struct Pair {
    Vec step, fall;  // fall = -change
    double inverse;  // 1 / (step' fall)
  };
  std::deque<Pair> pairs_;  // the latest first
};

}  // namespace bsvm
