#pragma once
#include "likelihood/likelihood.hpp"
#include "random/draws.hpp"

namespace bsvm {

// Rows that one effect enters: y, f and what it changes by, weights or null. All (r).
struct SlideRows {
  const double* y;
  double *f, *slope;
  const double* weight;
  Index r;
};

// How far a slice moves the effect; f follows. precision: its prior's; pull: the
// gradient of the prior's -log density there. The first interval is some four standard
// deviations.
double slide_effect(const Likelihood& likelihood, const SlideRows& rows, double precision,
                    double pull, Draws& random);

}  // namespace bsvm
