#include "moving_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "gaussian/bfgs.hpp"
#include "kernel/points.hpp"
#include "linalg/dense.hpp"

namespace bsvm {

namespace {

constexpr double kPointsTolerance = 1e-6;  // on the bound
constexpr double kPointsGain = 0.02;       // nats that are not worth another look
constexpr int kMostPointsLooks = 60;
constexpr Index kLeastPointsSteps = 5;

// The median distance of a point (d, m) to the one nearest to it.
double spacing(const Mat& points) {
  const Mat squares = squared_distances(points, points);
  std::vector<double> nearest;
  for (Index j = 0; j < points.cols(); ++j) {
    double least = std::numeric_limits<double>::infinity();
    for (Index k = 0; k < points.cols(); ++k)
      if (k != j && squares(k, j) > 0) least = std::min(least, squares(k, j));
    if (std::isfinite(least)) nearest.push_back(std::sqrt(least));
  }
  if (nearest.empty()) return 1;
  std::nth_element(nearest.begin(), nearest.begin() + nearest.size() / 2, nearest.end());
  return nearest[nearest.size() / 2];
}

}  // namespace

MovingPoints::MovingPoints(AdditiveModel model, std::vector<bool> moving, Host& host)
    : model_(std::move(model), host), host_(host) {
  model_.approximate();
  for (size_t k = 0; k < model_.summands(); ++k) {
    const Summand& summand = model_.summand(k);
    if (moving[k]) {
      moving_.push_back(k);
      number_.push_back(numbers_);
      unit_.push_back(spacing(summand.inducing));
    }
    numbers_ += summand.size();
  }
  numbers_ = static_cast<Index>(model_.numbers().size());
}

Vec MovingPoints::start() const {
  Index size = numbers_;
  for (const size_t k : moving_) size += model_.summand(k).inducing.size();
  Vec out(size);
  out.head(numbers_) = model_.start();
  Index first = numbers_;
  for (size_t j = 0; j < moving_.size(); ++j) {
    const Mat& own = model_.summand(moving_[j]).inducing;
    out.segment(first, own.size()) = Eigen::Map<const Vec>(own.data(), own.size()) / unit_[j];
    first += own.size();
  }
  return out;
}

// (d, m) of the j-th summand that moves.
Mat MovingPoints::points(ConstVecRef theta, size_t j) const {
  Index first = numbers_;
  for (size_t k = 0; k < j; ++k) first += model_.summand(moving_[k]).inducing.size();
  const Mat& own = model_.summand(moving_[j]).inducing;
  const Vec inputs = unit_[j] * theta.segment(first, own.size());
  return Eigen::Map<const Mat>(inputs.data(), own.rows(), own.cols());
}

MovingPoints::Value MovingPoints::at(ConstVecRef theta, const Value* near, double tolerance) {
  Value out;
  out.theta = theta;
  for (size_t j = 0; j < moving_.size(); ++j) model_.move(moving_[j], points(theta, j));
  out.at = model_.at(theta.head(numbers_), near ? &near->at : nullptr, tolerance);
  out.gradient.resize(theta.size());
  out.gradient.head(numbers_) = out.at.gradient;
  Index first = numbers_;
  for (size_t j = 0; j < moving_.size(); ++j) {
    const Mat own = unit_[j] * gradient_of(out.at, j);
    out.gradient.segment(first, own.size()) = Eigen::Map<const Vec>(own.data(), own.size());
    first += own.size();
  }
  return out;
}

// (d, m)
//  across  (n, m) K_nm, each row times the multiplier
//  solved  (m, n) R
//  pushed  (n, m) P R' times 2
Mat MovingPoints::gradient_of(const Additive::Value& at, size_t j) const {
  const Summand& summand = model_.summand(moving_[j]);
  const Kernel& kernel = *summand.kernel;
  const Vec own = at.theta.segment(number_[j] + 1, summand.size() - 1);
  const Mat& v = summand.inducing;
  const Vec& times = summand.multiplier;
  Mat between(v.cols(), v.cols()), across(summand.inputs.cols(), v.cols());
  kernel.values(v, v, own, between);
  kernel.values(summand.inputs, v, own, across);
  if (times.size() > 0) across = times.asDiagonal() * across;
  const Mat root = covariance_root(between, host_);
  Mat solved = across.transpose();
  solve_lower(root, solved);
  solve_transposed(root, solved);
  const Vec alpha = at.rows.slope, w = at.rows.weight;
  const Mat weighted = w.asDiagonal() * solved.transpose();
  Mat pushed = at.rows.covariance.selfadjointView<Eigen::Lower>() * weighted;
  pushed = w.asDiagonal() * pushed;
  pushed.noalias() += alpha * (solved * alpha).transpose();
  const double variance = std::exp(2 * at.theta[number_[j]]);
  const Mat within = -0.5 * variance * (solved * pushed);
  if (times.size() > 0) pushed = times.asDiagonal() * pushed;
  // a point is on both sides of k(v, v)
  return kernel.input_pull(summand.inputs, v, own, variance * pushed) +
         2 * kernel.input_pull(v, v, own, within);
}

MovingPoints::Moved MovingPoints::climb() {
  Moved out;
  const auto look = [&](const Vec& theta, const Value* near) {
    ++out.evaluations;
    Value found = at(theta, near, kPointsTolerance);
    std::ostringstream text;
    text.precision(6);
    text << "points " << out.evaluations << ": bound " << found.at.bound;
    host_.progress(text.str());
    return found;
  };
  Climb<Value> of;
  of.look = [&](const Vec& theta, const Value& near) { return look(theta, &near); };
  of.uphill = [&](const Value& at) { return uphill(model_.numbers(), at.theta, at.gradient); };
  of.bounded = [&](const Vec& theta) { return bounded(model_.numbers(), theta); };
  of.numbers = kLeastPointsSteps;
  of.gain = kPointsGain;
  of.most = kMostPointsLooks;
  Value first = look(bounded(model_.numbers(), start()), nullptr);
  out.before = first.objective();
  out.value = bfgs(std::move(first), of, LimitedMetric(), out.converged);
  out.points.resize(model_.summands());
  for (size_t j = 0; j < moving_.size(); ++j) out.points[moving_[j]] = points(out.value.theta, j);
  return out;
}

}  // namespace bsvm
