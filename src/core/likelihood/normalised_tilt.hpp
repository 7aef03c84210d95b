#pragma once
#include "moment_matching.hpp"

namespace bsvm {

// Of the normalised hinge likelihood, by Gauss-Legendre panels cut at both kinks.
Tilted normalised_tilt(double mean, double v);

}  // namespace bsvm
