#include "normalised_tilt.hpp"

#include <algorithm>

#include "../integral/legendre.hpp"
#include "../special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kReach = 8.5;    // standard deviations
constexpr double kLongest = 4.3;  // of a panel, in standard deviations
constexpr double kWidest = 2;     // of a panel where p bends, in g

double log_probability(double g) {
  const double h = 2 * g + 2 * std::min(std::max(g, -1.0), 1.0);
  return std::min(h, 0.0) - std::log1p(std::exp(-std::abs(h)));
}

// Sums of p(g) N(g; mean, v) times 1, x and x^2, x = (g - mean)/s, relative to exp(shift).
struct Moments3 {
  double zero = 0, one = 0, two = 0;
};

void add_panel(double low, double high, double mean, double s, double shift, Moments3& sums) {
  const Legendre& rule = kLegendre[5];
  const double centre = 0.5 * (low + high), half = 0.5 * (high - low);
  for (int side = -1; side <= 1; side += 2)
    for (int k = 0; k < rule.order / 2; ++k) {
      const double g = centre + side * half * rule.x[k], x = (g - mean) / s;
      const double share =
          rule.w[k] * half * std::exp(log_probability(g) - 0.5 * x * x - shift);
      sums.zero += share;
      sums.one += share * x;
      sums.two += share * x * x;
    }
}

}  // namespace

Tilted normalised_tilt(double mean, double v) {
  const double s = std::sqrt(v), low = mean - kReach * s, high = mean + kReach * s;
  // The highest point of the integrand is where p is nearly one or its slope is 2.
  const double top = std::min(mean + std::max(0.0, std::min(2 * v, 1 - mean)), high);
  const double shift = log_probability(top) - 0.5 * (top - mean) * (top - mean) / v;
  Moments3 sums;
  double from = low;
  while (from < high) {
    double to = std::min(high, from + kLongest * s);
    if (from < 3 && to > -3) to = std::min(to, from + kWidest);
    for (double kink : {-1.0, 1.0})
      if (from < kink && to > kink) to = kink;
    add_panel(from, to, mean, s, shift, sums);
    from = to;
  }
  const double slope = sums.one / sums.zero / s;
  return {std::log(sums.zero / s) + shift - 0.5 * kLog2Pi, slope,
          (1 - sums.two / sums.zero) / v + slope * slope};
}

}  // namespace bsvm
