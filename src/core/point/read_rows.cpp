#include "read_rows.hpp"

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "globs.hpp"

namespace bsvm {

namespace {

constexpr double kRoughly = 1e-6;   // the gap of a minimum that is but a step to the next
constexpr double kExact = 1e-10;
constexpr double kInside = 1e-6;    // what u of rows inside their margin is at least
constexpr int kShorter = 2;         // how often a step is taken back to a quarter
constexpr double kShortGap = 1e-4;  // ... while the gap is wider
constexpr int kIdleLooks = 6;

class Reading {
 public:
  Reading(const Problem& whole, Globs& globs, const EstimateOptions& options,
          const MinimiseDesign& minimise, Host& host)
      : whole_(whole), globs_(globs), options_(options), minimise_(minimise), host_(host) {}

  // From the minimum `sampled` of some rows, which `design` has.
  PointRun run(Design design, const PointRun& sampled) {
    design_ = std::make_unique<Design>(std::move(design));
    best_.hyper = sampled.hyper;
    best_.point.b = sampled.point.b;
    next_ = sampled;
    try {
      end_ = Termination::pass_limit;
      while (static_cast<int>(best_.point.trace.size()) < options_.max_passes && go_on()) {}
    } catch (const Interrupted&) {
      if (best_.point.trace.empty()) throw;
      end_ = Termination::interrupted;
    }
    best_.point.end = end_;
    return best_;
  }

 private:
  // Looks at all rows once, and moves on. False at the end.
  bool go_on() {
    const double before = best_.point.gap;
    const bool falls = look();
    const double gap = best_.point.gap;
    if (gap <= options_.tolerance) return ends(Termination::converged);
    idle_ = falls || gap < 0.9 * before ? 0 : idle_ + 1;
    if (idle_ == kIdleLooks)
      return ends(gap <= kGapAsked ? Termination::converged : Termination::stalled);
    host_.progress("all rows read " + std::to_string(best_.point.trace.size()) +
                   " times, relative duality gap " + std::to_string(gap));
    if (!falls && shorter_ < kShorter && gap > kShortGap) {
      ++shorter_;
      next_.point.b = best_.point.b + (next_.point.b - best_.point.b) / 4;
    } else {
      step(falls);
    }
    return true;
  }

  bool ends(Termination end) {
    end_ = end;
    return false;
  }

  // True if the objective is the lowest so far.
  bool look() {
    HingePoints points{best_.point.b, next_.point.b, effects_of_a_level()};
    const double loss = globs_.look(points, pull(), host_);
    next_.point.b = points.next;
    if (bounds_ && shorter_ == 0) raise();
    const Vec u = design_->kink - design_->times(next_.point.b);
    const double objective = PointModel(whole_, *design_).objective(next_.hyper, next_.point.b) +
                             (loss - design_->cost.dot(u.cwiseMax(0)));
    Point& best = best_.point;
    const bool falls = objective < best.objective;
    if (falls) {
      best_.hyper = next_.hyper;
      best.b = next_.point.b;
      best.objective = objective;
    }
    best.gap = std::min(1.0, relative_gap(*design_, best.objective, best.dual));
    best.trace.push_back({best.objective, best.gap});
    return falls;
  }

  // To the minimum of what is known near the best point, `falls`: the last one. Where that may not hold
  // as far as it is, or after it did not, with some of the rows beyond.
  void step(bool falls) {
    bounds_ = falls ? globs_.holds() : !bounds_;
    shorter_ = 0;
    design_ =
        std::make_unique<Design>(bounds_ ? globs_.near(falls) : globs_.near_and_some(falls));
    EstimateOptions own = options_;
    own.tolerance = bounds_ ? options_.tolerance / 4 : kRoughly;
    own.starts = 1;
    own.start = best_.point.b.cwiseProduct(design_->unit);
    next_ = minimise_(*design_, own);
    if (next_.point.end == Termination::interrupted) throw Interrupted();
  }

  // The bound of the last minimum is one for all rows: given its hyper-parameters, or, of powers below
  // one, of tangents.
  void raise() {
    const PointModel model(whole_, *design_);
    const Vec power = model.penalties(next_.hyper).power;
    const bool of_all = PointModel::logs(next_.hyper).size() == 0 && (power.array() >= 1).all();
    double& dual = best_.point.dual;
    dual = of_all ? std::max(dual, next_.point.dual) : next_.point.dual;
  }

  Penalties effects_of_a_level() const {
    const Penalties all = PointModel(whole_, *design_).penalties(next_.hyper);
    return {all.power.segment(whole_.columns(), whole_.effects()),
            all.scale.segment(whole_.columns(), whole_.effects())};
  }

  // The slope of the loss that rows inside their margin have.
  Vec pull() const {
    const Vec u = design_->kink - design_->times(best_.point.b);
    return design_->transposed((u.array() > kInside).select(design_->cost, 0));
  }

  const Problem& whole_;
  Globs& globs_;
  const EstimateOptions& options_;
  const MinimiseDesign& minimise_;
  Host& host_;
  std::unique_ptr<Design> design_;  // what was minimised last
  PointRun best_, next_;            // the lowest point so far, and that minimum
  bool bounds_ = false;             // does what was minimised lie below the objective everywhere?
  int shorter_ = 0, idle_ = 0;
  Termination end_ = Termination::pass_limit;
};

}  // namespace

PointRun minimise_read(const Problem& whole, const RowParts& parts, const EstimateOptions& options,
                       const MinimiseDesign& minimise, Host& host) {
  Globs globs(whole, parts, options.most_numbers);
  Design design = globs.sample(host);
  EstimateOptions own = options;
  // Exact enough to tell rows that are on their margin.
  if (!globs.has_all()) own.tolerance = std::min(kExact, options.tolerance);
  PointRun found = minimise(design, own);
  if (globs.has_all()) return found;
  if (found.point.end == Termination::interrupted) throw Interrupted();
  return Reading(whole, globs, options, minimise, host).run(std::move(design), found);
}

}  // namespace bsvm
