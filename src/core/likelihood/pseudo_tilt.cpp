// With a = 1 - mean, x = a/s: E exp{-2 (1 - g)_+} = Phi(-x) + exp(2 v - 2 a) Phi(x - 2 s)
// (models.md, row 27). A power of the likelihood is the likelihood at 1 - weight (1 - g).
#include "pseudo_tilt.hpp"

#include <algorithm>
#include <cmath>

#include "random/truncated_normal.hpp"
#include "special/functions.hpp"
#include "special/normal_law.hpp"

namespace bsvm {

namespace {

// log P(Z > x), x <= 0.
double log_upper(double x) {
  return std::log1p(-std::exp(log_mills(-x) - 0.5 * (x * x + kLog2Pi)));
}

struct Parts {
  double log_density, value, within;  // at x; log E; share of what is within the margin
};

// Each term as the density at x times a Mills ratio where that cancels less.
Parts parts_of(double mean, double v, double s) {
  const double a = 1 - mean, x = a / s, density = -0.5 * (x * x + kLog2Pi);
  const double beyond = x > 0 ? density + log_mills(x) : log_upper(x);
  const double within =
      2 * s > x ? density + log_mills(2 * s - x) : 2 * v - 2 * a + log_upper(2 * s - x);
  const double value =
      std::max(beyond, within) + std::log1p(std::exp(-std::abs(beyond - within)));
  return {density, value, std::exp(within - value)};
}

}  // namespace

Tilted pseudo_tilt(double mean, double v, double weight) {
  const double s = weight * std::sqrt(v);
  const Parts of = parts_of(1 - weight * (1 - mean), s * s, s);
  const double curvature =
      2 * std::exp(of.log_density - of.value) / s - 4 * of.within * (1 - of.within);
  return {of.value, 2 * weight * of.within, weight * weight * curvature};
}

double draw_pseudo(double mean, double v, double weight, Draws& random) {
  const double s = weight * std::sqrt(v), m = 1 - weight * (1 - mean);
  const double tilted = m + 2 * s * s;
  const double g = random.uniform() < parts_of(m, s * s, s).within
                       ? tilted - s * normal_above((tilted - 1) / s, random)
                       : m + s * normal_above((1 - m) / s, random);
  return 1 - (1 - g) / weight;
}

}  // namespace bsvm
