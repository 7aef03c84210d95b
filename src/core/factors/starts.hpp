#pragma once
#include "base/types.hpp"
#include "random/draws.hpp"

namespace bsvm {

// (N, K) principal components of x (N, p) with mean square one, by subspace iteration (Halko,
// Martinsson & Tropp 2011); beyond the rank of x independent normal numbers. A function of x alone.
Mat start_scores(const Mat& x, Index factors);

// Where a chain starts: the first one at the principal components, others about them.
Mat scores_of_chain(const Mat& start, int chain, const DrawKey& key);

}  // namespace bsvm
