// The loop over passes where a prior selects (000, Algorithm 3), for whatever holds q (Selector).
//
// As in variational/vb.cpp the mean takes Newton steps with curvature k + damping (w - k), damping
// halved after each pass that raises the bound, and hyper-parameters go further than their optimum:
// a bold step. One that lowers the bound is taken back: its rows are looked at again with eight
// times the damping, and no boldness. With all of it such a step climbs a function that is nowhere
// above the bound and meets it where it begins; but inclusions are not all found one after the
// other, and where that lowers the bound the next step leaves them as they are.
//
// Parameters of the likelihood take Newton steps at fixed q, as there; a step that is taken back is
// tried again with shorter ones, and at last with none.
//
// The objective has local optima, hence several starts. From all coefficients the inferred scale
// becomes small before any of them is out, and then they stay: the optimum with many small
// coefficients can be far below one with a few large ones (MASS::birthwt, rho 0.3: -267.0 with
// seven of nine, -253.3 with one). So the best optimum's half, quarter, .. of the coefficients,
// those furthest from zero in standard deviations, are starts too.
//
// So has the scale of residuals: it grows before the coefficients are found, and then none is worth
// its while (20 rows, 50 columns of which two matter: 13 nats below the best of fits with the scale
// given). So other starts have it held at some values first, until coefficients are found for it.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "base/error.hpp"
#include "base/progress.hpp"
#include "coefficients/selection.hpp"
#include "selector.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kSettled = 1;
constexpr double kOut = -30;  // log odds
constexpr std::array<double, 4> kFactors{1, 0.5, 0.25, 0.125};  // of the first scale of residuals

class Climb {
 public:
  Climb(Selector& q, const Options& options, bool accelerate, Host& host, Result& out)
      : q_(q), options_(options), accelerate_(accelerate), host_(host), out_(out) {}

  void run() {
    while (static_cast<int>(out_.trace.size()) < options_.max_passes) {
      const double bound = q_.pass(damping_, host_);
      if (bound >= out_.bound - slack()) {
        if (step(bound)) return end(Termination::converged);
      } else {
        record(bound);
        if (out_.bound == kNothing) fail();
        if (how_ == Step::careful) return end(Termination::stalled);
        retreat();
      }
    }
  }

 private:
  double slack() const {
    return std::isfinite(out_.bound) ? 1e-12 * (1 + std::abs(out_.bound)) : 0;
  }

  bool good_enough(double gain) const {
    return gain <= options_.tolerance + 1e-14 * std::abs(out_.bound) &&
           out_.gradient <= 10 * std::sqrt(options_.tolerance);
  }

  // Returns whether the stopping rule holds at this bound.
  bool step(double bound) {
    const bool first = out_.trace.empty();
    if (!first && !std::isfinite(bound)) fail();
    const double gain = bound - out_.bound;
    if (first || bound > out_.bound) keep(bound);
    if (!retreated_) how_ = accelerate_ && gain < kSettled ? Step::bold : Step::plain;
    damping_of_step_ = damping_;
    out_.gradient = q_.advance(how_, longest_, host_);
    record(bound);
    if (!first && !retreated_ && good_enough(gain)) return true;
    if (accelerate_ && !first) damping_ = std::max(kLeastDamping, damping_ / 2);
    if (!retreated_) longest_ = std::min(1.0, 2 * longest_);
    retreated_ = false;
    return false;
  }

  void keep(double bound) {
    out_.bound = bound;
    q_.keep();
  }

  void retreat() {
    q_.back();
    how_ = damping_of_step_ == 1 && how_ == Step::plain ? Step::careful : Step::plain;
    damping_ = std::min(1.0, 8 * damping_of_step_);
    longest_ = std::max(kLeastStep, longest_ / kShorter);
    retreated_ = true;
  }

  [[noreturn]] void fail() const {
    throw NumericalFailure("A number became infinite or undefined at iteration " +
                           std::to_string(out_.trace.size() + 1) +
                           ". Check the scale of predictors, offset, weights and priors.");
  }

  void end(Termination how) { out_.end = how; }

  void record(double bound) {
    out_.trace.push_back({bound, out_.gradient, damping_, retreated_ ? 0.0 : 1.0});
    std::ostringstream text;
    text.precision(12);
    text << "iteration " << out_.trace.size() << ": bound " << bound << ", gradient ";
    text.precision(3);
    text << out_.gradient;
    tell(host_, text.str(), share_done(out_.trace[0].gradient, out_.gradient));
  }

