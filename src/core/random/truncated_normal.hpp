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

}  // namespace bsvm
