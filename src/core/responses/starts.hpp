#pragma once
#include "model.hpp"

namespace bsvm {

// Where a chain starts, apart from others about what is known: hyper-parameters of each part and
// response, of each factor, and of the residuals; and which set of columns each part has.
std::vector<std::vector<Vec>> start_columns(const Responses& model, Draws& random);
std::vector<Vec> start_factors(const Responses& model, Draws& random);
Vec start_residual(const Responses& model, double rows, Draws& random);
std::vector<Index> start_choices(const Responses& model, Draws& random);

}  // namespace bsvm
