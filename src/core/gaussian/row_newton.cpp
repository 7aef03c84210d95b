#include "row_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "linalg/cholesky.hpp"
#include "model/gather.hpp"
#include "other_starts.hpp"

namespace bsvm {

namespace {

constexpr Index kMostRows = 2000, kMostRowsPerColumn = 12;
constexpr double kRowNodeTolerance = 0.02;  // on the gradient of nodes beside the top: 2e-4 nats
constexpr double kLeastRowWeight = 1e-3;     // of a start whose own weights leave no precision
constexpr double kRise = 1e-4;            // of what a step promises, at least
constexpr double kShorterStep = 0.4;
constexpr double kLeastNewton = 0.1, kLeastNewtonShare = 1e-9;  // of a step, that are tried

Arr given(const double* x, Index n, double otherwise) {
  return x ? Arr(Eigen::Map<const Arr>(x, n)) : Arr(Arr::Constant(n, otherwise));
}

// Is a prior's variance inferred?
bool any_free(const Problem& problem) {
  return std::any_of(problem.priors.begin(), problem.priors.end(), [](const PriorSlot& slot) {
    return slot.prior->free_size(static_cast<Index>(slot.columns.size())) > 0;
  });
}

}  // namespace

bool RowNewton::suits(const Problem& problem) {
  if (!problem.here()) return false;
  for (const auto& block : problem.blocks)
    if (block->varies()) return false;
  if (problem.left_over && problem.leaving.size() > 0 && any_free(problem)) return false;
  return problem.effects() == 0 && problem.parameters() == 0 && !problem.latent->any() && problem.n <= kMostRows &&
         problem.n <= kMostRowsPerColumn * problem.columns();
}

RowNewton::RowNewton(const Problem& problem, const Options& options, Host& host)
    : problem_(problem), options_(options), host_(host),
      side_(problem), concave_(problem.likelihood->concave()),
      y_(given(problem.y, problem.n, 1)), row_weight_(given(problem.weight, problem.n, 1)),
      offset_(given(problem.offset, problem.n, 0)) {
  left_over_ = Arr::Zero(problem.n);
  if (problem.left_over) {
    Mat shares;
    gather_left_over(problem, all_rows(problem).data(), problem.n, shares);
    left_over_ = (shares * side_.start(Vec()).leaving()).array();
  }
  take_design(problem);
  std::vector<double> scale;
  for (const PriorPart& part : side_.parts())
    scale.insert(scale.end(), part.free_size(), std::sqrt(2 * std::max(1.0, part.count())));
  theta_scale_ = Eigen::Map<const Vec>(scale.data(), static_cast<Index>(scale.size()));
}

void RowNewton::take_design(const Problem& problem) {
  design_ = gather_design(problem);
}

// ---- q and the bound

// The covariance that theta and w leave. False where that is none.
bool RowNewton::settle(Point& at) {
  side_.fix_priors(at.state, at.theta);
  const Index p = design_.rows(), n = design_.cols();
  Mat precision = Mat::Zero(p, p);
  squares_.add(design_.data(), p, n, at.weight.data(), precision.data(), p);
  precision.diagonal() += side_.precision(at.state);
  if (!precision.allFinite() || !cholesky(precision, host_)) return false;
  at.state.inverse_factor() = inverse_lower(precision, host_);
  at.state.begun() = 1;
  at.half = lower_times(at.state.inverse_factor(), design_, host_);
  at.v = at.half.colwise().squaredNorm().transpose().array() + left_over_;
  return at.v.allFinite();
}

// What the rows say of q, and the bound.
bool RowNewton::look(Point& at) {
  if (host_.interrupted()) throw Interrupted();
  ++progress_.passes;
  at.m = (design_.transpose() * at.state.mean()).array() + offset_;
  if (!at.m.allFinite()) return false;
  RowTerms terms;
  terms.resize(at.m.size());
  problem_.likelihood->terms(Use::expected, y_, at.m, at.v, terms);
  at.slope = row_weight_ * terms.slope;
  at.target = row_weight_ * terms.weight;
  at.pull.resize(at.theta.size());
  at.state.prior_value() = side_.value_at(at.state, Mat(), at.theta, at.pull);
  at.bound = (row_weight_ * terms.value).sum() + at.state.prior_value();
  return std::isfinite(at.bound) && at.slope.allFinite() && at.target.allFinite() &&
         at.pull.allFinite();
}

// Its mean from the rows' linear term, as a quadratic likelihood would have it.
void RowNewton::follow(const Arr& linear, Point& at) const {
  const Mat& root = at.state.inverse_factor();
  const Vec right = design_ * linear.matrix() + side_.tilt();
  at.state.mean() = root.transpose() * (root * right);
}

// q from one look with unit variances. Weights below zero may leave no precision: with larger
// variances they come nearer to zero.
RowNewton::Point RowNewton::begin() {
  Point out;
  out.state = side_.start(options_.start);
  out.theta = side_.free(out.state);
  out.m = (design_.transpose() * out.state.mean()).array() + offset_;
  RowTerms terms;
  terms.resize(out.m.size());
  for (;; out.state.spread() *= 10) {
    ++progress_.passes;
    problem_.likelihood->terms(Use::expected, y_, out.m,
                               Arr::Constant(out.m.size(), out.state.spread()), terms);
    out.weight = row_weight_ * terms.weight;
    if (settle(out)) break;
    if (concave_ || !(out.state.spread() <= kMostSpread)) refuse_precision();
  }
  if (options_.start.size() == 0)
    follow(row_weight_ * terms.slope + out.weight * (out.m - offset_), out);
  return out;
}

// q with the rows' weights and slopes of another one; where these leave none, of weights above zero.
RowNewton::Point RowNewton::begin(const Known& near) {
  Point out;
  out.state = side_.start(options_.start);
  out.theta = side_.free(out.state);
  out.weight = near.weight;
  Arr linear = near.slope + near.weight * (near.m - offset_);
  if (!settle(out)) {
    out.weight = near.weight.max(kLeastRowWeight);
    linear = near.slope + out.weight * (near.m - offset_);
    if (!settle(out)) refuse_precision();
  }
  follow(linear, out);
  return out;
}

RowNewton::Known RowNewton::best(const Known* near, double tolerance) {
  const Point at = run(near ? begin(*near) : begin(), tolerance, false);
  return {at.bound,    at.m, at.v, at.slope, at.target, std::move(covariance_), at.state.mean(),
          side_.second_moments(at.state), progress_.end == Termination::converged};
}

// ---- climbing

// An interrupt after the first ascent leaves the best so far.
Node RowNewton::climb() {
  Point best = run(begin(), options_.tolerance, true);
  try {
    if (!concave_) start_again(best);
    return matched(best);
  } catch (const Interrupted&) {
    progress_.end = Termination::interrupted;
    return matched(best);
  }
}

void RowNewton::start_again(Point& best) {
  const Mat curvature = curvature_, covariance = covariance_;
  Termination end = progress_.end;
  const double gradient = progress_.gradient;
  bool other_best = false;
  for (int start = 1; start <= kMoreStarts && progress_.end != Termination::interrupted; ++start) {
    Point other = run(away_from(best, start), std::max(kLooseTolerance, options_.tolerance), true,
                      &best);
    if (!(other.bound > best.bound + kHigherBound)) continue;
    best = progress_.end == Termination::interrupted ? other : run(other, options_.tolerance, true);
    end = progress_.end;
    other_best = true;
  }
  if (!other_best) progress_.gradient = gradient;
  progress_.trace.push_back({best.bound, progress_.gradient, 1, 0});  // what is kept
  if (other_best) return;
  curvature_ = curvature;
  covariance_ = covariance;
  if (progress_.end != Termination::interrupted) progress_.end = end;
}

// The same q with its mean some standard deviations away, the same place each time.
RowNewton::Point RowNewton::away_from(const Point& from, int start) const {
  Point out = from;
  Draws random(DrawKey{0, static_cast<std::uint32_t>(start), 0}, Purpose::dense, 0);
  Vec noise(from.state.layout.p);
  for (Index j = 0; j < noise.size(); ++j) noise[j] = kAway * random.normal();
  out.state.mean() += from.state.inverse_factor().transpose() * noise;
  return out;
}

RowNewton::Point RowNewton::run(Point now, double tolerance, bool climbing, const Point* top) {
  progress_.end = Termination::pass_limit;
  if (!look(now)) refuse_numbers();
  const int limit = (climbing ? 0 : progress_.passes) + options_.max_passes;
  System here = system(now, climbing);
  for (double gain = 0, share = 1;;) {
    progress_.gradient = here.length;
    record(now, share);
    if (finished(now, gain, tolerance) || progress_.passes >= limit) break;
    const double before = now.bound;
    try {
      share = rise(newton(now, here, climbing), kLeastNewton, now);
      if (!(share > 0)) share = rise(natural(now, here, climbing), kLeastNewtonShare, now);
      if (share > 0) here = system(now, climbing);
    } catch (const Interrupted&) {
      if (!climbing) throw;
      progress_.end = Termination::interrupted;
      break;
    }
    if (!(share > 0)) {
      progress_.end = Termination::stalled;
      break;
    }
    gain = now.bound - before;
    if (top && leads_to(*top, now)) {
      record(now, share);
      progress_.end = Termination::converged;
      break;
    }
  }
  if (climbing) curvature_ = profile(now, here);
  covariance_ = std::move(here.k);
  return now;
}

bool RowNewton::finished(const Point& at, double gain, double tolerance) {
  const double reach = tolerance + 1e-14 * std::abs(at.bound);
  const double least = tolerance == 0 ? kRowNodeTolerance : 10 * std::sqrt(tolerance);
  const bool done = progress_.gradient <= least && (tolerance == 0 || gain <= reach);
  if (done) progress_.end = Termination::converged;
  return done;
}

// Along the step, shortened until the bound rises: the share of it that was taken, or 0.
double RowNewton::rise(const Step& step, double least, Point& at) {
  if (!(step.slope > 0) || !step.mean.allFinite() || !step.weight.allFinite()) return 0;
  for (double share = 1; share > least; share *= kShorterStep) {
    Point next = at;
    next.state.mean() += share * step.mean;
    next.weight += share * step.weight;
    next.theta += share * step.theta;
    if (!settle(next) || !look(next)) continue;
    if (!(next.bound >= at.bound + kRise * share * step.slope - slack(at.bound))) continue;
    at = std::move(next);
    return share;
  }
  return 0;
}

// ---- nodes

// q with these sites. False where they leave none.
bool RowNewton::take(const RowSites& sites, Point& at) {
  if (host_.interrupted()) throw Interrupted();
  ++progress_.passes;
  at.weight = sites.weight;
  if (!settle(at)) return false;
  follow(sites.linear, at);
  at.m = (design_.transpose() * at.state.mean()).array() + offset_;
  at.pull.resize(at.theta.size());
  at.state.prior_value() = side_.value_at(at.state, Mat(), at.theta, at.pull);
  return at.m.allFinite() && std::isfinite(at.state.prior_value());
}

// From sites to where they rest; `at` is the last q.
bool RowNewton::rest(RowSites sites, Point& at, double& log_density) {
  const bool done = rest_sites(
      {*problem_.likelihood, y_, row_weight_, offset_},
      [&](const RowSites& now) { return take(now, at); },
      [&] { return at.state.prior_value(); }, at.m, at.v, sites, log_density);
  if (done) known_.push_back(std::move(sites));
  return done;
}

// From the rows' sites elsewhere; where moments don't match from there, from the bound's optimum,
// and where they don't either, that.
Node RowNewton::at(ConstVecRef theta, const Node& from) {
  Point now;
  now.state = from.state;
  now.theta = theta;
  double log_density = 0;
  for (const bool along : {true, false})
    if (!problem_.left_over && !known_.empty() && rest(sites_near(known_, theta, along), now, log_density))
      return node(now, true, log_density);
  return matched(run(moved(from, theta), 0, false));
}

Node RowNewton::matched(const Point& best) {
  if (progress_.end != Termination::converged) return node(best, false, best.bound);
  const RowSites sites{best.theta, best.weight, best.slope + best.weight * (best.m - offset_)};
  if (problem_.left_over) {  // of which no coefficient knows: moments can't be matched
    known_.push_back(sites);
    return node(best, false, best.bound);
  }
  Point now = best;
  double log_density = 0;
  const bool done = rest(sites, now, log_density);
  Node out = done ? node(now, true, log_density) : node(best, false, best.bound);
  out.bound = best.bound;
  return out;
}

// q at another theta with the rows' weights of another node, or none.
RowNewton::Point RowNewton::moved(const Node& from, ConstVecRef theta) {
  Point to;
  to.state = from.state;
  to.theta = theta;
  to.weight = Arr::Zero(design_.cols());
  if (!known_.empty()) {
    const RowSites near = sites_near(known_, theta, false);
    to.weight = near.weight;
    if (settle(to)) {
      follow(near.linear, to);
      return to;
    }
    to.weight = near.weight.max(kLeastRowWeight);
  }
  if (!settle(to)) refuse_precision();
  return to;
}

Node RowNewton::node(const Point& at, bool matched, double log_density) const {
  Node out;
  out.theta = at.theta;
  out.log_density = out.bound = log_density;
  out.pull = at.pull;
  out.state = at.state;
  out.matched = matched;
  return out;
}

Mat RowNewton::curvature(const Node&) { return curvature_; }

void RowNewton::record(const Point& at, double step) {
  progress_.trace.push_back({at.bound, progress_.gradient, 1, step});
  std::ostringstream text;
  text.precision(12);
  text << "iteration " << progress_.passes << ": bound " << at.bound << ", gradient ";
  text.precision(3);
  text << progress_.gradient;
  host_.progress(text.str());
}

}  // namespace bsvm
