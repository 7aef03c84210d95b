#pragma once
#include "base/types.hpp"

namespace bsvm {

// Rows along lines and ellipses: at (s, t) the linear predictor of row i is f_i + s a_i + t b_i.
// All (r); a may be null: zero; weight may be null: all one.
struct LineRows {
  const double *y, *f, *a, *b, *weight;
  Index r;
};

// A function of a residual r = y - f: log_c - a max(0, r - e1) - b max(0, -r - e2), with a > 0,
// b >= 0 and e1 + e2 >= 0, so that one of the two at most is above zero.
struct HingePair {
  double a, b, e1, e2, log_c;
};

}  // namespace bsvm
