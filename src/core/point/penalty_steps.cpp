#include "penalty_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bsvm {

PenaltySteps::PenaltySteps(const Penalties& penalties, ConstVecRef b, double product)
    : penalties_(penalties), z_(Vec::Zero(b.size())), p_(z_), m_(z_), d_(z_), shift_(z_),
      dz_(z_), dp_(z_), dm_(z_), cp_(z_), cm_(z_) {
  for (Index j = 0; j < b.size(); ++j) {
    if (!is_linear(j)) {
      z_[j] = std::copysign(penalties.slope(j, std::abs(b[j])), b[j]);
      continue;
    }
    pairs_ += 2;
    p_[j] = std::max(b[j], 0.0) + product * penalties.scale[j];
    m_[j] = std::max(-b[j], 0.0) + product * penalties.scale[j];
  }
}

double PenaltySteps::sum(const Vec& p, const Vec& m, const Vec& z) const {
  double out = 0;
  for (Index j = 0; j < z.size(); ++j)
    if (is_linear(j)) {
      const double k = 1 / penalties_.scale[j];
      out += p[j] * (k - z[j]) + m[j] * (k + z[j]);
    }
  return out;
}

void PenaltySteps::linearise(ConstVecRef b, double target, double smoothing, bool correct) {
  for (Index j = 0; j < b.size(); ++j) {
    if (!is_linear(j)) {
      linearise_smooth(j, b[j], smoothing);
      continue;
    }
    const double k = 1 / penalties_.scale[j], up = k - z_[j], down = k + z_[j];
    cp_[j] = target - p_[j] * up + (correct ? dp_[j] * dz_[j] : 0);
    cm_[j] = target - m_[j] * down - (correct ? dm_[j] * dz_[j] : 0);
    d_[j] = 1 / (p_[j] / up + m_[j] / down);
    shift_[j] = cp_[j] / up - cm_[j] / down;
  }
}

void PenaltySteps::linearise_smooth(Index j, double b, double smoothing) {
  const double alpha = penalties_.power[j], scale = penalties_.scale[j];
  const double e = scale * std::pow(smoothing, 1 / alpha), square = b * b + e * e;
  const double slope = alpha * std::pow(scale, -alpha), root = std::pow(square, 1 - alpha / 2);
  const double bend = (2 - alpha) * z_[j] * b * std::pow(square, -alpha / 2) / slope;
  d_[j] = slope * std::clamp(1 - bend, alpha - 1, 1.0) / root;
  shift_[j] = (z_[j] - slope * b / root) / d_[j];
}

void PenaltySteps::direct(ConstVecRef db) {
  dz_ = d_.cwiseProduct(db - shift_);
  for (Index j = 0; j < db.size(); ++j) {
    if (!is_linear(j)) continue;
    const double k = 1 / penalties_.scale[j];
    dp_[j] = (cp_[j] + p_[j] * dz_[j]) / (k - z_[j]);
    dm_[j] = (cm_[j] - m_[j] * dz_[j]) / (k + z_[j]);
  }
}

double PenaltySteps::longest() const {
  double step = std::numeric_limits<double>::infinity();
  const auto keep = [&](double x, double dx) {
    if (dx < 0) step = std::min(step, -x / dx);
  };
  for (Index j = 0; j < z_.size(); ++j) {
    if (!is_linear(j)) continue;
    const double k = 1 / penalties_.scale[j];
    keep(p_[j], dp_[j]);
    keep(m_[j], dm_[j]);
    keep(k - z_[j], -dz_[j]);
    keep(k + z_[j], dz_[j]);
  }
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
