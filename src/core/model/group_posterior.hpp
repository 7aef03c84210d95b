#pragma once
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// The leading columns of L in P A P' = L L', A the precision of sparse and dense
// coefficients together; the rest of L is the root's, whose inverse the State holds.
struct SparseFactor {
  std::vector<int> order;     // (ps) position -> sparse column; dense columns come last
  Index leading = 0;          // positions eliminated before the root
  std::vector<int> start, row;  // (leading + 1); a column's diagonal first
  std::vector<double> value;
};

// The effects of all groups given what a run has learned: of one grouping factor
// conditionally on the dense coefficients b, of several as mean, sd and factor.
struct GroupPosterior {
  Mat mean;        // (q, m) E u_g
  Mat precision;   // (q q, m) A_gg: u_g's precision given the dense coefficients b
  Mat regression;  // (p q, m) B_g' = A_dg A_gg^{-1}: E[u_g | b] = mean - B_g (b - E b)

  Vec effect, effect_sd;  // (ps) in the problem's order of columns
  SparseFactor factor;
};

}  // namespace bsvm
