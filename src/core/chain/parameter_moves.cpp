#include "parameter_moves.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "random/slice.hpp"

namespace bsvm {

namespace {

constexpr double kNowhere = -std::numeric_limits<double>::infinity();
constexpr double kFarthest = 100;  // of a free number: beyond, what it is the logarithm of is gone

std::vector<std::pair<Index, Index>> pairs_of(const std::vector<Index>& single) {
  std::vector<std::pair<Index, Index>> out;
  for (size_t j = 0; j < single.size(); ++j)
    for (size_t k = j + 1; k < single.size(); ++k) out.emplace_back(single[j], single[k]);
  return out;
}

}  // namespace

ParameterMoves::ParameterMoves(const Coefficients& side)
    : side_(side), pairs_(pairs_of(side.single_parameters())),
      axes_(side.parameters(), static_cast<Index>(pairs_.size())) {}

Vec ParameterMoves::direction(Index k) const {
  if (k < size()) return axes_.axis(k);
  const auto [one, other] = pairs_[static_cast<size_t>(k - size())];
  return Vec::Unit(size(), one) - Vec::Unit(size(), other);
}

void ParameterMoves::run(State& state, const std::function<double()>& log_likelihood, bool tune) {
  for (Index k = 0; k < axes_.directions(); ++k) move(k, state, log_likelihood, tune);
  if (tune) axes_.learn(state.parameters());
}

void ParameterMoves::move(Index k, State& state, const std::function<double()>& log_likelihood,
                          bool tune) {
  // The priors' own draws of a sweep have the first numbers of this stream.
  Draws random(state.key(), Purpose::hyper,
               static_cast<std::uint64_t>(static_cast<Index>(side_.parts().size()) + k));
  const Vec now = state.parameters(), along = direction(k);
  Vec theta = now, gradient(size());
  double last = std::numeric_limits<double>::quiet_NaN();
  const auto to = [&](double by) {
    last = by;
    theta = now + by * along;
    if (!(theta.cwiseAbs().maxCoeff() <= kFarthest)) return kNowhere;
    side_.set_parameters(state, theta);
    try {
      return log_likelihood() + side_.log_parameters(theta, gradient);
    } catch (const NumericalFailure&) {
      return kNowhere;
    }
  };
  const double moved = slice(to, axes_.width(k), random);
  if (last != moved) to(moved);
  if (tune) axes_.moved(k, moved);
}

}  // namespace bsvm
