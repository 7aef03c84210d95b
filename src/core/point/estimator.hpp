#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "base/host.hpp"
#include "model/problem.hpp"
#include "model/result.hpp"

namespace bsvm {

struct EstimateOptions {
  double tolerance = 1e-10;  // on the relative duality gap
  int max_passes = 2000;
  Vec start;                 // (coefficients, then effects) outside scale; empty: none
  int starts = 1;            // how many, where there are local optima: the first is not random
  int annealing = 0;         // sweeps of simulated annealing before each, where a start matters
  std::uint64_t seed = 0;    // of what is random
  Index most_numbers = Index{1} << 23;  // of rows that are kept when they are read in parts: 64 MB
};

// One pass, as the run saw it: the objective (in the runs here the lowest so far), and its relative
// gap to the highest dual objective so far.
struct EstimateTrace {
  double objective, gap;
};

// The coefficients b, and hyper-parameters, that minimise
//
//   sum_i w_i sum_k cost_ik (sign_ik (f_i - place_ik))_+ - log p(b, hyper)
//
// over the likelihood's atoms (hinge: 2 w_i (1 - y_i f_i)_+), up to what is constant. For given
// hyper-parameters and a convex penalty a dual objective, at multipliers a_i of the rows' atoms,
// bounds it from below: their gap, over the objective, certifies b.
// Elsewhere the gap is that of the penalty's tangents at b: zero where no small step leads down.
struct Estimate {
  Vec coefficients;           // (p) outside scale
  Vec effects;                // by term, level, effect
  Vec multipliers;            // (n atoms) 0 <= a_i <= w_i cost_i, zero where a row has no say
  std::vector<Vec> hyper;     // prior by prior, those of group effects last
  double objective = 0, dual = 0, gap = 0;
  bool certified = true;      // does the gap bound the distance to the lowest objective?
  std::vector<EstimateTrace> trace;
  std::vector<double> optima; // what each start led to
  bool read_again = false;    // is an entry of the trace a reading of all rows?
  Termination end = Termination::pass_limit;
};

// f(part) for all rows in their order, a part at a time: `part` is the problem with its rows here, the
// first of them and of their levels being first_row and first_level.
using RowParts = std::function<void(const std::function<void(const Problem& part)>& f)>;

// A point estimate. It knows no prior and no block by name.
class Estimator {
 public:
  virtual ~Estimator() = default;
  virtual Estimate run(const Problem& problem, const EstimateOptions& options,
                       Host& host) const = 0;

  // Of rows that are read in parts; `whole` has their number, and that of levels. Without multipliers.
  virtual Estimate run_in_parts(const Problem& whole, const RowParts& parts,
                                const EstimateOptions& options, Host& host) const = 0;
};

}  // namespace bsvm
