#include "dense_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/dense.hpp"
#include "moment_matching.hpp"
#include "other_starts.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kFirstStep = 0.4;       // of the gradient, before anything is learnt
constexpr double kShorter = 0.2;
constexpr double kLeastStep = 1e-12;
constexpr double kShort = 0.1;           // a step like those of climbs that go astray,
constexpr int kAstray = 6;               // by as many one after the other (well-placed: at most 4)
constexpr double kLongest = 0.8;         // how far a diagonal entry of T may fall in one step
constexpr double kFar = 0.1;              // from the identity, of an entry of T
constexpr double kFarTolerance = 0.4;   // and of those that only say how much lies there
constexpr double kOtherCurvature = 3;    // in theta: memory is of no use as far
constexpr double kNodeDifference = 0.1;  // in theta, of climbed nodes
constexpr Index kMany = 768;             // columns
const double kRoot2 = std::sqrt(2.0);

// Lower triangle by columns, the diagonal times `unit`.
void pack(const Mat& a, double unit, VecRef out) {
  const Index p = a.rows();
  for (Index j = 0, at = 0; j < p; at += p - j, ++j) {
    out.segment(at, p - j) = a.col(j).tail(p - j);
    out[at] *= unit;
  }
}

Mat unpack(ConstVecRef x, double unit, Index p) {
  Mat out = Mat::Zero(p, p);
  for (Index j = 0, at = 0; j < p; at += p - j, ++j) {
    out.col(j).tail(p - j) = x.segment(at, p - j);
    out(j, j) *= unit;
  }
  return out;
}

// L x. Of many columns Eigen's product takes long, and asks nobody meanwhile.
Mat product(const Mat& l, const Mat& x, Host& host) {
  return l.rows() > kMany ? lower_times(l, x, host) : lower_product(l, x);
}

// Is T far from the identity?
bool far(const Mat& turn) {
  Mat away = turn;
  away.diagonal().array() -= 1;
  return away.cwiseAbs().maxCoeff() > kFar;
}

}  // namespace

DenseAscent::DenseAscent(const Model& problem, std::unique_ptr<RowSource> source,
                         const Options& options, Host& host)
    : problem_(problem), source_(std::move(source)), options_(options), host_(host), side_(problem),
      sums_(side_.layout()), concave_(problem.likelihood->concave()),
      node_tolerance_(kNodeTolerance) {
  std::vector<double> scale;
  for (const PriorPart& part : side_.parts()) {
    const double count = part.parameter() ? static_cast<double>(problem.n) : 2 * part.count();
    scale.insert(scale.end(), part.free_size(), std::sqrt(std::max(2.0, count)));
  }
  theta_scale_ = Eigen::Map<const Vec>(scale.data(), static_cast<Index>(scale.size()));
}

// Where q and the latent's global part are best given each other: a step of the latter, which
// cannot lower the bound, and another climb that starts where the last one ended.
void DenseAscent::follow_latent(Point& best) {
  if (best.state.layout.latent == 0) return;
  for (int step = 0; step < kMostLatentSteps; ++step) {
    if (progress_.end != Termination::converged) return;
    source_->sums(best.state, sums_, host_);
    if (!(side_.latent().change(sums_, best.state) > kLatentTolerance * kLatentTolerance)) return;
    side_.latent().update(sums_, best.state);
    best = run(best, options_.tolerance, true, true);
  }
}

// An interrupt after the first ascent leaves the best so far.
Node DenseAscent::climb() {
  Point best = run(begin(), options_.tolerance, true);
  try {
    come_near(best);
    follow_latent(best);
    if (!concave_) start_again(best);
    return node(best);
  } catch (const Interrupted&) {
    progress_.end = Termination::interrupted;
    return node(best);
  }
}

// Where the first climb went astray another one starts near the top, since q was far too wide; if
// that does not arrive, the first goes on.
void DenseAscent::come_near(Point& best) {
  first_ = false;
  if (progress_.end != Termination::stalled) return;
  const Point left = best;
  best = run(begin_near(), options_.tolerance, true);
  if (progress_.end == Termination::converged || best.bound >= left.bound) return;
  best = progress_.end == Termination::interrupted ? left : run(left, options_.tolerance, true);
}

