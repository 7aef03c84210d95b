// The variances of a SparseClimb.
#include <algorithm>
#include <cmath>

#include "coefficients/free_parameters.hpp"
#include "grid.hpp"
#include "sparse_climb.hpp"

namespace bsvm {

namespace {

constexpr double kThetaTolerance = 2e-3, kVarianceTolerance = 0.01;
constexpr double kLongestScan = 1;           // of a step in theta
// The way up: from where the prior's standard deviation of f is about this, by steps, until the
// bound has fallen so many nats.
constexpr double kLeastPrior = 0.02, kScanStep = 0.7, kFallen = 8, kScanTolerance = 0.05;
constexpr int kMostScan = 16;
constexpr double kFlat = 0.01;           // a slope that is none
constexpr int kMostBracket = 12;

}  // namespace

// |E b|^2 of a prior's coefficients that have one variance, and the sum of Var b.
double SparseClimb::fixed_square(const PriorPart& part) const {
  const Vec mean = mean_.row(0).head(design_.dense()).transpose();
  return side_.moments(part, mean.cwiseAbs2(), level_sums(mean_)).square.sum();
}

double SparseClimb::free_square(const PriorPart& part) const {
  const Index p = design_.dense();
  if (!part.group) return side_.moments(part, variance_.head(p), Mat()).square.sum();
  const int effect = static_cast<int>(part.slot.columns[0]);
  double sum = 0;
  for (Index k = p; k < design_.columns(); ++k)
    if (design_.levels().effect[k - p] == effect) sum += variance_[k];
  return sum;
}

// Where one prior's free numbers go next. Of one variance exp(2 theta) the part E (b - E b)^2 that
// the prior dominates goes along with it (MacKay 1992), without which steps are short.
double SparseClimb::free_step(const PriorPart& part, double theta) const {
  const double fixed = fixed_square(part), spread = free_square(part);
  Moments own;
  own.count = part.count();
  own.unseen = part.slot.unseen;
  const auto slope = [&](double at) {
    own.square = Vec::Constant(1, fixed + spread * std::exp(2 * (at - theta)));
    Vec gradient(1);
    part.slot.prior->log_joint(own, Vec::Constant(1, at), gradient);
    return gradient[0];
  };
  double low = theta - kLongestScan, high = theta + kLongestScan;
  if (slope(low) <= 0) return -kLongestScan;
  if (slope(high) >= 0) return kLongestScan;
  for (int k = 0; k < 50; ++k) {
    const double middle = 0.5 * (low + high);
    (slope(middle) > 0 ? low : high) = middle;
  }
  return 0.5 * (low + high) - theta;
}

Vec SparseClimb::theta_step() const {
  const Index p = design_.dense();
  const Mat level = level_covariance_ + level_sums(mean_);
  const Vec square = mean_.row(0).head(p).transpose().cwiseAbs2() + variance_.head(p);
  Vec out(theta_.size());
  Index first = 0;
  for (const PriorPart& part : side_.parts()) {
    const Index size = part.free_size();
    if (size == 1 && part.slot.prior->exchangeable()) {
      out[first] = free_step(part, theta_[first]);
    } else if (size > 0) {
      const auto at = theta_.segment(first, size);
      out.segment(first, size) =
          maximise_joint(*part.slot.prior, side_.moments(part, square, level), at) - at;
    }
    first += size;
  }
  return out;
}

// To where the steps of this pass and the last one would vanish, each number by itself. Returns the
// longest step.
double SparseClimb::move_theta() {
  if (theta_.size() == 0) return 0;
  const Vec step = theta_step();
  Vec move = step;
  for (Index k = 0; k < step.size(); ++k) {
    const double slope = last_move_[k] != 0 ? (step[k] - last_step_[k]) / last_move_[k] : -1;
    if (slope < -0.1) move[k] = std::clamp(-step[k] / slope, -kLongestScan, kLongestScan);
    else move[k] = std::clamp(2 * step[k], -kLongestScan, kLongestScan);
  }
  last_step_ = step;
  last_move_ = move;
  theta_ += move;
  refresh_prior();
  return step.cwiseAbs().maxCoeff();
}

// d log p(theta, y)/d theta, as approximated, of the only theta.
double SparseClimb::slope() {
  const Index p = design_.dense();
  const Mat level = level_covariance_ + level_sums(mean_);
  const Vec square = mean_.row(0).head(p).transpose().cwiseAbs2() + variance_.head(p);
  Vec out(1);
  for (const PriorPart& part : side_.parts())
    if (part.free_size() == 1) {
      Moments own = side_.moments(part, square, level);
      if (part.group) own.square[0] = fixed_square(part) + free_square(part);
      part.slot.prior->log_joint(own, theta_, out);
    }
  return out[0];
}

// The highest mode on the way up, then between its neighbours.
void SparseClimb::scan() {
  const Index q = prior_->effects();
  const double size =
      design_.row_squares(Vec::Zero(design_.dense()), Mat::Identity(q, q)).mean();
  const double first = std::log(kLeastPrior) - 0.5 * std::log(std::max(size, 1e-300));
  std::vector<Look> looks;
  size_t best = 0;
  for (int k = 0; k < kMostScan; ++k) {
    looks.push_back(look_at(first + k * kScanStep, kScanTolerance));
    Look& now = looks.back();
    if (k > 0)
      now.height = looks[k - 1].height + 0.5 * kScanStep * (looks[k - 1].slope + now.slope);
    if (now.total() > looks[best].total()) best = k;
    if (now.slope < 0 && now.total() < looks[best].total() - kFallen) break;
  }
  const size_t last = looks.size() - 1;
  if (best == 0 || best == last) {
    look_at(looks[best].theta, kVarianceTolerance);
    return;
  }
  for (size_t k = best - 1; k <= best + 1; ++k) {
    const Look &before = looks[std::max<size_t>(k, 1) - 1], &after = looks[std::min(k + 1, last)];
    looks[k].bend = (after.matching - before.matching) / (after.theta - before.theta);
  }
  const size_t low = looks[best].slope + looks[best].bend > 0 ? best : best - 1;
  bracket(looks[low], looks[low + 1]);
}

SparseClimb::Look SparseClimb::look_at(double theta, double tolerance) {
  theta_[0] = theta;
  refresh_prior();
  settle(tolerance);
  return {theta, slope(), matching(), 0, 0};
}

// Where the slope vanishes between two thetas (the Illinois variant of false position). That of
// matching() is interpolated.
void SparseClimb::bracket(const Look& left, const Look& right) {
  double low = left.theta, high = right.theta;
  double at_low = left.slope + left.bend, at_high = right.slope + right.bend;
  const double bend = (right.bend - left.bend) / (high - low);
  int kept = 0;  // which end stayed: -1 the lower one, 1 the upper one
  for (int k = 0; k < kMostBracket && high - low > kThetaTolerance; ++k) {
    const double share = at_low > 0 && at_high < 0 ? at_low / (at_low - at_high) : 0.5;
    const double next = low + std::clamp(share, 0.05, 0.95) * (high - low);
    const double now = look_at(next, kVarianceTolerance).slope + left.bend +
                       bend * (next - left.theta);
    if (std::abs(now) < kFlat) return;
    const int side = now > 0 ? 1 : -1;
    (side > 0 ? low : high) = next;
    (side > 0 ? at_low : at_high) = now;
    if (kept == side) (side > 0 ? at_high : at_low) /= 2;
    kept = side;
  }
}

void SparseClimb::follow() {
  while (progress_.passes < options_.max_passes) {
    ++progress_.passes;
    climb_mean(kRough);
    const double moved = spread(), step = move_theta();
    record(std::max(moved, step));
    if (moved <= kVarianceTolerance && step <= kThetaTolerance) return;
  }
}

Approximation SparseClimb::run() {
  Approximation out;
  progress_.end = Termination::pass_limit;
  try {
    if (theta_.size() == 1 && scalar_) scan();
    else follow();
    const bool rose = climb_mean(5 * std::sqrt(options_.tolerance));
    record(0);
    match();
    if (progress_.passes < options_.max_passes)
      progress_.end = rose ? Termination::converged : Termination::stalled;
  } catch (const Interrupted&) {
    if (variance_.size() == 0) throw;
    progress_.end = Termination::interrupted;
  }
  keep_only(node(), out);
  out.climb = progress_;
  out.passes = progress_.passes;
  return out;
}

}  // namespace bsvm
