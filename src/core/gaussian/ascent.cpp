#include "ascent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "coefficients/free_parameters.hpp"
#include "moment_matching.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kFirstShare = 0.4, kMostShare = 0.8, kGrowth = 1.5, kRetreat = 0.3;
constexpr double kLeastShare = 1e-8;
constexpr double kReach = 1.5;           // of the hyper-parameters' step, as in vb.cpp
constexpr double kDifference = 0.2;      // in theta's units, of curvature()

double loose_slack(double bound) { return 1e-12 * (1 + std::abs(bound)); }

}  // namespace

Ascent::Ascent(const Model& problem, std::unique_ptr<RowSource> source,
               const Options& options, Host& host)
    : problem_(problem), source_(std::move(source)), options_(options), host_(host),
      side_(problem, source_->extra()), sums_(side_.layout()),
      concave_(problem.likelihood->concave()), last_(side_.layout()) {}

Node Ascent::climb() {
  if (options_.max_passes < 2)
    throw InvalidInput("max_passes", "'max_passes' must be at least 2.");
  Point best = run(begin(options_.start), options_.tolerance, true);
  try {
    if (!concave_ && options_.start.size() > 0 && progress_.end != Termination::interrupted)
      start_again(best);
    return node(best);
  } catch (const Interrupted&) {
    progress_.end = Termination::interrupted;
    return node(best);
  }
}

Ascent::Point Ascent::begin(const Vec& mean) {
  started_ = mean.size() > 0;
  Point out{side_.start(mean), Vec(), Vec(), kNothing};
  out.theta = side_.free(out.state);
  side_.fix_priors(out.state, out.theta);
  return out;
}

// Far from where the bound is high it may be flat or bent upwards: from zero too, and then once
// more the better way, since only the last run's groups are kept.
void Ascent::start_again(Point& best) {
  const Point other = run(begin(Vec()), options_.tolerance, true);
  if (other.bound >= best.bound) best = other;
  else if (progress_.end != Termination::interrupted)
    best = run(begin(options_.start), options_.tolerance, true);
}

// From the last node, where the groups still are.
Node Ascent::at(ConstVecRef theta, const Node&) {
  Point start{last_, theta, Vec(), kNothing};
  source_->back(last_);
  side_.fix_priors(start.state, theta);
  value(source_->settle(start.state, Settle::shorten, 0), start);
  return node(run(start, 0, false));
}

// Steps of a share while the bound rises; after a fall, from the best point by a smaller share.
//   now       where the next pass looks, which finds its bound
//   next      where that pass would go
//   best      the highest point so far, whose groups the source keeps
//   returned  is `now` that point again, its share smaller? Then that its bound has not risen says
//             nothing of convergence
Ascent::Point Ascent::run(Point now, double tolerance, bool climbing) {
  share_.climbing(climbing);
  now.state.damping() = 1;
  now.state.slopes() = climbing ? 2 : 0;
  Point best = now;
  Coefficients::Proposal next;
  progress_.end = Termination::pass_limit;
  const int limit = (climbing ? 0 : progress_.passes) + options_.max_passes;
  for (bool returned = false; progress_.passes < limit;) {
    bool possible = false;
    try {
      possible = pass(climbing, now, next);
    } catch (const Interrupted&) {
      if (!climbing || best.bound == kNothing) throw;
      progress_.end = Termination::interrupted;
      break;
    }
    const bool first = best.bound == kNothing;
    record(now);
    if (possible && (first || returned || now.bound >= best.bound - loose_slack(best.bound))) {
      const double gain = now.bound - best.bound;
      best = now;
      if (now.state.begun()) source_->keep();
      if (!returned && finished(now, gain, tolerance)) {
        progress_.end = Termination::converged;
        break;
      }
      advance(next, climbing, now);
      returned = false;
      continue;
    }
    if (first || best.state.damping() < kLeastShare) {
      progress_.end = Termination::stalled;
      break;
    }
    best.state.damping() *= kRetreat;
    now = best;
    source_->back(best.state);
    returned = true;
  }
  if (!best.state.begun() || !std::isfinite(best.bound))
    refuse_numbers();
  last_ = best.state;
  return best;
}

bool Ascent::finished(const Point& at, double gain, double tolerance) const {
  if (!at.state.begun()) return false;
  if (tolerance == 0) return progress_.gradient <= kNodeTolerance;
  return gain <= tolerance + 1e-14 * std::abs(at.bound) &&
         progress_.gradient <= 10 * std::sqrt(tolerance);
}

