// EM of 002, Section 3.1. Given b, u = kink - A b and the expected inverses of the latent scales
// 1/|u_i| (rows) and omega_j^{-1} (coefficients), the M-step is
//
//   (A' W A + D) b = A'(cost/2 + W kink),   W = diag(cost_i / (2 |u_i|)),
//   D_j = alpha |b_j|^(alpha-2) / scale_j^alpha  (at alpha = 2: 2 / scale_j^2)
//
// W is infinite at support vectors, D at coefficients of zero. Section 3.2 takes these out of the
// system and holds them; here |u_i| and |b_j| / scale_j are taken to be at least kSmallest, which
// does the same and lets go what should not be held: the row's multiplier
//
//   a_i = cost_i/2 (1 + u_i / kSmallest)  after the step
//
// is within [0, cost_i] if and only if |u_i| stays below kSmallest, where the row is held on; a row
// whose multiplier is not goes from there at its own pace. What is minimised has the hinge's kink
// rounded over 2 kSmallest, so the objective may rise by kSmallest/4 a unit of cost and no more.
#include "plain_em.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/dense.hpp"
#include "normal_equations.hpp"

namespace bsvm {

namespace {

constexpr double kSmallest = 1e-10;

constexpr double kFlat = 1e3;  // scales of penalties that hardly hold a coefficient
constexpr int kBalances = 5;

// The multipliers of an M-step, cut to their bounds, no longer balance coefficients that are hardly
// penalised, and the dual objective falls without end. This brings A_F'a back to zero for those
// columns F, moving each a_i in proportion to a_i (cost_i - a_i).
Vec balanced(const Design& design, const Penalties& penalties, Vec a, Host& host) {
  std::vector<Index> flat;
  for (Index j = 0; j < penalties.size(); ++j)
    if (penalties.power[j] == 2 && penalties.scale[j] > kFlat) flat.push_back(j);
  if (flat.empty()) return a;
  const Mat columns = design.columns_at(flat);
  for (int k = 0; k < kBalances; ++k) {
    const Vec room = a.cwiseProduct((design.cost - a).cwiseQuotient(design.cost));
    Mat gram = Mat::Zero(columns.cols(), columns.cols());
    design.add_gram(flat, room, gram, host);
    gram.diagonal().array() += 1e-12 * (1 + gram.trace());
    if (!cholesky(gram, host)) return a;
    Vec shift = columns.transpose() * a;
    solve_lower(gram, shift);
    solve_transposed(gram, shift);
    a -= room.cwiseProduct(columns * shift);
    a = a.cwiseMax(0).cwiseMin(design.cost);
  }
  return a;
}

class PlainEm {
 public:
  PlainEm(const Design& design, const PointModel& model, ConstVecRef start,
          PointModel::Hyper& hyper, Host& host)
      : design_(design), model_(model), hyper_(hyper), host_(host), equations_(design), b_(start),
        u_(design.kink - design.times(start)) {}

  // False where the system can't be solved. `first`: coefficients of zero are no coefficients yet.
  bool pass(bool first) {
    const Penalties penalties = model_.penalties(hyper_);
    const Vec weight =
        (design_.cost.array() / 2) / u_.array().abs().max(first ? 1.0 : kSmallest);
    Vec precision(b_.size());
    for (Index j = 0; j < b_.size(); ++j)
      precision[j] = penalties.precision(
          j, std::max(std::abs(b_[j]), penalties.scale[j] * (first ? 1 : kSmallest)));
    if (!precision.allFinite() || !equations_.set(weight, precision, host_)) return false;
    const Vec right = design_.cost / 2 + weight.cwiseProduct(design_.kink);
    b_ = equations_.solve(design_.transposed(right), host_).x;
    u_ = design_.kink - design_.times(b_);
    a_ = (design_.cost / 2 + weight.cwiseProduct(u_)).cwiseMax(0).cwiseMin(design_.cost);
    return b_.allFinite();
  }

  void learn() { hyper_ = model_.best(hyper_, b_); }

  // What the trace has: the objective, and its gap, of tangents where penalties are not convex.
  EstimateTrace look(Point& out) {
    const Penalties penalties = model_.penalties(hyper_);
    const Vec a = balanced(design_, penalties, a_, host_);
    const double objective = model_.objective(hyper_, b_);
    const Penalties convex =
        penalties.tangents(b_.cwiseAbs().cwiseMax(kSmallest * penalties.scale));
    double stretch = 1;
    const double dual = dual_objective(design_, convex, a, design_.transposed(a), stretch);
    out.b = b_;
    out.multipliers = (stretch * a).cwiseMin(design_.cost);
    out.objective = objective;
    const double primal = primal_objective(design_, convex, b_);
    out.gap = relative_gap(design_, primal, dual);
    out.dual = objective - (primal - dual);
    out.trace.push_back({objective, out.gap});
    return out.trace.back();
  }

 private:
  const Design& design_;
  const PointModel& model_;
  PointModel::Hyper& hyper_;
  Host& host_;
  NormalEquations equations_;
  Vec b_, u_, a_;
};

}  // namespace

Point run_plain_em(const Design& design, const PointModel& model, ConstVecRef start,
                   const PointOptions& options, PointModel::Hyper& hyper, Host& host) {
  Point out;
  try {
    PlainEm em(design, model, start, hyper, host);
    double before = std::numeric_limits<double>::infinity();
    for (int k = 0; k < options.max_passes; ++k) {
      if (host.interrupted()) throw Interrupted();
      if (!em.pass(k == 0 && start.isZero())) {
        out.end = Termination::stalled;
        return out;
      }
      const EstimateTrace now = em.look(out);
      const double fall = before - now.objective;
      out.end = Termination::converged;
      if (fall <= options.tolerance * gap_scale(design, now.objective)) return out;
      before = now.objective;
      em.learn();
    }
    out.end = Termination::pass_limit;
  } catch (const Interrupted&) {
    out.end = Termination::interrupted;
  }
  return out;
}

}  // namespace bsvm