void DenseAscent::start_again(Point& best) {
  Termination end = progress_.end;
  for (int start = 1; start <= kMoreStarts && progress_.end != Termination::interrupted; ++start) {
    const double loose = std::max(kLooseTolerance, options_.tolerance);
    Point other = run(away_from(best, start), loose, true, false, &best);
    if (!(other.bound > best.bound + kHigherBound)) continue;
    const bool loosely = loose > options_.tolerance || leads_to(best, other);
    if (loosely && progress_.end != Termination::interrupted)
      other = run(other, options_.tolerance, true);
    best = other;
    end = progress_.end;
  }
  if (progress_.end != Termination::interrupted) progress_.end = end;
  progress_.gradient = best.gradient.norm();
  progress_.trace.push_back({best.bound, progress_.gradient, 1, 0});  // what is kept
}

// The same q with its mean some standard deviations away, the same place each time.
DenseAscent::Point DenseAscent::away_from(const Point& from, int start) {
  Point out = from;
  Draws random(DrawKey{0, static_cast<std::uint32_t>(start), 0}, Purpose::dense, 0);
  Vec noise(from.state.layout.p);
  for (Index j = 0; j < noise.size(); ++j) noise[j] = kAway * random.normal();
  out.state.mean() += from.state.inverse_factor().transpose() * noise;
  out.gradient = Vec();
  return out;
}

// Far away nothing that was learnt here is good, nor is what was learnt there good here.
Node DenseAscent::at(ConstVecRef theta, const Node& from) {
  if (!((theta - from.theta).cwiseAbs().maxCoeff() > kOtherCurvature))
    return node(run(moved(from, theta), 0, false));
  const LimitedMemory memory = memory_;
  const Mat reference = reference_;
  memory_.forget();
  node_tolerance_ = kFarTolerance;
  const Node out = node(run(moved(from, theta), 0, false));
  node_tolerance_ = kNodeTolerance;
  memory_ = memory;
  reference_ = reference;
  return out;
}

// q at another theta as if the rows' share of its density stayed as it is: precision A + D - D_0,
// mean (A + D - D_0)^{-1} A mu. Where that is no precision, q as it was.
DenseAscent::Point DenseAscent::moved(const Node& from, ConstVecRef theta) {
  Point to{from.state, Mat(), theta, Vec(), kNothing, Vec()};
  const Index p = from.state.layout.p;
  Mat root = Mat::Identity(p, p);
  solve_lower(from.state.inverse_factor(), root);
  const Vec linear = root * (root.transpose() * from.state.mean());
  Mat precision = Mat::Zero(p, p);
  add_square(root, precision);
  precision.diagonal() -= side_.precision(to.state);
  side_.fix_priors(to.state, theta);
  precision.diagonal() += side_.precision(to.state);
  if (!cholesky(precision, host_)) return to;
  to.state.inverse_factor() = inverse_lower(precision, host_);
  const Mat inverse = to.state.inverse_factor().triangularView<Eigen::Lower>();
  to.state.mean() = inverse.transpose() * (inverse * linear);
  return to;
}

