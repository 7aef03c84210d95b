#pragma once
#include "base/types.hpp"

namespace bsvm {

// More columns than rows: only n directions of the coefficients are seen by the
// rows. With x = features basis' (basis orthonormal) a common Gaussian prior on
// the m coefficients b is the same prior on t = basis' b, and what is orthogonal
// to the basis keeps its prior. Systems are then n x n, never m x m.
struct Rotation {
  Mat features;  // (n, r)
  Mat basis;     // (m, r), r = min(n, m)
};

// Of the standardised matrix (x - center) / scale, x (n, m).
Rotation rotate(ConstMatRef x, ConstVecRef center, ConstVecRef scale);

}  // namespace bsvm
