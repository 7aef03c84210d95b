#pragma once
#include <cmath>

#include "draws.hpp"

namespace bsvm {

// A standard normal number above a; beyond zero by exponential proposals (Robert 1995), which are
// exact to rounding far out.
inline double normal_above(double a, Draws& random) {
  if (a <= 0) {
    for (;;) {
      const double z = random.normal();
      if (z > a) return z;
    }
  }
  if (!(a <= 1e8)) return a - std::log(random.uniform()) / a;
  const double rate = 0.5 * (a + std::sqrt(a * a + 4));
  for (;;) {
    const double z = a - std::log(random.uniform()) / rate, away = z - rate;
    if (std::log(random.uniform()) <= -0.5 * away * away) return z;
  }
}

// How far above `a` a standard normal number is that is above it: of density proportional to
// exp(-a t - t^2/2), t > 0. The difference normal_above(a) - a has no digits left far out.
inline double excess_above(double a, Draws& random) {
  if (a <= 0) {
    for (;;) {
      const double z = random.normal();
      if (z > a) return z - a;
    }
  }
  if (!(a <= 1e8)) return -std::log(random.uniform()) / a;
  const double rate = 0.5 * (a + std::sqrt(a * a + 4));
  for (;;) {
    const double t = -std::log(random.uniform()) / rate, away = t - 1 / rate;
    if (std::log(random.uniform()) <= -0.5 * away * away) return t;
  }
}

// The same of a number between low and low + width, width > 0, whose middle is not below zero. Of
// each proposal a third at least is accepted.
inline double excess_within(double low, double width, Draws& random) {
  if (low < 0 ? width < 2.5 : width * (low + 0.5 * width) < 1.5) {
    for (;;) {
      const double t = width * random.uniform();
      const double down = low < 0 ? 0.5 * (low + t) * (low + t) : t * (low + 0.5 * t);
      if (std::log(random.uniform()) <= -down) return t;
    }
  }
  for (;;) {
    const double t = excess_above(low, random);
    if (t < width) return t;
  }
}

}  // namespace bsvm
