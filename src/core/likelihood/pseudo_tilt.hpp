#pragma once
#include "likelihood.hpp"
#include "random/draws.hpp"

namespace bsvm {

// Likelihood::averaged() of the hinge pseudo-likelihood as a function of g = y f, and a draw of g
// under N(mean, v) times its power.
Tilted pseudo_tilt(double mean, double v, double weight);
double draw_pseudo(double mean, double v, double weight, Draws& random);

}  // namespace bsvm
