#include "parameter_moves.hpp"

#include <cmath>
#include <limits>

#include "random/slice.hpp"

namespace bsvm {

namespace {

constexpr double kFarthest = 100;  // of a free number: beyond, what it is the logarithm of is gone

}  // namespace

void ParameterMoves::run(State& state, const std::function<double()>& log_likelihood, bool tune) {
  for (Index k = 0; k < widths_.size(); ++k) move(k, state, log_likelihood, tune);
}

void ParameterMoves::move(Index k, State& state, const std::function<double()>& log_likelihood,
                          bool tune) {
  // The priors' own draws of a sweep have the first numbers of this stream.
  Draws random(state.key(), Purpose::hyper,
               static_cast<std::uint64_t>(static_cast<Index>(side_.parts().size()) + k));
  Vec theta = state.parameters(), gradient(theta.size());
  const double now = theta[k];
  double last = std::numeric_limits<double>::quiet_NaN();
  const auto to = [&](double by) {
    last = by;
    theta[k] = now + by;
    if (!(std::abs(theta[k]) <= kFarthest)) return -std::numeric_limits<double>::infinity();
    side_.set_parameters(state, theta);
    return log_likelihood() + side_.log_parameters(theta, gradient);
  };
  const double moved = slice(to, widths_[k], random);
  if (last != moved) to(moved);
  // A width of three mean moves is about right for a bell.
  if (tune) widths_[k] = 0.95 * widths_[k] + 0.05 * std::max(3 * std::abs(moved), 1e-6);
}

}  // namespace bsvm
