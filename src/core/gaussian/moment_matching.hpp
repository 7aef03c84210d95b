#pragma once
#include "coefficients/coefficients.hpp"
#include "rows/row_source.hpp"

namespace bsvm {

// From the optimum of the expected bound, whose variances are a little too small: one step of
// expectation propagation (Minka 2001), every row's factor at once given the moments that the row
// itself implies. `state`, and the groups of the source, become the q that this gives;
// log_density the logarithm of the integral with the factors before, which no longer is a bound.
// False, and nothing is changed, where the factors leave no positive definite precision, or rows
// have variances that these don't know of.
bool match_moments(RowSource& source, const Coefficients& side, State& state,
                   double& log_density, Host& host);

}  // namespace bsvm
