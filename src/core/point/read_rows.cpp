#include "read_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "globs.hpp"

namespace bsvm {

namespace {

constexpr double kRoughly = 1e-6;   // the gap of a minimum that is but a step to the next
constexpr double kExact = 1e-10;
constexpr int kSystems = 200;       // at least, of a minimum near the margin
constexpr int kShorter = 2;         // how often a step is taken back to a quarter
constexpr double kShortGap = 1e-4;  // ... while the gap is wider
constexpr int kIdleLooks = 12;      // three rounds of what step() and shorter steps try

// Tells what is done between two looks at all rows.
class NearHost : public Host {
 public:
  explicit NearHost(Host& host) : host_(host) {}
  bool interrupted() override { return host_.interrupted(); }
  void progress(const std::string& text) override {
    host_.progress("among rows near the margin, " + text);
  }

 private:
  Host& host_;
};

class Reading {
 public:
  Reading(const Problem& whole, Globs& globs, const EstimateOptions& options,
          const MinimiseDesign& minimise, Host& host)
      : whole_(whole), globs_(globs), options_(options), minimise_(minimise), host_(host) {}

  // From the minimum `sampled` of some rows, which `design` has.
  PointRun run(Design design, const PointRun& sampled) {
    design_ = std::make_unique<Design>(std::move(design));
    loss_at_zero_ = design_->cost.dot(design_->kink.cwiseMax(0));
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
    const double loss = globs_.look(points, host_);
    next_.point.b = points.next;
    const double objective =
        loss + PointModel(whole_, *design_).prior_loss(next_.hyper, next_.point.b);
    Point& best = best_.point;
    const bool falls = objective < best.objective;
    raise(falls);
    if (falls) {
      best_.hyper = next_.hyper;
      best.b = next_.point.b;
      best.objective = objective;
    }
    const double scale = std::max({std::abs(best.objective), 1e-8 * loss_at_zero_, 1e-300});
    best.gap = std::min(1.0, (best.objective - best.dual) / scale);
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
    own.max_passes = std::max(kSystems, options_.max_passes);
    own.starts = 1;
    own.start = best_.point.b.cwiseProduct(design_->unit);
    NearHost near(host_);
    next_ = minimise_(*design_, own, near);
    if (next_.point.end == Termination::interrupted) throw Interrupted();
  }

  // The bound of the last minimum, if what it was of lies below the objective, is one for all rows. With
  // inferred hyper-parameters, or tangents of powers below one, it is so for those of the last point alone.
  void raise(bool falls) {
    const PointModel model(whole_, *design_);
    const Vec power = model.penalties(next_.hyper).power;
    const bool bounds = bounds_ && shorter_ == 0;
    double& dual = best_.point.dual;
    if (PointModel::logs(next_.hyper).size() == 0 && (power.array() >= 1).all()) {
      if (bounds) dual = std::max(dual, next_.point.dual);
    } else if (falls) {
      dual = bounds ? next_.point.dual : -std::numeric_limits<double>::infinity();
    }
  }

  Penalties effects_of_a_level() const {
    const Penalties all = PointModel(whole_, *design_).penalties(next_.hyper);
    return {all.power.segment(whole_.columns(), whole_.effects()),
            all.scale.segment(whole_.columns(), whole_.effects())};
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
  double loss_at_zero_ = 0;  // about
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
  if (globs.has_all()) return minimise(design, own, host);
  own.max_passes = std::max(kSystems, options.max_passes);
  NearHost near(host);
  PointRun found = minimise(design, own, near);
  if (found.point.end == Termination::interrupted) throw Interrupted();
  return Reading(whole, globs, options, minimise, host).run(std::move(design), found);
}

}  // namespace bsvm
