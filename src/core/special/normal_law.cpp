#include "normal_law.hpp"

#include <cmath>

#include "functions.hpp"
#include "normal_tail.hpp"

namespace bsvm {

namespace {

constexpr double kRootTwoPi = 2.5066282746310005024;

// exp(sign x^2 / 2), the square taken in two parts so that its rounding does not matter.
double exp_half_square(double x, double sign) {
  if (!(std::abs(x) < 40)) return std::exp(sign * 0.5 * x * x);
  const double head = std::nearbyint(x * 16) / 16;
  return std::exp(sign * 0.5 * head * head) *
         std::exp(sign * 0.5 * (x - head) * (x + head));
}

}  // namespace

double normal_density(double x) { return exp_half_square(x, -1) / kRootTwoPi; }

double normal_cdf(double x) {
  const double tail = std::isinf(x) ? 0 : normal_density(x) * mills(std::abs(x));
  return x < 0 ? tail : 1 - tail;
}

double mills(double x) {
  if (x < 0) return kRootTwoPi * exp_half_square(x, 1) - mills(-x);
  double out;
  tail_moments<0>(x, &out);
  return out;
}

double log_mills(double x) {
  if (x >= 0) return std::log(mills(x));
  return 0.5 * (x * x + kLog2Pi) + std::log1p(-normal_cdf(x));
}

}  // namespace bsvm
