#pragma once
#include <limits>

#include "approximation.hpp"
#include "coefficients/free_parameters.hpp"
#include "special/functions.hpp"

namespace bsvm {

// The node at theta; where nothing can be computed the density counts as zero (kNothing).
Node visit(Conditional& conditional, const Vec& theta, const Node& from);

// No log standard deviation is followed farther up from the top than this, a factor of 3000; and
// the longest step.
constexpr double kFarthest = 8, kLongestStep = 2;

// Nodes of two or three hyper-parameters on a lattice along the axes of `curvature`, which is in
// their units, from the top outwards, highest first, as far as the density counts; weights are not
// normalised.
void lattice(Conditional& conditional, const FreeUnits& units, const Node& top,
             const Mat& curvature, Approximation& out);

// A step along an axis after which the density falls about as a Gaussian's does `by` standard
// deviations away: mended from a first guess by how far it fell on both sides together, and at most
// `longest`. False: it is as good as it gets.
bool mend_step(double fall, double by, double longest, double& step);

}  // namespace bsvm