// Quasi-Newton steps in (a, T, theta): the first go along the gradient.
//   direction  what the memory makes of the gradient at `best`
//   step       how much of it is tried, less after a bound that fell
//   next       where that is
//   gain       by how much the bound rose
//   crept      steps that were short, one after the other: q is far too wide
// Where T is far from the identity, M_0 is moved to M, and the memory with it.
DenseAscent::Point DenseAscent::run(Point best, double tolerance, bool climbing, bool known,
                                    const Point* top) {
  share_.climbing(climbing);
  progress_.end = Termination::pass_limit;
  best.state.slopes() = climbing ? 1 : 0;
  if (known) settle(best);
  else restart(climbing, best);
  if (!look(climbing, best))
    refuse_numbers();
  record(best, 1);
  if (finished(best, 0, tolerance)) return best;
  Vec direction = memory_.direction(best.gradient);
  double step = memory_.empty() ? kFirstStep : 1;
  int crept = 0;
  const int limit = (climbing ? 0 : progress_.passes) + options_.max_passes;
  try {
    while (progress_.passes < limit) {
      Point next = best;
      const bool possible = go(best, step * direction, next) && look(climbing, next);
      if (possible) record(next, step);
      if (!possible || !(next.bound >= best.bound - slack(best.bound))) {
        step *= kShorter;
        if (step < kLeastStep) {
          progress_.end = Termination::stalled;
          break;
        }
        continue;
      }
      const double gain = next.bound - best.bound;
      memory_.learn(step * direction, next.gradient - best.gradient);
      best = std::move(next);
      if (finished(best, gain, tolerance)) break;
      if (top && leads_to(*top, best)) {
        progress_.end = Termination::converged;
        break;
      }
      crept = step < kShort ? crept + 1 : 0;
      if (first_ && crept == kAstray) {
        progress_.end = Termination::stalled;
        break;
      }
      if (far(best.turn)) refer_to(Mat(best.turn), best);
      direction = memory_.direction(best.gradient);
      step = memory_.empty() ? kFirstStep : 1;
    }
  } catch (const Interrupted&) {
    if (!climbing) throw;
    progress_.end = Termination::interrupted;
  }
  return best;
}

// What was learnt of the curvature on the way to another node is good here too.
void DenseAscent::restart(bool climbing, Point& at) {
  Mat turn = at.state.inverse_factor();
  if (climbing) memory_.forget();
  if (!memory_.empty()) {
    memory_.cut(at.theta.size());
    turn = divided_lower(turn, reference_);
  }
  refer_to(turn, at);
  settle(at);
}

bool DenseAscent::finished(const Point& at, double gain, double tolerance) {
  const double reach = tolerance + 1e-14 * std::abs(at.bound);
  progress_.gradient = at.gradient.norm();
  const double least = tolerance == 0 ? node_tolerance_ : 10 * std::sqrt(tolerance);
  const bool done = progress_.gradient <= least && (tolerance == 0 || gain <= reach);
  if (done) progress_.end = Termination::converged;
  return done;
}

// From here on steps are seen from this q; what the memory knows is written anew. With M the
// new reference T M_0: a = T'a' and (a step of T) = (a step of T') T, so that gradients are T times
// and (lower triangle of) times T'.
void DenseAscent::refer_to(const Mat& turn, Point& at) {
  const Index p = turn.rows(), m = p * (p + 1) / 2;
  const Mat inverse = p > kMany && !memory_.empty() ? inverse_lower(turn, host_) : Mat();
  const auto step = [&](ConstVecRef x) {
    Vec out = x;
    solve_transposed(turn, out.head(p));
    Mat rows = unpack(x.segment(p, m), 1 / kRoot2, p).transpose();
    if (p > kMany) rows = transposed_times(inverse, rows, host_);
    else solve_transposed(turn, rows);
    pack(rows.transpose(), kRoot2, out.segment(p, m));
    return out;
  };
  const auto gradient = [&](ConstVecRef x) {
    Vec out = x;
    out.head(p) = lower_product(turn, x.head(p));
    const Mat rows = product(turn, unpack(x.segment(p, m), kRoot2, p).transpose(), host_);
    pack(rows.transpose(), 1 / kRoot2, out.segment(p, m));
    return out;
  };
  memory_.rewrite(step, gradient);
  if (at.gradient.size() > 0) at.gradient = gradient(at.gradient);
  reference_ = at.state.inverse_factor();
  at.turn = Mat::Identity(p, p);
}

bool DenseAscent::go(const Point& from, const Vec& step, Point& to) {
  const Index p = from.state.layout.p, m = p * (p + 1) / 2;
  to.turn += unpack(step.segment(p, m), 1 / kRoot2, p);
  if (!(to.turn.diagonal().array() > (1 - kLongest) * from.turn.diagonal().array()).all())
    return false;
  to.state.mean() += transposed_product(reference_, step.head(p));
  to.state.inverse_factor() = product(to.turn, reference_, host_);
  to.theta += step.tail(from.theta.size()).cwiseQuotient(theta_scale_);
  return settle(to);
}

