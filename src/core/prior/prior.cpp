#include "prior.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

[[noreturn]] void refuse_use() {
  throw InvalidInput("prior", "This engine can't be had with one of the priors.");
}

}  // namespace

void Prior::update(const Moments&, double, VecRef) const { refuse_use(); }
void Prior::draw(const Moments&, Draws&, VecRef) const { refuse_use(); }
double Prior::value(const Moments&, ConstVecRef) const { refuse_use(); }
double Prior::log_scaled(const Moments&, ConstVecRef, double) const { refuse_use(); }
void Prior::scale(VecRef, double) const { refuse_use(); }
double Prior::log_joint(const Moments&, ConstVecRef, VecRef) const { refuse_use(); }
Penalty Prior::penalty(ConstVecRef, Index) const { refuse_use(); }

double Prior::loss(ConstVecRef b, ConstVecRef hyper) const {
  const Penalty own = penalty(hyper, b.size());
  return b.cwiseQuotient(own.scale).array().abs().pow(own.power).sum();
}

double log_coefficients(const Moments& b, double theta, double& slope) {
  const double square = b.square.sum();
  const double scaled = square > 0 ? square * std::exp(-2 * theta) : 0;  // E |b|^2 / s^2
  slope += scaled - b.seen();
  return -b.seen() * (theta + 0.5 * kLog2Pi) - 0.5 * scaled;
}

double draw_variance(double shape, double scale, Draws& random) {
  double x = 0;
  for (int k = 0; k < 1000 && !possible_variance(x); ++k) x = random.inverse_gamma(shape, scale);
  return std::min(std::max(x, kLeastVariance), kMostVariance);  // all mass beyond: its edge
}

}  // namespace bsvm
