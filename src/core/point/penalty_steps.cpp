#include "penalty_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bsvm {

PenaltySteps::PenaltySteps(const Penalties& penalties, ConstVecRef b, double product)
    : penalties_(penalties), z_(Vec::Zero(b.size())), p_(z_), m_(z_), d_(z_), shift_(z_),
      dz_(z_), dp_(z_), dm_(z_), cp_(z_), cm_(z_) {
  for (Index j = 0; j < b.size(); ++j) {
    if (is_square(j)) {
      z_[j] = std::copysign(penalties.slope(j, std::abs(b[j])), b[j]);
      continue;
    }
    pairs_ += 2;
    p_[j] = std::max(b[j], 0.0) + product * penalties.scale[j];
    m_[j] = std::max(-b[j], 0.0) + product * penalties.scale[j];
  }
}

// Where a step ends p or m may be below zero by a rounding.
double PenaltySteps::sum(const Vec& p, const Vec& m, const Vec& z) const {
  const auto product = [&](Index j, double x, double z_j) {
    return x > 0 ? x * (penalties_.slope(j, x) + z_j) : 0;
  };
  double out = 0;
  for (Index j = 0; j < z.size(); ++j)
    if (!is_square(j)) out += product(j, p[j], -z[j]) + product(j, m[j], z[j]);
  return out;
}

// x h''(x) = (alpha - 1) h'(x).
double PenaltySteps::slope(const Side& side, Index j) const {
  return penalties_.power[j] * penalties_.slope(j, side.x[j]) + side.sign * z_[j];
}

// x h'(x) has the second derivative alpha h''(x).
double PenaltySteps::curvature(const Side& side, Index j) const {
  const double alpha = penalties_.power[j], x = side.x[j], dx = side.dx[j];
  const double bend = alpha > 1 ? (alpha - 1) * penalties_.slope(j, x) / x : 0;
  return dx * (0.5 * alpha * bend * dx + side.sign * dz_[j]);
}

void PenaltySteps::linearise(ConstVecRef b, double target, bool correct) {
  for (Index j = 0; j < b.size(); ++j) {
    if (is_square(j)) {
      d_[j] = penalties_.precision(j, 1);
      shift_[j] = z_[j] / d_[j] - b[j];
      continue;
    }
    const double up = slope(plus(), j), down = slope(minus(), j);
    cp_[j] = target - p_[j] * (penalties_.slope(j, p_[j]) - z_[j]) -
             (correct ? curvature(plus(), j) : 0);
    cm_[j] = target - m_[j] * (penalties_.slope(j, m_[j]) + z_[j]) -
             (correct ? curvature(minus(), j) : 0);
    d_[j] = 1 / (p_[j] / up + m_[j] / down);
    shift_[j] = cp_[j] / up - cm_[j] / down;
  }
}

void PenaltySteps::direct(ConstVecRef db) {
  dz_ = d_.cwiseProduct(db - shift_);
  for (Index j = 0; j < db.size(); ++j) {
    if (is_square(j)) continue;
    dp_[j] = (cp_[j] + p_[j] * dz_[j]) / slope(plus(), j);
    dm_[j] = (cm_[j] - m_[j] * dz_[j]) / slope(minus(), j);
  }
}

// Along a step x stays positive up to a limit, and its slack, which is concave there, too.
double PenaltySteps::longest(const Side& side, Index j, double most) const {
  const double x = side.x[j], dx = side.dx[j];
  if (dx < 0) most = std::min(most, -x / dx);
  const auto slack = [&](double step) {
    return penalties_.slope(j, std::max(x + step * dx, 0.0)) +
           side.sign * (z_[j] + step * dz_[j]);
  };
  if (penalties_.power[j] == 1) {
    const double change = side.sign * dz_[j];
    return change < 0 ? std::min(most, -slack(0) / change) : most;
  }
  double low = 0, high = std::min(most, 1.0);
  if (slack(high) > 0) return most;
  for (int k = 0; k < 40; ++k) {
    const double middle = (low + high) / 2;
    (slack(middle) > 0 ? low : high) = middle;
  }
  return low;
}

double PenaltySteps::longest() const {
  double step = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < z_.size(); ++j)
    if (!is_square(j)) step = longest(minus(), j, longest(plus(), j, step));
  return step;
}

double PenaltySteps::products_after(double step) const {
  return sum(p_ + step * dp_, m_ + step * dm_, z_ + step * dz_);
}

void PenaltySteps::take(double step) {
  z_ += step * dz_;
  p_ += step * dp_;
  m_ += step * dm_;
}

}  // namespace bsvm
