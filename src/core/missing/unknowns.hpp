#pragma once
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// Predictors that are missing in some rows, and what is known of them: d variables, jointly normal
// given k columns that are complete (000, section 3.3, where these are a column of ones),
//
//   x_i ~ N(B'z_i, Sigma),  B_aj ~ N(0, mean_variance),  Sigma ~ IW(scale I, df),
//
// in units of their own, about standard. Views look at the caller's memory, and are null while rows are
// elsewhere.
struct Unknowns {
  Index d = 0, k = 0;
  std::vector<Index> column;  // (d) the dense column a variable is, or -1: the next auxiliary one
  Vec center, factor;         // (d) the column on the outside scale is center + factor variable
  const double* auxiliary = nullptr;  // (n, those with -1), NaN where missing
  const double* given = nullptr;      // (n, k), a column of ones first
  Mat gram;                           // (k, k) Z'Z of all rows
  double mean_variance = 1e8, scale = 0.01, df = 0;

  // Where entries are not missing at random (missing/mechanism.hpp): variables whose indicators are
  // modelled, the columns of `given` and the variables they depend on.
  std::vector<Index> indicators, by_given, by;
  double probit_variance = 1;
  Index probits() const { return static_cast<Index>(by_given.size() + by.size()); }
};

}  // namespace bsvm
