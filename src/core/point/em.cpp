// Point estimates for the exponential-power family by EM (002, Section 3.1) and ECME (Section 3.3):
//
//   minimise  sum_i cost_i (kink_i - (A b)_i)_+ + sum_j |b_j / (nu sigma_j)|^alpha
//
// (design.hpp; of the hinge 2 sum_i w_i (1 - y_i f_i)_+) in b, and where nu is not given, with minus
// its log prior density and the penalty's normaliser added, in nu too. Given nu the minimum is found
// by what suits the penalty: interior_point.cpp for alpha >= 1, local_search.cpp below. ECME's step
// nu <- mode given b (the CME-step) is the fixed point's own map; the outer loop follows it with a
// secant's length,
//
//   log nu <- log nu + t r,  r = log mode(b(nu)) - log nu,  t = -<dlognu, dr> / <dr, dr>
//
// which for one nu is the secant method on r = 0. t = 1 can't raise the objective: what does raise
// it is taken back to that.
#include <algorithm>
#include <cmath>

#include "annealing.hpp"
#include "base/error.hpp"
#include "base/registry.hpp"
#include "estimator.hpp"
#include "local_search.hpp"
#include "plain_em.hpp"
#include "random/draws.hpp"
#include "read_rows.hpp"
#include "working_set.hpp"

namespace bsvm {
namespace {

constexpr double kLeastReach = 0.1, kMostReach = 32;  // of the secant's step
constexpr double kNuAccuracy = 1e-8;
constexpr double kSmall = 0.01;  // a start's coefficient for one of zero, in the penalty's scale

class Em : public Estimator {
 public:
  explicit Em(const Params& params) : accelerate_(params.flag("accelerate")) {}

  Estimate run(const Problem& problem, const EstimateOptions& options, Host& host) const override {
    check(*problem.likelihood);
    const Design design(problem);
    const PointModel model(problem, design);
    std::vector<double> optima;
    const PointRun best = best_of(design, model, options, optima, host);
    Estimate out = package(problem, design.unit, best, is_convex(model), std::move(optima));
    out.multipliers = snapped(design, best.point);
    return out;
  }

  Estimate run_in_parts(const Problem& whole, const RowParts& parts, const EstimateOptions& options,
                        Host& host) const override {
    check(*whole.likelihood);
    std::vector<double> optima;
    bool convex = true;
    int minima = 0;
    Vec unit;
    const auto minimise = [&](const Design& design, const EstimateOptions& own, Host& asked) {
      const PointModel model(whole, design);
      optima.clear();
      ++minima;
      convex = is_convex(model);
      unit = design.unit;
      return best_of(design, model, own, optima, asked);
    };
    const PointRun best = minimise_read(whole, parts, options, minimise, host);
    if (optima.size() == 1) optima[0] = best.point.objective;
    Estimate out = package(whole, unit, best, convex, std::move(optima));
    out.read_again = minima > 1;
    return out;
  }

 private:
  static void check(const Likelihood& likelihood) {
    if (likelihood.free_size() > 0)
      throw InvalidInput("likelihood", "A point estimate does not infer parameters of the "
                                       "likelihood, such as its scale. Give each a number.");
    if (!likelihood.supports(Use::augmented))
      throw InvalidInput("likelihood", "EM needs the pseudo-likelihood's latent scales.");
  }

  PointRun best_of(const Design& design, const PointModel& model, const EstimateOptions& options,
                   std::vector<double>& optima, Host& host) const {
    PointRun best{model.start(), Point()};
    for (int k = 0; k < (is_convex(model) ? 1 : options.starts); ++k) {
      PointRun next{model.start(), Point()};
      next.point.b = start_of(design, model.penalties(next.hyper), options, k);
      try {
        climb(design, model, options, k, next, host);
      } catch (const Interrupted&) {
        next.point.end = Termination::interrupted;
      }
      optima.push_back(next.point.objective);
      if (next.point.objective < best.point.objective) best = next;
      if (next.point.end != Termination::interrupted) continue;
      best.point.end = Termination::interrupted;
      break;
    }
    if (best.point.b.size() != design.columns() || !best.point.b.allFinite())
      refuse(best.point.end);
    return best;
  }

  static bool is_convex(const PointModel& model) { return is_convex(model.penalties(model.start())); }
  static bool is_convex(const Penalties& penalties) {
    return penalties.size() == 0 || penalties.power.minCoeff() >= 1;
  }

  // Where penalties are tangents' limits, b says which: all coefficients of the penalties' own size
  // at first, of random sizes in the starts after it.
  static Vec start_of(const Design& design, const Penalties& penalties,
                      const EstimateOptions& options, int number) {
    if (number == 0 && options.start.size() > 0)
      return without_zeros(options.start.cwiseQuotient(design.unit), penalties);
    if (number == 0 && is_convex(penalties)) return Vec::Zero(design.columns());
    if (number == 0) return penalties.scale;
    Draws random({options.seed, 0, 0}, Purpose::dense, static_cast<std::uint64_t>(number));
    Vec b(design.columns());
    for (Index j = 0; j < b.size(); ++j) b[j] = penalties.scale[j] * std::exp(3 * random.normal());
    return b;
  }

