#pragma once
#include <limits>
#include <vector>

#include "group_posterior.hpp"
#include "state.hpp"

namespace bsvm {

// One pass over the rows, as the run saw it.
struct TraceEntry {
  double bound;     // at the State the pass was made with
  double gradient;  // its certificate: see variational/vb.cpp; where the pass was taken
                    // back, that of the State it went back to
  double damping;   // share of the rows' weight in their curvature
  double step;      // share of the last step that State took; below 1: shortened
};

enum class Termination {
  converged,    // the stopping rule holds at the State returned
  pass_limit,   // it does not, but the passes are used up
  interrupted,  // the host asked for it
  stalled       // no step raises the bound any more, but the rule does not hold
};

const char* name_of(Termination end);

// Of coefficients g_j v_j that are selected (prior/prior.hpp): which, E g_j and the moments of v_j
// under q, on the outside scale.
struct Inclusion {
  std::vector<Index> columns;
  Vec probability, mean, sd;
};

// A covariance of many coefficients that only some directions correlate, on the outside scale:
// diag(diagonal) - less'less + more'more.
struct LowRank {
  Vec diagonal;     // (p), or none
  Mat less, more;   // (., p)
};

// The best State a run has computed the bound of, and that bound.
struct Result {
  explicit Result(State first) : state(std::move(first)) {}

  State state;
  GroupPosterior groups;
  std::vector<TraceEntry> trace;
  double bound = -std::numeric_limits<double>::infinity();
  double gradient = 0;
  Termination end = Termination::pass_limit;

  // Where a prior selects.
  Inclusion inclusion;
  LowRank spread;  // in place of the State's covariance where there are more columns than rows
  std::vector<double> start_bounds;  // where each start ended
};

}  // namespace bsvm
