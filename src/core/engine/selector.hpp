#pragma once
#include "../host.hpp"
#include "engine.hpp"

namespace bsvm {

// A variational posterior with coefficients that are selected, as the loop over passes
// (engine/vb_selection.cpp) sees it.
class Selector {
 public:
  virtual ~Selector() = default;

  // Start `number`: 0 has all coefficients in; in later ones each is half in with probability 1/2.
  virtual void start(int number, const Options& options) = 0;

  // A pass over the rows with this share of the weights in their curvature. The bound where q is
  // now, or -inf while there is no covariance yet.
  virtual double pass(double damping, Host& host) = 0;

  // From there to a better q; returns the norm of the objective's gradient where it was, in q's own
  // metric. Unless it is `bold` and with all damping, the bound cannot fall.
  virtual double advance(bool bold, Host& host) = 0;

  // What q is now goes with the best bound so far; and back to it.
  virtual void keep() = 0;
  virtual void back() = 0;

  // The q that was kept: state, groups and inclusion.
  virtual void report(Result& out) const = 0;
};

// With at least as many rows as columns, from the sums of a source.
std::unique_ptr<Selector> row_selector(const Problem& problem, RowSource& source);

// With more columns than rows and no groups.
std::unique_ptr<Selector> wide_selector(const Problem& problem);

// Of a bold step: hyper-parameters go this many times as far as their optimum.
constexpr double kBoldReach = 1.5;

// Runs all starts.
Result select_variables(const Problem& problem, RowSource& source, const Options& options,
                        bool accelerate, Host& host);

}  // namespace bsvm
