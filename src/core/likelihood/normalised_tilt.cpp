#include "normalised_tilt.hpp"

#include <algorithm>
#include <cmath>

#include "integral/rules/legendre.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kTiltReach = 8.5;    // standard deviations beyond where the integrand is highest
constexpr double kNegligible = 45;   // how far below the top, in logarithms, that is
constexpr double kLine = 25;      // in g, below the lower kink
constexpr double kLongest = 4.3;  // of a panel, in standard deviations
// In g: up to where q bends, of small weights further out, and how wide panels are there at most,
// less where log q is steep.
constexpr double kBends[] = {3, 14}, kWidest[] = {1, 2};

// The log odds and what goes with them.
struct Odds {
  double log_p, other;  // of the row's class; probability of the other one

  explicit Odds(double g) {
    const double h = 2 * g + 2 * std::min(std::max(g, -1.0), 1.0), e = std::exp(-std::abs(h));
    log_p = std::min(h, 0.0) - std::log1p(e);
    other = (h > 0 ? e : 1) / (1 + e);
  }
};

// With g = mean + s x and q = p^weight: sums of q N(x; 0, 1) times one, and of dq/dg and d2q/dg2
// beside the kinks, relative to exp(shift).
struct Sums {
  double mean, s, weight, shift;
  double zero = 0, first = 0, second = 0;

  double density(double x, double log_p) const {
    return std::exp(weight * log_p - 0.5 * x * x - shift);
  }

  void add_panel(double low, double high) {
    const Legendre& rule = kLegendre[5];
    const double centre = 0.5 * (low + high), half = 0.5 * (high - low);
    const double rate = std::abs(mean + s * centre) < 1 ? 4 : 2;
    for (int side = -1; side <= 1; side += 2)
      for (int k = 0; k < rule.order / 2; ++k) {
        const double x = centre + side * half * rule.x[k];
        const Odds at(mean + s * x);
        const double share = rule.w[k] * half * density(x, at.log_p);
        const double slope = weight * rate * at.other;
        zero += share;
        first += share * slope;
        second += share * (slope * slope - rate * slope * (1 - at.other));
      }
  }

  // Where dq/dg jumps.
  void add_kink(double g, double jump) {
    const double x = (g - mean) / s;
    const Odds at(g);
    second += density(x, at.log_p) * weight * jump * at.other / s;
  }
};

// Where a panel from x has to end.
double panel_end(double x, const Sums& of) {
  double end = x + kLongest;
  const double bends[] = {kBends[0], kBends[1] / std::min(1.0, of.weight)};
  for (const double at : {-bends[1], -bends[0], -1.0, 1.0, bends[0], bends[1]}) {
    const double cut = (at - of.mean) / of.s;
    if (x < cut && cut < end) end = cut;
  }
  const double g = of.mean + of.s * x;
  for (int k = 0; k < 2; ++k)
    if (g >= -bends[k] && g < bends[k])
      end = std::min(end, x + kWidest[k] / std::max(1.0, of.weight * Odds(g).other) / of.s);
  return std::max(end, x + 1e-9 * (1 + std::abs(x)));
}

// Below it q is nothing beside the integrand's top.
double least(double low, double top, const Sums& of) {
  const auto nothing = [&](double x) {
    return of.weight * Odds(of.mean + of.s * x).log_p < of.shift - kNegligible;
  };
  if (!nothing(low)) return low;
  for (int halved = 0; halved < 60; ++halved) {
    const double middle = 0.5 * (low + top);
    (nothing(middle) ? low : top) = middle;
  }
  return low;
}

// Where the integrand is highest on one side of g = -1, where its logarithm is at least as concave
// as that of N(x; 0, 1): to within a standard deviation, and how high it is.
struct Top {
  double low, high, log_value;

  Top(double from, double to, const Sums& of) : low(from), high(to) {
    while (high - low > std::min(1.0, 30 / (1 + std::abs(high)))) {
      const double x = 0.5 * (low + high), g = of.mean + of.s * x;
      if (!(low < x && x < high)) break;  // no number lies between
      const double rate = std::abs(g) < 1 ? 4 : 2;
      (rate * of.weight * of.s * Odds(g).other > x ? low : high) = x;
    }
    log_value = std::max(log_density(low, of), log_density(high, of));
  }

  static double log_density(double x, const Sums& of) {
    return of.weight * Odds(of.mean + of.s * x).log_p - 0.5 * x * x;
  }
};

}  // namespace

// log q rises by 2 weight a unit below g = -1, by at most 4 weight up to g = 1 and by 0.036 weight
// from there, which bounds how far from zero the integrand can be highest.
Tilted normalised_tilt(double mean, double v, double weight) {
  const double s = std::sqrt(v), ws = weight * s;
  const double join = (-1 - mean) / s, margin = (1 - mean) / s;
  // Far enough below the margin log q is the line 2 weight (g - 1).
  const double away = join - 2 * ws;
  if (away * s > kLine && away * away > 2 * (kNegligible + 4 * weight))
    return {2 * weight * (mean - 1) + 2 * ws * ws, 2 * weight, 0};
  Sums sums{mean, s, weight, 0};
  const Top below = join > 0 ? Top(0, std::min(2 * ws, join), sums) : Top(join, join, sums);
  const double from = std::max(0.0, join);
  const Top above(from, std::max(from, std::min(4 * ws, std::max(margin, 0.036 * ws))), sums);
  sums.shift = std::max(below.log_value, above.log_value);
  const bool has_below = below.log_value > sums.shift - kNegligible,
             has_above = above.log_value > sums.shift - kNegligible;
  const double reached = has_below ? std::max(0.0, below.low) - kTiltReach
                                   : std::max(join, above.low - kTiltReach);
  const double low = least(reached, has_above ? above.high : below.high, sums),
               high = has_above ? above.high + kTiltReach : std::min(join, below.high + kTiltReach);
  for (double x = low; x < high;) {
    const double end = std::min(panel_end(x, sums), high);
    sums.add_panel(x, end);
    x = end;
  }
  sums.add_kink(-1, 2);
  sums.add_kink(1, -2);
  const double slope = sums.first / sums.zero;
  return {std::log(sums.zero) + sums.shift - 0.5 * kLog2Pi, slope,
          slope * slope - sums.second / sums.zero};
}

}  // namespace bsvm