// The priors, and what they and q give of the bound.
bool DenseAscent::settle(Point& at) {
  side_.fix_priors(at.state, at.theta);
  at.pull.resize(at.theta.size());
  at.state.prior_value() = side_.value_at(at.state, Mat(), at.theta, at.pull);
  return std::isfinite(at.state.prior_value());
}

// One pass over the rows: the bound at a point and its gradient.
bool DenseAscent::look(bool climbing, Point& at) {
  const Index p = at.state.layout.p, m = p * (p + 1) / 2;
  ++progress_.passes;
  source_->sums(at.state, sums_, host_);
  at.bound = sums_.value() + at.state.prior_value();
  if (climbing) find_pull(at);
  at.shared = side_.left_over_pull(sums_, at.theta);
  const Vec prior = side_.precision(at.state);
  at.gradient.setZero(p + m + at.theta.size());
  at.gradient.head(p) = lower_product(reference_, side_.gradient(at.state, sums_));
  Mat found = symmetric(sums_.weight());
  found.diagonal() += prior;
  const Mat half = product(reference_, found, host_);
  found = product(reference_, half.transpose(), host_);
  found = -product(at.turn, found, host_);
  found.diagonal() += at.turn.diagonal().cwiseInverse();
  pack(found, 1 / kRoot2, at.gradient.segment(p, m));
  if (climbing) at.gradient.tail(at.theta.size()) = (at.pull + at.shared).cwiseQuotient(theta_scale_);
  return std::isfinite(at.bound) && at.gradient.allFinite();
}

// The rows' part of it.
void DenseAscent::find_pull(Point& at) const {
  at.pull.segment(side_.parameter_first(), side_.parameters()) =
      side_.parameter_pull(at.state, sums_);
}

void DenseAscent::record(const Point& at, double step) {
  progress_.trace.push_back({at.bound, at.gradient.norm(), 1, step});
  std::ostringstream text;
  text.precision(12);
  text << "iteration " << progress_.passes << ": bound " << at.bound << ", gradient ";
  text.precision(3);
  text << at.gradient.norm();
  tell(host_, text.str(),
       share_(progress_.passes, progress_.trace[0].gradient, progress_.gradient));
}

// What is left to gain is added as the memory sees it. Where parameters are held, only the end of a
// run needs to know what rows say of them.
Node DenseAscent::node(Point at) {
  if (side_.parameters() > 0 && at.state.slopes() == 0) {
    ++progress_.passes;
    at.state.slopes() = 1;
    source_->sums(at.state, sums_, host_);
    find_pull(at);
  }
  Node out;
  out.theta = at.theta;
  const bool converged = progress_.end == Termination::converged;
  const double left = converged ? 0.5 * at.gradient.dot(memory_.direction(at.gradient)) : 0;
  out.log_density = out.bound = at.bound + std::clamp(left, 0.0, at.gradient.squaredNorm());
  out.pull = at.pull + at.shared;
  out.state = at.state;
  out.state.slopes() = 0;
  out.matched = converged && match_moments(*source_, side_, out.state, out.log_density, host_);
  out.imputed = source_->imputations(out.state);
  return out;
}

// Minus the derivative of the bound's gradient in theta, the rows' share of q held: no row is seen.
// Where theta is in the rows too, of climbed nodes.
Mat DenseAscent::curvature(const Node& top) {
  const Index h = top.theta.size();
  Mat out(h, h);
  if (side_.parameters() > 0 || side_.leaves()) {
    for (Index k = 0; k < h; ++k) {
      const Vec by = kNodeDifference * Vec::Unit(h, k);
      out.col(k) = (at(top.theta - by, top).pull - at(top.theta + by, top).pull) /
                   (2 * kNodeDifference);
    }
    return 0.5 * (out + out.transpose());
  }
  for (Index k = 0; k < h; ++k) {
    const Vec by = kThetaDifference * Vec::Unit(h, k);
    Point up = moved(top, top.theta + by), down = moved(top, top.theta - by);
    settle(up);
    settle(down);
    out.col(k) = (down.pull - up.pull) / (2 * kThetaDifference);
  }
  return 0.5 * (out + out.transpose());
}

}  // namespace bsvm
