#include "parameter_moves.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "linalg/dense.hpp"
#include "random/slice.hpp"

namespace bsvm {

namespace {

constexpr double kNowhere = -std::numeric_limits<double>::infinity();
constexpr double kFarthest = 100;  // of a free number: beyond, what it is the logarithm of is gone
constexpr double kFirstDraws = 20;  // until axes are found, then of twice as many each time
constexpr double kFirstInterval = 2.5;  // along an axis, in standard deviations

std::vector<std::pair<Index, Index>> pairs_of(const std::vector<Index>& single) {
  std::vector<std::pair<Index, Index>> out;
  for (size_t j = 0; j < single.size(); ++j)
    for (size_t k = j + 1; k < single.size(); ++k) out.emplace_back(single[j], single[k]);
  return out;
}

}  // namespace

ParameterMoves::ParameterMoves(const Coefficients& side)
    : side_(side), pairs_(pairs_of(side.single_parameters())),
      widths_(Vec::Ones(side.parameters() + static_cast<Index>(pairs_.size()))),
      axes_(Mat::Identity(side.parameters(), side.parameters())), seen_(Vec::Zero(2)),
      mean_(Vec::Zero(side.parameters())),
      square_(Mat::Zero(side.parameters(), side.parameters())) {}

Vec ParameterMoves::direction(Index k) const {
  if (k < size()) return axes_.col(k);
  const auto [one, other] = pairs_[static_cast<size_t>(k - size())];
  return Vec::Unit(size(), one) - Vec::Unit(size(), other);
}

void ParameterMoves::run(State& state, const std::function<double()>& log_likelihood, bool tune) {
  for (Index k = 0; k < widths_.size(); ++k) move(k, state, log_likelihood, tune);
  if (tune && size() > 1) learn(state.parameters());
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
  const double moved = slice(to, widths_[k], random);
  if (last != moved) to(moved);
  // A width of three mean moves is about right for a bell.
  if (tune) widths_[k] = 0.95 * widths_[k] + 0.05 * std::max(3 * std::abs(moved), 1e-6);
}

// From the draws since axes were found last, since the first of a chain may be far away.
void ParameterMoves::learn(ConstVecRef theta) {
  ++seen_[0];
  ++seen_[1];
  const Vec away = theta - mean_;
  mean_ += away / seen_[1];
  square_ += away * (theta - mean_).transpose();
  const double turns = seen_[0] / kFirstDraws;
  if (turns < 1 || turns != std::exp2(std::floor(std::log2(turns)))) return;
  const Factor root(square_ / seen_[1]);
  if (root.positive()) {
    axes_ = root.lower();
    widths_.head(size()).setConstant(kFirstInterval);
  }
  seen_[1] = 0;
  mean_.setZero();
  square_.setZero();
}

Vec ParameterMoves::learnt() const {
  if (size() < 2) return widths_;
  Vec out(widths_.size() + size() * (1 + 2 * size()) + 2);
  out << widths_, Eigen::Map<const Vec>(axes_.data(), axes_.size()), seen_, mean_,
      Eigen::Map<const Vec>(square_.data(), square_.size());
  return out;
}

void ParameterMoves::restore(ConstVecRef learnt) {
  const Index k = size();
  const Index w = widths_.size();
  widths_ = learnt.head(w);
  if (k < 2) return;
  Eigen::Map<Vec>(axes_.data(), k * k) = learnt.segment(w, k * k);
  seen_ = learnt.segment(w + k * k, 2);
  mean_ = learnt.segment(w + k * k + 2, k);
  Eigen::Map<Vec>(square_.data(), k * k) = learnt.tail(k * k);
}

}  // namespace bsvm
