// The minimum over b of
//
//   P(b) = sum_i cost_i (kink_i - (A b)_i)_+ + h(b)
//
// for convex h: EM's M-step (002, Section 3.1) with weights that stay finite. EM's system has rows
// weighted by 1/|u_i|, infinite at support vectors, and converges sublinearly. Write u = kink - A b
// as s - t, s, t >= 0; with multipliers a of t and cost - a of s the optimum is
//
//   A'a = z in dh(b),   a t = 0,   (cost - a) s = 0.
//
// The primal-dual method of Mehrotra (1992) asks for products mu > 0 instead and lets mu go to
// zero. Its Newton step solves the system of an M-step, (A' Theta A + D) db = ..., with
//
//   Theta_i = 1 / (s_i / (cost_i - a_i) + t_i / a_i)
//
// and D from the penalties (penalty_steps.hpp). About 20 systems bring the gap between P(b) and the
// dual objective at a (penalties.hpp), which bounds the distance to the optimum whatever else went
// wrong, from one to 1e-10; and 0 < a_i < cost_i says who lies on the margin.
#include "interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "base/progress.hpp"
#include "normal_equations.hpp"
#include "penalty_steps.hpp"

namespace bsvm {

namespace {

constexpr double kCloseToBoundary = 0.995;
constexpr int kPatience = 8;  // passes without progress

double limit_of(const Vec& x, const Vec& dx) {
  double step = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < x.size(); ++i)
    if (dx[i] < 0) step = std::min(step, -x[i] / dx[i]);
  return step;
}

class InteriorPoint {
 public:
  InteriorPoint(const Design& design, const Penalties& penalties, Host& host)
      : design_(design), host_(host), equations_(design), b_(Vec::Zero(design.columns())),
        u_(design.kink) {
    const double slack = std::max(1.0, rows() > 0 ? u_.cwiseAbs().mean() : 0);
    s_ = u_.cwiseMax(0).array() + slack;
    t_ = s_ - u_;
    a_ = q_ = design.cost / 2;
    const double product = rows() > 0 ? row_products() / (2 * static_cast<double>(rows())) : 1;
    steps_.reset(new PenaltySteps(penalties, b_, product));
    balance_ = design.transposed(a_);
  }

  const Vec& b() const { return b_; }
  const Vec& u() const { return u_; }
  const Vec& a() const { return a_; }
  const Vec& balance() const { return balance_; }  // A'a

  double product() const { return mean_product(row_products() + steps_->products()); }

  // A predictor and a corrector; false where the system can't be solved.
  bool pass() {
    const double mu = product();
    steps_->linearise(b_, 0, false);
    const Vec theta = (s_.cwiseQuotient(q_) + t_.cwiseQuotient(a_)).cwiseInverse();
    if (!theta.allFinite() || !equations_.set(theta, steps_->d(), host_)) return false;
    direct(-a_.cwiseProduct(t_), -q_.cwiseProduct(s_), theta);
    const double step = std::min(1.0, longest());
    const double target = mu * std::pow(mean_product(products_after(step)) / mu, 3);
    steps_->linearise(b_, target, true);
    direct((target - (a_.cwiseProduct(t_) + da_.cwiseProduct(dt_)).array()).matrix(),
           (target - (q_.cwiseProduct(s_) - da_.cwiseProduct(ds_)).array()).matrix(), theta);
    if (!db_.allFinite() || !da_.allFinite()) return false;
    take(std::min(1.0, kCloseToBoundary * longest()));
    return true;
  }

 private:
  Index rows() const { return u_.size(); }
  double row_products() const { return a_.dot(t_) + q_.dot(s_); }
  double mean_product(double sum) const {
    return sum / std::max(1.0, static_cast<double>(2 * rows() + steps_->pairs()));
  }

  // The step that changes a t by `at` and q s by `qs`, to first order.
  void direct(const Vec& at, const Vec& qs, const Vec& theta) {
    const Vec pull = theta.cwiseProduct(at.cwiseQuotient(a_) - qs.cwiseQuotient(q_));
    const Vec right = balance_ + design_.transposed(pull) - steps_->z() +
                      steps_->d().cwiseProduct(steps_->shift());
    NormalEquations::Solution found = equations_.solve(right, host_);
    db_ = std::move(found.x);
    image_ = std::move(found.image);
    da_ = pull - found.rows;
    ds_ = (qs + s_.cwiseProduct(da_)).cwiseQuotient(q_);
    dt_ = ds_ + image_;
    steps_->direct(db_);
  }

