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
// The hyper-parameters go half as far again as their own optimum, which near the
// overall one raises the bound too (any factor below two does) and gets there sooner.
//
// Parameters of the likelihood and of blocks are where the bound is highest: no distribution q of
// theirs. They take a Newton step at fixed q after a pass, which is taken back as the mean's is;
// the next ones are shorter then, since far from the optimum the bound may bend either way.
//
// Certificate: the norm of the gradient in q's own metric, the Fisher one to first
// order (the damped curvature stands in for the mean's). It vanishes at the optimum and
// nowhere else.
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "base/progress.hpp"
#include "coefficients/coefficients.hpp"
#include "engine.hpp"
#include "selector.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

constexpr double kReach = 1.5;

class VariationalBayes : public Engine {
 public:
  explicit VariationalBayes(const Params& params)
      : accelerate_(params.flag("accelerate")) {}

  Use use() const override { return Use::augmented; }

  Result run(const Problem& problem, RowSource& source, const Options& options,
             Host& host) const override {
    check(problem, options);
    if (problem.selects()) return select_variables(problem, source, options, accelerate_, host);
    const Coefficients side(problem, source.extra());
    State state = options.from ? *options.from : side.start(options.start);
    state.slopes() = 2;
    Result best(state);
    RowSums sums(state.layout);
    double longest = 1;  // of the parameters' steps
    try {
      while (static_cast<int>(best.trace.size()) < options.max_passes) {
        source.sums(state, sums, host);
        const double bound = state.begun() ? sums.value() + state.prior_value() : kNothing;
        if (state.begun() && !best.state.begun() && !std::isfinite(bound)) fail(best);
        if (state.begun() && !(bound >= best.bound - slack(best.bound))) {
          record(state, bound, best.gradient, best, host);
          if (state.fraction() == 0) {
            best.end = Termination::stalled;
            break;
          }
          shorten(side, source, best.state, state);
          if (state.fraction() == 0) longest = std::max(kLeastStep, longest / kShorter);
          continue;
        }
        Coefficients::Proposal next = side.propose(state, sums, host);
        next.gradient = std::hypot(next.gradient, side.parameter_gradient(state, sums));
        record(state, bound, next.gradient, best, host);
        const double gain = bound - best.bound;
        accept(state, bound, next, source, best);
        if (state.begun() && good_enough(gain, best, options.tolerance)) {
          best.end = Termination::converged;
          break;
        }
        if (state.fraction() == 1) longest = std::min(1.0, 2 * longest);
        advance(side, source, next, sums, options.start.size() > 0, longest, state);
      }
    } catch (const Interrupted&) {
      best.end = Termination::interrupted;
    }
    best.groups = source.groups();
    return best;
  }

 private:
  void check(const Problem& problem, const Options& options) const {
    if (!problem.likelihood->supports(use()))
      throw InvalidInput("likelihood",
                         "Variational Bayes needs a likelihood with an augmented bound, "
                         "such as the hinge.");
    if (options.max_passes < 2)
      throw InvalidInput("max_passes", "'max_passes' must be at least 2.");
    if (options.start.size() > 0 && options.start.size() != problem.columns())
      throw InvalidInput("start", "'start' must have one number for each column.");
  }

  static double slack(double bound) {
    return std::isfinite(bound) ? 1e-12 * (1 + std::abs(bound)) : 0;
  }

  static bool good_enough(double gain, const Result& now, double tolerance) {
    const double reach = tolerance + 1e-14 * std::abs(now.bound);
    return gain <= reach && now.gradient <= 10 * std::sqrt(tolerance);
  }

  static void record(const State& state, double bound, double gradient, Result& best,
                     Host& host) {
    best.trace.push_back({bound, gradient, state.damping(), state.fraction()});
    std::ostringstream text;
    text.precision(12);
    text << "iteration " << best.trace.size() << ": bound " << bound << ", gradient ";
    text.precision(3);
    text << gradient;
    tell(host, text.str(), share_done(best.trace[0].gradient, gradient));
  }

  [[noreturn]] static void fail(const Result& best) {
    throw NumericalFailure("A number became infinite or undefined at iteration " +
                           std::to_string(best.trace.size() + 1) +
                           ". Check the scale of predictors, offset, weights and priors.");
  }

  static void accept(const State& state, double bound, const Coefficients::Proposal& next,
                     RowSource& source, Result& best) {
    if (!std::isfinite(next.gradient) || !next.step.allFinite() ||
        (state.begun() && !std::isfinite(bound)))
      fail(best);
    best.bound = bound;
    best.gradient = next.gradient;
    best.state = state;
    source.keep();
  }

  // The covariance and, unless the user said where the mean starts, the mean.
  void advance(const Coefficients& side, RowSource& source,
               const Coefficients::Proposal& next, RowSums& sums, bool started,
               double longest, State& state) const {
    const bool first = !state.begun();
    state.begun() = 1;
    state.fraction() = first && started ? 0 : 1;
    state.inverse_factor() = next.inverse_factor;
    state.step() = next.step;
    state.mean() += state.fraction() * next.step;
    state.group_logdet() = sums.group_logdet();
    if (!first && side.parameters() > 0)
      side.set_parameters(state,
                          state.parameters() + side.parameter_step(state, sums, longest));
    const Mat moments = source.settle(state, Settle::advance, state.fraction());
    side.latent().update(sums, state);
    side.update_priors(state, moments, accelerate_ && !first ? kReach : 1);
    if (accelerate_ && !first) state.damping() = std::max(kLeastDamping, state.damping() / 2);
  }

  static void shorten(const Coefficients& side, RowSource& source, const State& best,
                      State& state) {
    const double fraction = state.fraction() > 0.5 ? 0.25 : 0;
    const double change = fraction - state.fraction();
    state.fraction() = fraction;
    state.mean() += change * state.step();
    if (side.parameters() > 0)
      side.set_parameters(state, best.parameters() +
                                     fraction * (state.parameters() - best.parameters()));
    state.damping() = std::min(1.0, 8 * state.damping());
    side.update_priors(state, source.settle(state, Settle::shorten, change), 1);
  }

  bool accelerate_;
};

const Register<Engine, VariationalBayes> vb_entry("vb");

}  // namespace
}  // namespace bsvm
