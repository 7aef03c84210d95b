#pragma once
#include "base/types.hpp"

namespace bsvm {

// Use::expected: the rows' weights that q's covariance was made with, beside those of the last
// pass, so that a precision can go part of the way from one to the other:
// A + t (A_new - A) is the precision under the weights in between.
struct WeightHistory {
  Arr now, next, kept;  // (n) in working order

  void start(Index n) { now = next = kept = Arr::Zero(n); }
  void blend(Index first, Index r, double share, Arr& weight) {
    if (share < 1) weight = now.segment(first, r) + share * (weight - now.segment(first, r));
    next.segment(first, r) = weight;
  }
  void advance() { now.swap(next); }
  void keep() { kept = now; }
  void back() { now = kept; }
};

}  // namespace bsvm
