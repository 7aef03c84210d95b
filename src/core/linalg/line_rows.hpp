#pragma once
#include "base/types.hpp"

namespace bsvm {

// Rows along lines and ellipses: at (s, t) the linear predictor of row i is f_i + s a_i + t b_i.
// All (r); a may be null: zero; weight may be null: all one.
struct LineRows {
  const double *y, *f, *a, *b, *weight;
  Index r;
};

}  // namespace bsvm
