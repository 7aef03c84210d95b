// How a DenseAscent comes near: from f ~ N(m, t^2), whose t shrinks, and then by steps towards the
// q that the rows' weights at this one would leave.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "dense_ascent.hpp"
#include "linalg/dense.hpp"
#include "mode.hpp"

namespace bsvm {

namespace {

constexpr double kBack = 0.3;           // of a step after which the objective fell
constexpr double kOfUnit = 0.5;         // t, of unit_of_f()
constexpr double kNarrowest = 0.5;      // of t before
constexpr double kWideEnough = 0.2;     // a t to which one is near
constexpr double kSameT = 0.9;          // of t before: where it stays
constexpr double kLonger = 4;           // than the last step that rose
constexpr double kLeastDescent = 1e-3;  // of a step
constexpr double kGainOfRow = 0.02;     // that a step promises, where t may be smaller
constexpr int kMostDescent = 40;
constexpr double kNear = 0.3;           // of an entry of T from the identity, and of theta's step
constexpr double kLeastPart = 0.05;     // of a step: below it the memory of steps knows better
constexpr int kMostApproach = 40;

}  // namespace

// From a mean that is given, or else found, the q that the rows' weights leave, with one variance
// for all of them.
DenseAscent::Point DenseAscent::begin() {
  Point out{side_.start(options_.start), Mat(), Vec(), Vec(), kNothing, Vec()};
  out.theta = side_.free(out.state);
  side_.fix_priors(out.state, out.theta);
  out.state.damping() = 1;
  settle_latent(out.state);
  if (side_.parameters() > 0) out.state.slopes() = 2;
  Coefficients::Proposal next = first_proposal(out.state);
  if (options_.start.size() == 0) {
    if (descends(out.state)) next = descend(out, std::move(next));
    else out.state.mean() += next.step;
  }
  out.state.inverse_factor() = next.inverse_factor;
  out.state.begun() = 1;
  return out;
}

// Weights below zero may leave no precision: with larger variances they come nearer to zero.
Coefficients::Proposal DenseAscent::first_proposal(State& state) {
  for (;; state.spread() *= 10) {
    ++progress_.passes;
    source_->sums(state, sums_, host_);
    try {
      return side_.propose_natural(state, sums_, host_);
    } catch (const NumericalFailure&) {
      if (concave_ || state.spread() > kMostSpread) throw;
    }
  }
}

// Curvature comes from the rows within t of a kink. q's own variances are far smaller where many
// rows tell of few coefficients: as long as residuals are large next to no row is so near, and
// steps lead far away. Parameters go along, to where they are best for this f.
//  at       the highest point so far, and `next` where its sums lead; `now` its value
//  value    E log p(y | f) - b'D b / 2 and log p of parameters: the smaller t, the larger
//  t        kOfUnit of what changes log p(y | f) by one, and not below kNarrowest of t before; it
//           stays while there is much to gain
//  share    of Newton's step
Coefficients::Proposal DenseAscent::descend(Point& at, Coefficients::Proposal next) {
  const Vec precision = side_.precision(at.state);
  const double much = kGainOfRow * static_cast<double>(problem_.n);
  double now = smoothed(at.state, precision), share = 1;
  for (int k = 0; k < kMostDescent && progress_.passes + 1 < options_.max_passes; ++k) {
    const Vec step = side_.parameter_step(at.state, sums_);
    const double t = std::sqrt(at.state.spread());
    const bool near = 0.5 * next.gradient * next.gradient < much;
    Point to = at;
    Coefficients::Proposal then;
    double height = kNothing;
    for (; share > kLeastDescent && !(height >= now); share *= kBack) {
      to = at;
      to.state.mean() += share * next.step;
      to.theta.segment(side_.parameter_first(), side_.parameters()) += share * step;
      side_.fix_priors(to.state, to.theta);
      if (near) to.state.spread() = narrowed(to.state, t);
      ++progress_.passes;
      source_->sums(to.state, sums_, host_);
      try {
        then = side_.propose_natural(to.state, sums_, host_);
      } catch (const NumericalFailure&) {
        continue;
      }
      height = smoothed(to.state, precision);
    }
    if (!(height >= now)) break;
    share /= kBack;
    const bool done = near && share > 0.99 && std::sqrt(to.state.spread()) > kSameT * t;
    at = std::move(to);
    next = std::move(then);
    now = height;
    share = std::min(1.0, kLonger * share);
    if (done) break;
  }
  return next;
}

double DenseAscent::smoothed(const State& state, const Vec& precision) {
  Vec unused(side_.parameters());
  return sums_.value() + side_.tilt().dot(state.mean()) -
         0.5 * precision.dot(state.mean().cwiseAbs2()) +
         side_.log_parameters(state.parameters(), unused);
}

// t^2 after t.
double DenseAscent::narrowed(const State& state, double t) const {
  const double next = std::clamp(kOfUnit * unit_of_f(problem_, state), kNarrowest * t, t);
  return next * next;
}

// Is one as t far from what the loss is like?
bool DenseAscent::descends(const State& state) const {
  return side_.parameters() > 0 || kOfUnit * unit_of_f(problem_, state) < kWideEnough;
}

// Where the sums of the last pass, at `at`, lead: with A = D + C'WC, the root of A^{-1}, Newton's
// step of the mean, and theta's to where the bound is best given q. False where A is no precision.
bool DenseAscent::find_target(const Point& at, Target& out) {
  try {
    Coefficients::Proposal next = side_.propose_natural(at.state, sums_, host_);
    out.mean = next.step;
    out.inverse_factor = std::move(next.inverse_factor);
  } catch (const NumericalFailure&) {
    return false;
  }
  out.theta = side_.best_theta(at.state, sums_, Mat(), at.theta) - at.theta;
  out.theta.segment(side_.parameter_first(), side_.parameters()) +=
      side_.parameter_step(at.state, sums_);
  Mat turn = divided_lower(at.state.inverse_factor(), out.inverse_factor);
  turn.diagonal().array() -= 1;
  out.distance = turn.cwiseAbs().maxCoeff();
  if (out.theta.size() > 0) out.distance = std::max(out.distance, out.theta.cwiseAbs().maxCoeff());
  return out.mean.allFinite() && std::isfinite(out.distance);
}

// A share of the way from one point to its target: uphill at first. Seen from that q.
bool DenseAscent::towards(const Point& from, const Target& target, double share, Point& to) {
  to = from;
  to.state.mean() += share * target.mean;
  to.state.inverse_factor() += share * (target.inverse_factor - from.state.inverse_factor());
  to.theta += share * target.theta;
  reference_ = to.state.inverse_factor();
  return settle(to);
}

// Steps of a share towards targets, until q and theta are near theirs. Quasi-Newton steps from afar
// would be in the metric of a q that is as much too wide as the scale is off: they turn it until
// its root has no digits left. `at` has its bound and gradient, sums_ are those there.
DenseAscent::Point DenseAscent::approach(Point at, int limit) {
  Target target;
  at.turn.setIdentity();
  double share = 1;
  try {
    for (int k = 0; k < kMostApproach && progress_.passes < limit; ++k) {
      if (!find_target(at, target) || target.distance < kNear) break;
      Point next = at;
      bool rose = false;
      for (; share > kLeastPart && progress_.passes < limit && !rose; share *= kBack) {
        if (!towards(at, target, share, next) || !look(true, next)) continue;
        record(next, share);
        rose = next.bound >= at.bound;
      }
      if (!rose) break;
      at = std::move(next);
      share = std::min(1.0, 2 * share / kBack);
    }
  } catch (const Interrupted&) {
    progress_.end = Termination::interrupted;
  }
  reference_ = at.state.inverse_factor();
  return at;
}

}  // namespace bsvm
