#pragma once
#include "approximation.hpp"
#include "rows/row_source.hpp"

namespace bsvm {

// Within which log p changes by about one: of classes one, of numbers the scale of their density.
double unit_of_f(const Model& problem, const State& state);

// The mode of dense coefficients given the hyper-parameters, which is where the hinge has kinks:
// the likelihood is averaged over f ~ N(m, tau^2) and tau taken to nearly nothing, Newton's method
// from stage to stage. The State that comes back has no covariance.
Node find_mode(const Model& problem, RowSource& source, const Node& from, Progress& progress,
               const Options& options, Host& host);

}  // namespace bsvm