  double longest() const {
    return std::min({limit_of(s_, ds_), limit_of(t_, dt_), limit_of(a_, da_), limit_of(q_, -da_),
                     steps_->longest()});
  }

  double products_after(double step) const {
    return (a_ + step * da_).dot(t_ + step * dt_) + (q_ - step * da_).dot(s_ + step * ds_) +
           steps_->products_after(step);
  }

  void take(double step) {
    b_ += step * db_;
    u_ -= step * image_;
    s_ += step * ds_;
    t_ += step * dt_;
    a_ += step * da_;
    q_ -= step * da_;
    steps_->take(step);
    balance_ = design_.transposed(a_);
  }

  const Design& design_;
  Host& host_;
  NormalEquations equations_;
  std::unique_ptr<PenaltySteps> steps_;
  Vec b_, u_, s_, t_, a_, q_, balance_;
  Vec db_, image_, ds_, dt_, da_;  // the last direction
};

// The best b and the best multipliers so far, which need not be of one pass.
class Best {
 public:
  Best(const Design& design, const Penalties& penalties, Point& out)
      : design_(design), penalties_(penalties), out_(out) {
    out_.objective = std::numeric_limits<double>::infinity();
    out_.dual = -out_.objective;
    out_.multipliers = Vec::Zero(design.rows());
  }

  // True if the gap is narrower than ever, the products smaller, or the objective much lower.
  bool look(const InteriorPoint& at) {
    const double before = std::min(out_.gap, 1.0), objective = out_.objective;
    const double primal = design_.cost.dot(at.u().cwiseMax(0)) + penalties_.value(at.b());
    double stretch;
    const double dual = dual_objective(design_, penalties_, at.a(), at.balance(), stretch);
    if (primal < out_.objective) {
      out_.objective = primal;
      out_.b = at.b();
    }
    if (dual > out_.dual) {
      out_.dual = dual;
      out_.multipliers = (stretch * at.a()).cwiseMin(design_.cost);
    }
    out_.gap = relative_gap(design_, out_.objective, out_.dual);
    out_.trace.push_back({out_.objective, out_.gap});
    const bool smaller = at.product() < 0.99 * product_;
    product_ = std::min(product_, at.product());
    return smaller || out_.gap < 0.9 * before || out_.objective < 0.99 * objective;
  }

 private:
  const Design& design_;
  const Penalties& penalties_;
  Point& out_;
  double product_ = std::numeric_limits<double>::infinity();
};

// Under a power of one the optimum has coefficients of zero, of which the method leaves something
// tiny: of |b|/scale and the slack 1 - |z| scale one is zero at the optimum, the smaller one.
void set_zeros(const Design& design, const Penalties& penalties, Point& out) {
  const Vec z = design.transposed(out.multipliers);
  Vec b = out.b;
  for (Index j = 0; j < b.size(); ++j)
    if (penalties.power[j] == 1 &&
        std::abs(b[j]) / penalties.scale[j] < 1 - std::abs(z[j]) * penalties.scale[j])
      b[j] = 0;
  const double objective = primal_objective(design, penalties, b);
  if (!(relative_gap(design, objective, out.dual) <= std::max(2 * out.gap, kGapAsked))) return;
  out.b = b;
  out.objective = objective;
  out.gap = relative_gap(design, objective, out.dual);
}

}  // namespace

Point minimise_convex(const Design& design, const Penalties& penalties, const PointOptions& options,
                      Host& host) {
  Point out;
  try {
    InteriorPoint at(design, penalties, host);
    Best best(design, penalties, out);
    int idle = 0;
    best.look(at);
    while (out.gap > options.tolerance && idle < kPatience &&
           static_cast<int>(out.trace.size()) < options.max_passes) {
      if (host.interrupted()) throw Interrupted();
      tell(host, "relative duality gap " + std::to_string(out.gap),
                    share_done(1, out.gap, options.tolerance));
      if (!at.pass()) break;
      idle = best.look(at) ? 0 : idle + 1;
    }
    const bool used_up = static_cast<int>(out.trace.size()) >= options.max_passes;
    out.end = out.gap <= std::max(options.tolerance, kGapAsked) ? Termination::converged
              : used_up ? Termination::pass_limit : Termination::stalled;
  } catch (const Interrupted&) {
    out.end = Termination::interrupted;
  }
  if (out.b.size() > 0) set_zeros(design, penalties, out);
  return out;
}

}  // namespace bsvm
