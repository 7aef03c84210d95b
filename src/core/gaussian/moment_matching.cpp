#include "moment_matching.hpp"

#include <cmath>

#include "base/error.hpp"

namespace bsvm {

namespace {

// The source goes back to the expected bound, whatever happens.
struct Asked {
  RowSource& source;
  explicit Asked(RowSource& of) : source(of) { source.ask(Use::matched); }
  ~Asked() { source.ask(Use::expected); }
};

}  // namespace

bool match_moments(RowSource& source, const Coefficients& side, State& state,
                   double& log_density, Host& host) {
  if (state.layout.leaving > 0) return false;  // coefficients and effects don't explain all of f
  const Asked guard(source);
  RowSums sums(state.layout);
  state.damping() = 1;
  try {
    source.sums(state, sums, host);
    const Coefficients::Proposal next = side.propose_natural(state, sums, host);
    const double value = sums.value() + state.prior_value();
    if (!std::isfinite(value) || !next.step.allFinite()) return false;
    log_density = value;
    state.fraction() = 1;
    state.step() = next.step;
    state.mean() += next.step;
    state.inverse_factor() = next.inverse_factor;
    state.group_logdet() = sums.group_logdet();
  } catch (const NumericalFailure&) {
    return false;
  }
  source.settle(state, Settle::advance, 1);
  return true;
}

}  // namespace bsvm
