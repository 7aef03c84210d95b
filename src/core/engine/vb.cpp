// Mean field variational Bayes, q(b, u) q(a) prod q(hyper) (000, Algorithms 1, 2).
//
// For given hyper-parameters the bound is jointly concave in the mean and the
// Cholesky factor of q(b, u) (models.md, section 2). The paper's update sets the
// covariance from the rows' weights w = -2 dl/dv and moves the mean as if w were
// its curvature too; but the curvature is k = -d2l/dm2 <= w, often by a factor of
// a hundred, so the mean crawls. Here the mean takes a Newton step with curvature
//
//     k + damping (w - k)
//
// where damping = 1 is the paper's update, which cannot lower the bound; it is
// halved after every pass that raises the bound, and raised after one that does
// not. Such a pass is taken back along the mean: to a quarter of the step, then to
// none of it, when only the covariance moves, which cannot lower the bound either.
//
// Certificate: the norm of the gradient in q's own metric, the Fisher one to first
// order (the damped curvature stands in for the mean's). It vanishes at the optimum and
// nowhere else.
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "../error.hpp"
#include "coefficients.hpp"
#include "engine.hpp"

namespace bsvm {
namespace {

constexpr double kLeastDamping = 1.0 / (1 << 20);

class VariationalBayes : public Engine {
 public:
  explicit VariationalBayes(const Params& params)
      : accelerate_(params.flag("accelerate")) {}

  Use use() const override { return Use::augmented; }

  Result run(const Problem& problem, RowSource& source, const Options& options,
             Host& host) const override {
    const Coefficients side(problem);
    const bool started = options.start.size() > 0;
    State state = side.start(options.start);
    Result best(state);
    RowSums sums(state.layout.p, state.layout.q);
    try {
      while (static_cast<int>(best.trace.size()) < options.max_passes) {
        source.sums(state, sums, host);
        const Coefficients::Proposal next = side.propose(state, sums, host);
        record(state, sums, next, best);
        report(best, host);
        const double gain = best.trace.back().bound - best.bound;
        if (gain < -slack(best.bound)) {
          if (state.fraction() == 0) {
            best.end = Termination::stalled;
            break;
          }
          shorten(side, source, state);
          continue;
        }
        accept(state, source, best);
        if (state.begun() && good_enough(gain, best, options.tolerance)) {
          best.end = Termination::converged;
          break;
        }
        advance(side, source, next, sums, started, state);
      }
    } catch (const Interrupted&) {
      best.end = Termination::interrupted;
    }
    return best;
  }

 private:
  static double slack(double bound) {
    return std::isfinite(bound) ? 1e-12 * (1 + std::abs(bound)) : 0;
  }

  static bool good_enough(double gain, const Result& now, double tolerance) {
    const double reach = tolerance + 1e-14 * std::abs(now.bound);
    return gain <= reach && now.gradient <= 10 * std::sqrt(tolerance);
  }

  static void record(const State& state, RowSums& sums, const Coefficients::Proposal& next,
                     Result& out) {
    const double bound = state.begun() ? sums.value() + state.prior_value()
                                 : -std::numeric_limits<double>::infinity();
    if (std::isnan(bound) || !std::isfinite(next.gradient) || !next.step.allFinite())
      throw NumericalFailure("A number became infinite or undefined at pass " +
                             std::to_string(out.trace.size() + 1) +
                             ". Check the scale of predictors, offset and weights.");
    out.trace.push_back({bound, next.gradient, state.damping(), state.fraction()});
  }

  static void accept(const State& state, const RowSource& source, Result& best) {
    best.bound = best.trace.back().bound;
    best.gradient = best.trace.back().gradient;
    best.state = state;
    best.groups = source.groups();
  }

  static void report(const Result& out, Host& host) {
    std::ostringstream text;
    text.precision(12);
    text << "pass " << out.trace.size() << ": bound " << out.trace.back().bound
         << ", gradient ";
    text.precision(3);
    text << out.trace.back().gradient;
    host.progress(text.str());
  }

  // The covariance and, unless the user said where the mean starts, the mean.
  void advance(const Coefficients& side, RowSource& source,
               const Coefficients::Proposal& next, RowSums& sums, bool started,
               State& state) const {
    const bool first = !state.begun();
    state.begun() = 1;
    state.fraction() = first && started ? 0 : 1;
    state.inverse_factor() = next.inverse_factor;
    state.step() = next.step;
    state.mean() += state.fraction() * next.step;
    state.group_logdet() = sums.group_logdet();
    source.settle(state, Settle::advance, state.fraction(), sums);
    side.update_priors(state, sums);
    if (accelerate_ && !first) state.damping() = std::max(kLeastDamping, state.damping() / 2);
  }

  static void shorten(const Coefficients& side, RowSource& source, State& state) {
    const double fraction = state.fraction() > 0.5 ? 0.25 : 0;
    const double change = fraction - state.fraction();
    state.fraction() = fraction;
    state.mean() += change * state.step();
    state.damping() = std::min(1.0, 8 * state.damping());
    RowSums settled(state.layout.p, state.layout.q);
    source.settle(state, Settle::shorten, change, settled);
    side.update_priors(state, settled);
  }

  bool accelerate_;
};

const Register<Engine, VariationalBayes> entry("vb");

}  // namespace

const char* name_of(Termination end) {
  switch (end) {
    case Termination::converged: return "converged";
    case Termination::pass_limit: return "pass_limit";
    case Termination::interrupted: return "interrupted";
    case Termination::stalled: return "stalled";
  }
  return "";
}

}  // namespace bsvm