  Selector& q_;
  const Options& options_;
  const bool accelerate_;
  Host& host_;
  Result& out_;
  double damping_ = 1, damping_of_step_ = 1;  // of this pass, and of the one the step was from
  double longest_ = 1;                        // step of parameters
  Step how_ = Step::plain;                    // the last step
  bool retreated_ = false;                    // is this pass a second look?
};

// From where q is.
Result climb(Selector& q, const Options& options, bool accelerate, Host& host) {
  Result out{State(Layout())};
  try {
    Climb(q, options, accelerate, host, out).run();
  } catch (const Interrupted&) {
    out.end = Termination::interrupted;
  }
  if (out.bound > kNothing) q.report(out);
  return out;
}

void check(const Problem& problem, const Options& options) {
  if (problem.tilt.size() > 0)
    throw InvalidInput("prior", "Linear response is not for priors that select.");
  if (options.max_passes < 2)
    throw InvalidInput("max_passes", "'max_passes' must be at least 2.");
  if (options.starts < 0) throw InvalidInput("starts", "'starts' must not be negative.");
}

// (p) One where nothing is selected and for the `most` of the coefficients that are in and furthest
// from zero; others are out, from where they can come back.
Vec thinned(const Inclusion& found, Index p, Index most) {
  std::vector<Index> order(found.columns.size());
  std::iota(order.begin(), order.end(), Index{0});
  const Vec distance =
      found.probability.cwiseProduct(found.mean.cwiseAbs()).cwiseQuotient(found.sd);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return distance[a] > distance[b]; });
  Vec out = Vec::Ones(p);
  for (size_t k = 0; k < order.size(); ++k)
    if (static_cast<Index>(k) >= most) out[found.columns[order[k]]] = inclusion_at(kOut);
  return out;
}

bool is_wide(const Problem& problem) {
  return problem.columns() > problem.n && problem.group_coefficients() == 0;
}

// To the top from where q is; first, where parameters are held, to the top given these.
Result climb_on(Selector& q, bool held, const Options& options, bool accelerate, Host& host) {
  if (held) {
    Result given = climb(q, options, accelerate, host);
    if (given.end == Termination::interrupted) return given;
    q.back();
    q.release();
  }
  return climb(q, options, accelerate, host);
}

}  // namespace

void hold_first(const Coefficients& side, double factor, State& state) {
  Vec parameters = state.parameters();
  parameters[0] += std::log(factor);
  side.set_parameters(state, parameters);
  state.slopes() = 0;
}

Vec moved_parameters(const Coefficients& side, const State& state, const RowSums& sums, Step how,
                     double longest) {
  const bool stay = side.parameters() == 0 || is_held(state) || !state.begun() ||
                    how == Step::careful;
  if (stay) return Vec();
  return state.parameters() + side.parameter_step(state, sums, longest);
}

Result select_variables(const Problem& problem, RowSource& source, const Options& options,
                        bool accelerate, Host& host) {
  check(problem, options);
  const auto q = is_wide(problem) ? wide_selector(problem) : row_selector(problem, source);
  Result best{State(Layout())};
  std::vector<double> bounds;
  const auto take = [&](bool held) {
    Result found = climb_on(*q, held, options, accelerate, host);
    const bool stopped = found.end == Termination::interrupted;
    bounds.push_back(found.bound);
    if (bounds.size() == 1 || found.bound > best.bound) best = std::move(found);
    if (stopped) best.end = Termination::interrupted;
    return !stopped;
  };
  bool going = true;
  for (int start = 0; start < std::max(options.starts, 1) && going; ++start) {
    q->start(start, options);
    const bool held = start > 0 && problem.parameters() > 0;
    if (held) q->hold(kFactors[start % kFactors.size()]);
    going = take(held);
  }
  if (options.starts == 0 && problem.parameters() > 0)
    for (size_t k = 0; k < kFactors.size() && going; ++k) {
      q->start_at(Vec::Ones(problem.columns()));
      q->hold(kFactors[k]);
      going = take(true);
    }
  if (options.starts == 0 && going) {
    const Inclusion full = best.inclusion;
    Index most = (full.probability.array() > 0.5).count() / 2;
    for (; most >= 1 && going; most /= 2) {
      q->start_at(thinned(full, problem.columns(), most));
      going = take(false);
    }
  }
  best.start_bounds = bounds;
  return best;
}

}  // namespace bsvm
