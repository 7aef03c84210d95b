#include "mode.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "coefficients/coefficients.hpp"
#include "linalg/dense.hpp"
#include "model/current_likelihood.hpp"

namespace bsvm {

namespace {

constexpr double kFirstSpread = 0.3, kLastSpread = 1e-7, kNarrower = 0.3;  // of unit_of_f()
constexpr double kStageGain = 1e-6;
constexpr int kMostModeHalvings = 40;

}  // namespace

double unit_of_f(const Model& problem, const State& state) {
  CurrentLikelihood likelihood(*problem.likelihood);
  likelihood.follow(state);
  return likelihood->most_offset() / kUnitsOfOffset;
}

//  name       size    meaning
//  tau                standard deviation of f; smaller from stage to stage
//  precision  (p)     D, the prior's
//  value              E log p(y | f) - b'D b / 2 at tau: `now` at b, `then` along the step
//  curvature  (p, p)  C'WC + D,  W = -2 dl/dv
//  step       (p)     curvature^{-1} gradient, of which `share` is taken
//  gain               gradient'step / 2, what a whole step promises
Node find_mode(const Model& problem, RowSource& source, const Node& from, Progress& progress,
               const Options& options, Host& host) {
  const Coefficients side(problem);
  State state = side.start(Vec());
  RowSums sums(state.layout);
  state.mean() = from.state.mean();
  side.fix_priors(state, from.theta);
  state.damping() = 1;
  const Vec precision = side.precision(state);
  const auto value = [&](double tau) {
    state.spread() = tau * tau;
    ++progress.passes;
    source.sums(state, sums, host);
    return sums.value() - 0.5 * precision.dot(state.mean().cwiseAbs2());
  };
  const int limit = progress.passes + options.max_passes;
  const double unit = unit_of_f(problem, state), last = kLastSpread * unit;
  double tau = kFirstSpread * unit, now = value(tau);
  progress.end = Termination::pass_limit;
  while (progress.passes < limit) {
    Mat curvature = sums.weight();
    curvature.diagonal() += precision;
    const Vec gradient = side.gradient(state, sums);
    const Vec step = positive_factor(curvature).solve(gradient);
    const double gain = 0.5 * step.dot(gradient);
    progress.gradient = std::sqrt(2 * gain);
    if (gain <= (tau > last ? kStageGain : options.tolerance)) {
      if (tau <= last) {
        progress.end = Termination::converged;
        break;
      }
      tau = std::max(last, kNarrower * tau);
      now = value(tau);
      continue;
    }
    const Vec before = state.mean();
    double share = 1, then = now;
    const double slack = 1e-13 * (1 + std::abs(now));
    int halved = 0;
    for (; halved < kMostModeHalvings; ++halved, share /= 2) {
      state.mean() = before + share * step;
      then = value(tau);
      if (then >= now + 1e-4 * share * gain - slack) break;
    }
    if (halved == kMostModeHalvings) {
      state.mean() = before;
      progress.end = Termination::stalled;
      break;
    }
    now = then;
  }
  Node out = from;
  out.state = state;
  out.log_density = now;
  return out;
}

}  // namespace bsvm
