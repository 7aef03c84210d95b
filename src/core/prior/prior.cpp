#include "prior.hpp"

#include <algorithm>

#include "../special/functions.hpp"

namespace bsvm {

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
