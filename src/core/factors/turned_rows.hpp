#pragma once
#include "base/types.hpp"

namespace bsvm {

// x (N, p) = U D V' with r directions, fewer than there are variables. Loadings whose prior is the
// same in all directions are as well loadings of the columns x V = U D, and of p - r others, of
// which x is zero.
struct TurnedRows {
  explicit TurnedRows(const Mat& x);

  Mat columns;    // (N, r) U D
  Mat back;       // (N, r) U / D: V = x' back
  double square;  // |x|^2
  Index directions() const { return columns.cols(); }
};

}  // namespace bsvm
