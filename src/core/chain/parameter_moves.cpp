#include "parameter_moves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/dense.hpp"
#include "random/slice.hpp"

namespace bsvm {

namespace {

constexpr double kFarthest = 100;  // of a free number: beyond, what it is the logarithm of is gone
constexpr double kEnough = 30;     // sweeps from which there are directions
constexpr double kForget = 0.01;   // of what was learnt a sweep: it began far away

}  // namespace

ParameterMoves::ParameterMoves(const Coefficients& side)
    : side_(side), size_(side.parameters()),
      learnt_(Vec::Zero(size_ > 1 ? size_ * (size_ + 2) + 1 : size_)) {
  learnt_.head(size_).setOnes();
}

void ParameterMoves::run(State& state, const std::function<double()>& log_likelihood, bool tune) {
  const Mat along = directions();
  for (Index k = 0; k < size_; ++k) move(k, along.col(k), state, log_likelihood, tune);
  if (tune && size_ > 1) learn(state.parameters());
}

// Columns of the covariance's Cholesky factor, of length one: numbers of a Gaussian along these are
// independent.
Mat ParameterMoves::directions() const {
  const Mat none = Mat::Identity(size_, size_);
  if (size_ < 2 || learnt_[size_] < kEnough) return none;
  const Factor factor(Eigen::Map<const Mat>(learnt_.data() + 2 * size_ + 1, size_, size_));
  if (!factor.positive()) return none;
  return factor.lower().colwise().normalized();
}

void ParameterMoves::learn(const Vec& theta) {
  double& count = learnt_[size_];
  const double share = std::max(1 / ++count, kForget);
  const Vec away = theta - mean();
  mean() += share * away;
  covariance() += share * ((1 - share) * away * away.transpose() - covariance());
}

void ParameterMoves::move(Index k, const Vec& direction, State& state,
                          const std::function<double()>& log_likelihood, bool tune) {
  // The priors' own draws of a sweep have the first numbers of this stream.
  Draws random(state.key(), Purpose::hyper,
               static_cast<std::uint64_t>(static_cast<Index>(side_.parts().size()) + k));
  const Vec now = state.parameters();
  Vec theta = now, gradient(theta.size());
  double last = std::numeric_limits<double>::quiet_NaN();
  const auto to = [&](double by) {
    last = by;
    theta = now + by * direction;
    if (!(theta.cwiseAbs().maxCoeff() <= kFarthest))
      return -std::numeric_limits<double>::infinity();
    side_.set_parameters(state, theta);
    return log_likelihood() + side_.log_parameters(theta, gradient);
  };
  double& width = learnt_[k];
  const double moved = slice(to, width, random);
  if (last != moved) to(moved);
  // A width of three mean moves is about right for a bell.
  if (tune) width = 0.95 * width + 0.05 * std::max(3 * std::abs(moved), 1e-6);
}

}  // namespace bsvm
