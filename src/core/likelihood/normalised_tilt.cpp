#include "normalised_tilt.hpp"

#include <algorithm>

#include "../integral/legendre.hpp"
#include "../special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kReach = 8.5;    // standard deviations beyond where the integrand is highest
constexpr double kLongest = 4.3;  // of a panel, in standard deviations
constexpr double kWidest = 2;     // of a panel where p bends, in g
constexpr double kBends = 3;      // |g| up to which it does

double log_probability(double g) {
  const double h = 2 * g + 2 * std::min(std::max(g, -1.0), 1.0);
  return std::min(h, 0.0) - std::log1p(std::exp(-std::abs(h)));
}

// With g = mean + s x: sums of p(g) N(x; 0, 1) times 1, x and x^2, relative to exp(shift).
struct Sums {
  double zero = 0, one = 0, two = 0;
};

void add_panel(double low, double high, double mean, double s, double shift, Sums& sums) {
  const Legendre& rule = kLegendre[5];
  const double centre = 0.5 * (low + high), half = 0.5 * (high - low);
  for (int side = -1; side <= 1; side += 2)
    for (int k = 0; k < rule.order / 2; ++k) {
      const double x = centre + side * half * rule.x[k];
      const double share =
          rule.w[k] * half * std::exp(log_probability(mean + s * x) - 0.5 * x * x - shift);
      sums.zero += share;
      sums.one += share * x;
      sums.two += share * x * x;
    }
}

// Where a panel from x has to end.
double panel_end(double x, double mean, double s) {
  double end = x + kLongest;
  for (const double at : {-kBends, -1.0, 1.0, kBends}) {
    const double cut = (at - mean) / s;
    if (x < cut && cut < end) end = cut;
  }
  const double g = mean + s * x;
  if (g >= -kBends && g < kBends) end = std::min(end, x + kWidest / s);
  return std::max(end, x + 1e-3);
}

}  // namespace

// Below the margin log p rises by 2 a unit, which moves the integrand's top by up to 2 s.
Tilted normalised_tilt(double mean, double v) {
  const double s = std::sqrt(v);
  const double top = std::max(0.0, std::min(2 * s, (1 - mean) / s));
  const double shift = log_probability(mean + s * top) - 0.5 * top * top;
  Sums sums;
  for (double x = top > kReach ? top - kReach - 2 : -kReach; x < top + kReach;) {
    const double end = std::min(panel_end(x, mean, s), top + kReach);
    add_panel(x, end, mean, s, shift, sums);
    x = end;
  }
  const double slope = sums.one / sums.zero / s;
  return {std::log(sums.zero) + shift - 0.5 * kLog2Pi, slope,
          (1 - sums.two / sums.zero) / v + slope * slope};
}

}  // namespace bsvm