// One pass over the rows: the bound at a point, and where to go from there. False where there is
// nowhere to go: weights below zero have left a precision that is not positive definite.
bool Ascent::pass(bool climbing, Point& at, Coefficients::Proposal& next) {
  ++progress_.passes;
  const bool begun = at.state.begun();
  try {
    source_->sums(at.state, sums_, host_);
    if (begun) at.bound = sums_.value() + at.state.prior_value();
    if (begun && climbing) find_pull(at);
    at.shared = side_.left_over_pull(sums_, at.theta);
    next = side_.propose_natural(at.state, sums_, host_);
  } catch (const NumericalFailure&) {
    if (begun) return false;
    if (at.state.spread() > kMostSpread) throw;
    at.state.spread() *= 10;  // weights come nearer to zero
    return pass(climbing, at, next);
  }
  // The precision moved a share of its way, and that is what was measured.
  progress_.gradient = next.gradient / (begun ? at.state.damping() : 1);
  if (climbing)
    progress_.gradient =
        std::hypot(progress_.gradient, side_.parameter_gradient(at.state, sums_));
  return std::isfinite(progress_.gradient) && next.step.allFinite() &&
         (!begun || std::isfinite(at.bound));
}

void Ascent::advance(const Coefficients::Proposal& next, bool climbing, Point& point) {
  State& state = point.state;
  const bool first = !state.begun();
  Vec parameter_step = Vec::Zero(side_.parameters());
  if (climbing && !first) parameter_step = side_.parameter_step(state, sums_);
  state.begun() = 1;
  state.fraction() = first && started_ ? 0 : state.damping();
  state.inverse_factor() = next.inverse_factor;
  state.step() = next.step;
  state.mean() += state.fraction() * next.step;
  state.group_logdet() = sums_.group_logdet();
  const Mat moments = source_->settle(state, Settle::advance, state.fraction());
  side_.latent().update(sums_, state);
  if (climbing) {
    Vec best = side_.best_theta(state, sums_, moments, point.theta);
    best.segment(side_.parameter_first(), side_.parameters()) += parameter_step;
    point.theta += (first ? 1 : kReach * state.damping()) * (best - point.theta);
    side_.fix_priors(state, point.theta);
  }
  state.damping() = first ? kFirstShare : std::min(kMostShare, kGrowth * state.damping());
  value(moments, point);
}

void Ascent::value(const Mat& group_moments, Point& point) const {
  point.pull.resize(point.theta.size());
  point.state.prior_value() =
      side_.value_at(point.state, group_moments, point.theta, point.pull);
}

// The rows' part of it.
void Ascent::find_pull(Point& point) const {
  point.pull.segment(side_.parameter_first(), side_.parameters()) =
      side_.parameter_pull(point.state, sums_);
}

void Ascent::record(const Point& point) {
  progress_.trace.push_back(
      {point.bound, progress_.gradient, point.state.damping(), point.state.fraction()});
  std::ostringstream text;
  text.precision(12);
  text << "iteration " << progress_.passes << ": bound " << point.bound << ", gradient ";
  text.precision(3);
  text << progress_.gradient;
  tell(host_, text.str(),
       share_(progress_.passes, progress_.trace[0].gradient, progress_.gradient));
}

// Where parameters are held, only the end of a run needs to know what rows say of them.
Node Ascent::node(Point point) {
  source_->back(last_);
  if (side_.parameters() > 0 && point.state.slopes() == 0) {
    ++progress_.passes;
    point.state.slopes() = 1;
    source_->sums(point.state, sums_, host_);
    find_pull(point);
  }
  Node out;
  out.theta = point.theta;
  out.log_density = out.bound = point.bound;
  out.pull = point.shared.size() > 0 ? Vec(point.pull + point.shared) : point.pull;
  out.state = point.state;
  out.state.slopes() = 0;
  out.matched = progress_.end == Termination::converged &&
                match_moments(*source_, side_, out.state, out.log_density, host_);
  if (out.matched) {
    source_->keep();
    last_ = out.state;
  }
  out.groups = source_->groups();
  out.imputed = source_->imputations(out.state);
  return out;
}

// By differences of the bound's gradient, which at its optimum is that of what theta alone is in.
Mat Ascent::curvature(const Node& top) {
  const Index h = top.theta.size();
  const Vec unit = free_units(problem_, top.theta).unit;
  Mat out(h, h);
  for (Index k = 0; k < h; ++k) {
    const double by = kDifference * unit[k];
    const Vec step = by * Vec::Unit(h, k);
    out.col(k) = (at(top.theta - step, top).pull - at(top.theta + step, top).pull) / (2 * by);
  }
  return 0.5 * (out + out.transpose());
}

}  // namespace bsvm
