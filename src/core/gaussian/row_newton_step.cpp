// Where RowNewton goes from a point.
#include <algorithm>
#include <cmath>

#include "linalg/dense.hpp"
#include "linalg/krylov.hpp"
#include "row_newton.hpp"

namespace bsvm {

namespace {

constexpr double kRowDifference = 1e-3;  // of f, in its standard deviations; and of its variance
constexpr double kLongestRowTheta = 1;   // of a step
constexpr double kResidual = 1e-3;       // of the linear systems, relative
constexpr int kMostProducts = 40;
constexpr double kLeastCurved = 0.05;

// (theta's curvature)^{-1} pull with the eigenvalues made positive, and not too long.
Vec theta_step(const Mat& curvature, const Vec& pull) {
  const SymmetricEigen eigen(curvature);
  const Vec values = eigen.values.cwiseAbs().cwiseMax(kLeastCurved);
  Vec out = eigen.vectors * (eigen.vectors.transpose() * pull).cwiseQuotient(values);
  const double longest = out.cwiseAbs().maxCoeff();
  if (longest > kLongestRowTheta) out *= kLongestRowTheta / longest;
  return out;
}

Vec times(const Mat& lower, const Arr& x) {
  return lower.selfadjointView<Eigen::Lower>() * x.matrix();
}

}  // namespace

RowNewton::System RowNewton::system(const Point& at, bool climbing) const {
  System out;
  const auto root = at.state.inverse_factor();
  out.k = lower_gram(at.half, host_);
  out.k2 = out.k.cwiseAbs2();
  out.gradient = design_ * at.slope.matrix() + side_.tilt() -
                 side_.precision(at.state).cwiseProduct(at.state.mean());
  const Vec scaled = lower_product(root, out.gradient);
  out.mean = transposed_product(root, scaled);
  out.gap = at.target - at.weight;
  double square = scaled.squaredNorm() + 0.5 * out.gap.matrix().dot(times(out.k2, out.gap));
  if (climbing) square += at.pull.cwiseQuotient(theta_scale_).squaredNorm();
  out.length = std::sqrt(square);
  weigh_changes(at, out);
  if (at.theta.size() > 0) change_priors(at, out);
  return out;
}

// a and b by differences.
void RowNewton::weigh_changes(const Point& at, System& out) const {
  const Arr by = (kRowDifference * at.v.sqrt()).max(1e-9 * (1 + at.m.abs())),
            more = (kRowDifference * at.v).max(1e-30);
  RowTerms up, down;
  up.resize(at.m.size());
  down.resize(at.m.size());
  const auto look = [&](const Arr& m, const Arr& v, RowTerms& terms) {
    problem_.likelihood->terms(Use::expected, y_, m, v, terms);
  };
  look(at.m + by, at.v, up);
  look(at.m - by, at.v, down);
  out.a = row_weight_ * (up.weight - down.weight) / (2 * by);
  look(at.m, at.v + more, up);
  look(at.m, (at.v - more).max(0.0), down);
  out.b = row_weight_ * (up.weight - down.weight) / (2 * more);
}

// dD/dtheta, and how the rows' variances fall with it.
void RowNewton::change_priors(const Point& at, System& out) const {
  const Index h = at.theta.size();
  out.change.resize(at.state.layout.p, h);
  State moved = at.state;
  for (Index k = 0; k < h; ++k) {
    const Vec by = kThetaDifference * Vec::Unit(h, k);
    side_.fix_priors(moved, at.theta + by);
    out.change.col(k) = side_.precision(moved);
    side_.fix_priors(moved, at.theta - by);
    out.change.col(k) -= side_.precision(moved);
  }
  out.change /= 2 * kThetaDifference;
  out.solved = transposed_times(at.state.inverse_factor(), at.half, host_);
  out.spread = out.solved.cwiseAbs2().transpose() * out.change;
}

// q's way where r_mu and r_w have to change by minus `mean` (given as S times it) and `push`, and
// the rows' variances change by -spread besides.
//
//  name    size   meaning
//  half    (n)    a/2: what v adds to the slope in m, less
//  fixed   (n)    how m changes by what is known
//  right   (n)    of the system in dw
RowNewton::Way RowNewton::way(const Point& at, const System& system, const Arr& push,
                              ConstVecRef mean, const Arr& spread) const {
  const Arr half = 0.5 * system.a;
  const Vec fixed = design_.transpose() * mean + times(system.k, half * spread);
  const Vec right = push.matrix() + (system.a * fixed.array() - system.b * spread).matrix();
  Way out;
  out.weight = solve_by_products(
      [&](const Vec& x) -> Vec {
        const Arr moved = times(system.k2, x.array()).array();
        return x + (system.b * moved - system.a * times(system.k, half * moved).array()).matrix();
      },
      right, kResidual, kMostProducts).array();
  out.variance = -spread - times(system.k2, out.weight).array();
  const Vec pulled = at.half * (-half * out.variance).matrix();
  out.mean = mean + at.state.inverse_factor().transpose() * pulled;
  return out;
}

// How the best q changes with theta_k.
RowNewton::Way RowNewton::along(const Point& at, const System& system, Index k) const {
  const auto root = at.state.inverse_factor();
  const Vec right = system.change.col(k).cwiseProduct(at.state.mean());
  const Vec mean = transposed_product(root, lower_product(root, right));
  return way(at, system, Arr::Zero(design_.cols()), -mean, system.spread.col(k).array());
}

// How the bound's gradient in theta changes along a way and with theta.
Vec RowNewton::pull_change(const Point& at, const System& system, const Way& way,
                           ConstVecRef theta) const {
  const Mat& root = at.state.inverse_factor();
  const Mat covariance = squared_transposed(root, host_);
  const Vec square = side_.second_moments(at.state);
  Vec change = 2 * at.state.mean().cwiseProduct(way.mean) -
               system.solved.cwiseAbs2() * way.weight.matrix();
  if (theta.size() > 0) change -= covariance.cwiseAbs2() * (system.change * theta);
  const double most = std::max({1e-300, theta.size() > 0 ? theta.cwiseAbs().maxCoeff() : 0,
                                change.cwiseQuotient(square).cwiseAbs().maxCoeff()});
  const double by = kThetaDifference / most;
  Vec up(at.theta.size()), down(at.theta.size());
  Index first = 0;
  for (const PriorPart& part : side_.parts()) {
    const Index size = part.free_size();
    const auto look = [&](double t, Vec& out) {
      Vec here = at.theta.segment(first, size);
      if (theta.size() > 0) here += t * theta.segment(first, size);
      part.slot.prior->log_joint(side_.moments(part, square + t * change, Mat()), here,
                                 out.segment(first, size));
    };
    look(by, up);
    look(-by, down);
    first += size;
  }
  return (up - down) / (2 * by);
}

// Minus the second derivatives of the best q's bound in theta.
Mat RowNewton::profile(const Point& at, const System& system) const {
  const Index h = at.theta.size();
  Mat out(h, h);
  for (Index k = 0; k < h; ++k)
    out.col(k) = -pull_change(at, system, along(at, system, k), Vec::Unit(h, k));
  return 0.5 * (out + out.transpose());
}

RowNewton::Step RowNewton::newton(const Point& at, const System& system, bool climbing) const {
  const Index h = at.theta.size();
  Way total = way(at, system, system.gap, system.mean, Arr::Zero(design_.cols()));
  Step out;
  out.theta = Vec::Zero(h);
  if (climbing && h > 0) {
    const Vec pull = at.pull + pull_change(at, system, total, Vec());
    Mat curvature(h, h);
    std::vector<Way> ways;
    for (Index k = 0; k < h; ++k) {
      ways.push_back(along(at, system, k));
      curvature.col(k) = -pull_change(at, system, ways[k], Vec::Unit(h, k));
    }
    out.theta = theta_step(0.5 * (curvature + curvature.transpose()), pull);
    for (Index k = 0; k < h; ++k) {
      total.mean += out.theta[k] * ways[k].mean;
      total.weight += out.theta[k] * ways[k].weight;
      total.variance += out.theta[k] * ways[k].variance;
    }
  }
  out.mean = total.mean;
  out.weight = total.weight;
  promise(at, system, total.variance, out);
  return out;
}

// Uphill for certain.
RowNewton::Step RowNewton::natural(const Point& at, const System& system, bool climbing) const {
  Step out;
  out.mean = system.mean;
  out.weight = system.gap;
  out.theta = Vec::Zero(at.theta.size());
  Arr variance = -times(system.k2, system.gap).array();
  if (climbing && at.theta.size() > 0) {
    Vec pull = at.pull + 0.5 * system.spread.transpose() * system.gap.matrix();
    out.theta = pull.cwiseQuotient(theta_scale_.cwiseAbs2());
    variance -= (system.spread * out.theta).array();
  }
  promise(at, system, variance, out);
  return out;
}

void RowNewton::promise(const Point& at, const System& system, const Arr& variance,
                        Step& step) const {
  step.slope = system.gradient.dot(step.mean) - 0.5 * (system.gap * variance).sum() +
               at.pull.dot(step.theta);
}

}  // namespace bsvm
