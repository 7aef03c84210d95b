#pragma once
#include "moment_matching.hpp"

namespace bsvm {

// Of the normalised hinge likelihood, by Gauss-Legendre panels of mean +- 8.5 s cut at both kinks.
Tilted normalised_tilt(double mean, double v);

}  // namespace bsvm
