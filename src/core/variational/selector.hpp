#pragma once
#include "base/host.hpp"
#include "coefficients/coefficients.hpp"
#include "engine.hpp"

namespace bsvm {

constexpr double kLeastDamping = 1.0 / (1 << 20);  // of a Newton step

// bold: further than the best of each part given the others; careful: inclusion and parameters of
// the likelihood stay as they are.
enum class Step { plain, bold, careful };

// A variational posterior with coefficients that are selected, as the loop over passes
// (variational/vb_selection.cpp) sees it.
class Selector {
 public:
  virtual ~Selector() = default;

  // Start `number`: 0 has all coefficients in; in later ones each is half in with probability 1/2.
  virtual void start(int number, const Options& options) = 0;

  // From coefficients that are in with these probabilities (p).
  virtual void start_at(const Vec& inclusion) = 0;

  // The likelihood's parameters stay where they start, the first, of families the scale, times
  // `factor`; and from where q is they move again.
  virtual void hold(double factor) = 0;
  virtual void release() = 0;

  // A pass over the rows with this share of the weights in their curvature. The bound where q is
  // now, or -inf while there is no covariance yet.
  virtual double pass(double damping, Host& host) = 0;

  // From there to a better q, the likelihood's parameters by `longest` at most; returns the norm
  // of the objective's gradient where it was, in q's own metric. A careful step with all damping
  // cannot lower the bound.
  virtual double advance(Step how, double longest, Host& host) = 0;

  // What q is now goes with the best bound so far; and back to it.
  virtual void keep() = 0;
  virtual void back() = 0;

  // The q that was kept: state, groups and inclusion.
  virtual void report(Result& out) const = 0;
};

// From the sums of a source, whose precision has a row for every column.
std::unique_ptr<Selector> row_selector(const Model& problem, RowSource& source);

// With more columns than rows and no groups: no matrix has more rows than the problem.
std::unique_ptr<Selector> wide_selector(const Problem& problem);

// Parameters of the likelihood in a selector's State: held if no derivatives are asked for. Where
// they are after a step from the sums of a pass; empty if they stay.
inline bool is_held(const State& state) { return state.slopes() == 0; }
void hold_first(const Coefficients& side, double factor, State& state);
Vec moved_parameters(const Coefficients& side, const State& state, const RowSums& sums, Step how,
                     double longest);

// Newton steps of parameters: how much shorter they are after one that lowered the bound, and the
// shortest.
constexpr double kShorter = 8, kLeastStep = 1e-6;

// Of a bold step: hyper-parameters go this many times as far as their optimum.
constexpr double kBoldReach = 1.5;

// Runs all starts. Options::starts = 0: one, and then some with fewer and fewer of its
// coefficients.
Result select_variables(const Problem& problem, RowSource& source, const Options& options,
                        bool accelerate, Host& host);

}  // namespace bsvm