  // Where there are local optima a coefficient of zero would stay one.
  static Vec without_zeros(Vec b, const Penalties& penalties) {
    for (Index j = 0; j < b.size(); ++j)
      if (b[j] == 0 && penalties.power[j] < 1) b[j] = kSmall * penalties.scale[j];
    return b;
  }

  // The interior point method has no use for a start, so no sweep is made for it.
  void climb(const Design& design, const PointModel& model, const EstimateOptions& options,
             int number, PointRun& run, Host& host) const {
    const PointOptions own{options.tolerance, options.max_passes};
    if (options.annealing > 0 && !(accelerate_ && is_convex(model.penalties(run.hyper)))) {
      const HeatedChain chain(design, run.point.b, options.seed, number);
      try {
        run.point.b = anneal(model, chain, options.annealing, run.hyper, host);
      } catch (const Interrupted&) {
        // The descent finds the interrupt, and ends where it is.
      }
    }
    if (!accelerate_) {
      const Vec start = run.point.b;
      run.point = run_plain_em(design, model, start, own, run.hyper, host);
      return;
    }
    settle(design, model, own, run, host);
    if (run.point.end == Termination::interrupted) return;
    if (moves(model, run).size() > 0) learn(design, model, own, run, host);
  }

  // The best b given the hyper-parameters; the passes' trace goes on.
  static void settle(const Design& design, const PointModel& model, const PointOptions& options,
                     PointRun& run, Host& host) {
    const Penalties penalties = model.penalties(run.hyper);
    const PointOptions rest{options.tolerance, std::max(1, options.max_passes - passes(run))};
    Point next = is_convex(penalties)
                     ? minimise_in_parts(design, penalties, rest, host)
                     : minimise_local(design, penalties, run.point.b, rest, host);
    if (next.b.size() < design.columns()) refuse(next.end);
    const double shift = model.objective(run.hyper, next.b) - next.objective;
    for (EstimateTrace& entry : next.trace) entry.objective += shift;
    next.objective += shift;
    next.dual += shift;
    next.trace.insert(next.trace.begin(), run.point.trace.begin(), run.point.trace.end());
    run.point = std::move(next);
  }

  [[noreturn]] static void refuse(Termination end) {
    if (end == Termination::interrupted) throw Interrupted();
    throw NumericalFailure("No iteration has an objective that is a number. Check the scale of "
                           "predictors, offset, weights and priors.");
  }

  static int passes(const PointRun& run) { return static_cast<int>(run.point.trace.size()); }

  // r: empty where no hyper-parameter is unknown.
  static Vec moves(const PointModel& model, const PointRun& run) {
    const PointModel::Hyper next = model.best(run.hyper, run.point.b);
    const Vec out = PointModel::logs(next) - PointModel::logs(run.hyper);
    return out.size() > 0 && out.cwiseAbs().maxCoeff() > 0 ? out : Vec();
  }

  static void learn(const Design& design, const PointModel& model, const PointOptions& options,
                    PointRun& run, Host& host) {
    Vec before, way_before;
    while (passes(run) < options.max_passes) {
      const Vec way = moves(model, run), at = PointModel::logs(run.hyper);
      if (way.size() == 0 || way.cwiseAbs().maxCoeff() < kNuAccuracy) return;
      const double reach = before.size() > 0 ? secant(at - before, way - way_before) : 1;
      before = at;
      way_before = way;
      PointRun next = moved(at + reach * way, design, model, options, run, host);
      if (next.point.objective > run.point.objective && reach != 1)
        next = moved(at + way, design, model, options, run, host);
      run = std::move(next);
      if (run.point.end == Termination::interrupted) return;
    }
    run.point.end = Termination::pass_limit;
  }

  static double secant(const Vec& step, const Vec& bend) {
    return std::clamp(-bend.dot(step) / bend.squaredNorm(), kLeastReach, kMostReach);
  }

  // The run with these hyper-parameters, from its b.
  static PointRun moved(const Vec& logs, const Design& design, const PointModel& model,
                   const PointOptions& options, PointRun run, Host& host) {
    run.hyper = PointModel::from_logs(logs, run.hyper);
    settle(design, model, options, run, host);
    return run;
  }

  static Estimate package(const Problem& problem, const Vec& unit, const PointRun& run, bool convex,
                          std::vector<double> optima) {
    Estimate out;
    const Vec b = run.point.b.cwiseProduct(unit);
    out.coefficients = b.head(problem.columns());
    out.effects = b.tail(b.size() - problem.columns());
    out.hyper = run.hyper;
    out.objective = run.point.objective;
    out.dual = run.point.dual;
    out.gap = run.point.gap;
    out.certified = convex;
    out.trace = run.point.trace;
    out.optima = std::move(optima);
    out.end = run.point.end;
    return out;
  }

  // Of |u_i| and the multiplier's distance to its bound one is zero at the optimum: the smaller.
  static Vec snapped(const Design& design, const Point& point) {
    const Vec u = design.kink - design.times(point.b);
    Vec a = point.multipliers;
    for (Index i = 0; i < a.size(); ++i) {
      if (u[i] < 0 && a[i] / design.cost[i] < -u[i]) a[i] = 0;
      if (u[i] > 0 && 1 - a[i] / design.cost[i] < u[i]) a[i] = design.cost[i];
    }
    return a;
  }

  bool accelerate_;
};

const Register<Estimator, Em> em("em"), ecme("ecme");

}  // namespace

}  // namespace bsvm
