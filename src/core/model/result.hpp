#pragma once
#include <limits>
#include <vector>

#include "group_posterior.hpp"
#include "state.hpp"

namespace bsvm {

// One pass over the rows, as the run saw it.
struct TraceEntry {
  double bound;     // at the State the pass was made with
  double gradient;  // its certificate: see engine/vb.cpp; where the pass was taken
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

// The best State a run has computed the bound of, and that bound.
struct Result {
  explicit Result(State first) : state(std::move(first)) {}

  State state;
  GroupPosterior groups;
  std::vector<TraceEntry> trace;
  double bound = -std::numeric_limits<double>::infinity();
  double gradient = 0;
  Termination end = Termination::pass_limit;
};

}  // namespace bsvm
