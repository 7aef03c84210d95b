// Where a DenseAscent starts; and after it went astray, the best mean of f ~ N(m, t^2), whose t
// shrinks.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "dense_ascent.hpp"
#include "mode.hpp"

namespace bsvm {

namespace {

constexpr double kBack = 0.3;           // of a step after which the objective fell
constexpr double kOfUnit = 0.5;         // t, of unit_of_f()
constexpr double kNarrowest = 0.5;      // of t before
constexpr double kSameT = 0.9;          // of t before: where it stays
constexpr double kLonger = 4;           // than the last step that rose
constexpr double kLeastDescent = 1e-3;  // of a step
constexpr double kGainOfRow = 0.02;     // that a step promises, where t may be smaller
constexpr int kMostDescent = 40;

}  // namespace

DenseAscent::Point DenseAscent::origin() {
  Point out{side_.start(options_.start), Mat(), Vec(), Vec(), kNothing, Vec()};
  out.theta = side_.free(out.state);
  side_.fix_priors(out.state, out.theta);
  out.state.damping() = 1;
  settle_latent(out.state);
  return out;
}

// q from one pass with unit variances.
DenseAscent::Point DenseAscent::begin() {
  Point out = origin();
  const Coefficients::Proposal next = first_proposal(out.state);
  if (options_.start.size() == 0) out.state.mean() += next.step;
  out.state.inverse_factor() = next.inverse_factor;
  out.state.begun() = 1;
  return out;
}

// The q that the rows' weights leave where their mean is best, with one variance for all of them.
DenseAscent::Point DenseAscent::begin_near() {
  Point out = origin();
  out.state.slopes() = 2;
  const Coefficients::Proposal next = descend(out, first_proposal(out.state));
  out.state.inverse_factor() = next.inverse_factor;
  out.state.begun() = 1;
  return out;
}

// The latent's global part that what is observed of its own variables makes best: the response will
// change it little.
void DenseAscent::settle_latent(State& state) {
  if (state.layout.latent == 0) return;
  for (int step = 0; step < kMostLatentSteps; ++step) {
    source_->sums(state, sums_, host_);
    if (!(side_.latent().change(sums_, state) > kLatentTolerance * kLatentTolerance)) return;
    side_.latent().update(sums_, state);
  }
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
// steps lead far away. The likelihood's parameters go along, to where they are best for this f;
// those of blocks stay, since they are to explain what f does not yet.
//  at       the highest point so far, and `next` where its sums lead; `now` its value
//  value    E log p(y | f) - b'D b / 2 and log p of parameters: the smaller t, the larger
//  t        kOfUnit of what changes log p(y | f) by one, and not below kNarrowest of t before; it
//           stays while there is much to gain
//  share    of Newton's step
Coefficients::Proposal DenseAscent::descend(Point& at, Coefficients::Proposal next) {
  const Vec precision = side_.precision(at.state);
  const Index own = problem_.likelihood->free_size();
  const double much = kGainOfRow * static_cast<double>(problem_.n);
  double now = smoothed(at.state, precision), share = 1;
  for (int k = 0; k < kMostDescent && progress_.passes + 1 < options_.max_passes; ++k) {
    const Vec step = side_.parameter_step(at.state, sums_).head(own);
    const double t = std::sqrt(at.state.spread());
    const bool near = 0.5 * next.gradient * next.gradient < much;
    Point to = at;
    Coefficients::Proposal then;
    double height = kNothing;
    for (; share > kLeastDescent && !(height >= now); share *= kBack) {
      to = at;
      to.state.mean() += share * next.step;
      to.theta.segment(side_.parameter_first(), own) += share * step;
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

}  // namespace bsvm
