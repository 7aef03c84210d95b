#pragma once
#include "base/types.hpp"

namespace bsvm {

// How well the chains of one quantity agree, and how many independent draws they are worth
// (Vehtari, Gelman, Simpson, Carpenter & Buerkner 2021). NaN where a quantity does not vary, is not
// finite, or has too few draws.
struct Diagnosis {
  double rhat;       // the larger of bulk and tail, rank-normalised, chains split
  double bulk, tail; // effective sample sizes
  double mean;       // and that of the mean itself
};

// False if the draws are constant to rounding, or if one is not finite.
bool varies(const Mat& draws);
Diagnosis diagnose(const Mat& draws);  // (draws, chains)

}  // namespace bsvm
