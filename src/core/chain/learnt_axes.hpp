#pragma once
#include "base/types.hpp"

namespace bsvm {

// Directions of slices of some numbers and their first intervals, learnt while draws are not kept:
// where there are several numbers, which may be strongly correlated, the columns of a root of their
// covariance; and perhaps others that stay, of which intervals alone are learnt.
class LearntAxes {
 public:
  explicit LearntAxes(Index size, Index others = 0);

  Index size() const { return mean_.size(); }
  Index directions() const { return widths_.size(); }  // the axes, then the others
  Vec axis(Index k) const { return axes_.col(k); }
  double width(Index k) const { return widths_[k]; }

  // A slice along direction k went so far.
  void moved(Index k, double by);
  // A draw of all numbers.
  void learn(ConstVecRef numbers);

  // All that was learnt.
  Vec learnt() const;
  void restore(ConstVecRef learnt);

 private:
  Vec widths_;
  Mat axes_;    // (size, size)
  Vec seen_;    // how many draws, and of how many of them mean_ and square_ are
  Vec mean_;
  Mat square_;  // sum of (draw - mean)(draw - mean)'
};

}  // namespace bsvm
