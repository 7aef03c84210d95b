#pragma once
#include <limits>

#include "estimator.hpp"
#include "penalties.hpp"

namespace bsvm {

// Where a minimisation ended.
struct Point {
  Vec b;            // (P) inside
  Vec multipliers;  // (N) 0 <= a_i <= cost_i
  double objective = std::numeric_limits<double>::infinity(), dual = -objective, gap = 1;
  std::vector<EstimateTrace> trace;
  Termination end = Termination::pass_limit;
};

struct PointOptions {
  double tolerance = 1e-10;  // on the relative gap
  int max_passes = 200;
};

// The gap at which a minimisation that can't get any further counts as converged.
constexpr double kGapAsked = 1e-8;

// The minimum of P(b), penalties with powers in [1, 2]; see interior_point.cpp. Interrupted, it
// returns what it has.
Point minimise_convex(const Design& design, const Penalties& penalties, const PointOptions& options,
                      Host& host);

}  // namespace bsvm
