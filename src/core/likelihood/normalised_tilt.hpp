#pragma once
#include "likelihood.hpp"

namespace bsvm {

// Likelihood::averaged() of the normalised hinge likelihood as a function of g = y f, by
// Gauss-Legendre panels cut at both kinks.
Tilted normalised_tilt(double mean, double v, double weight);

}  // namespace bsvm
