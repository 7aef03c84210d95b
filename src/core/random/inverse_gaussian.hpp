#pragma once
#include <algorithm>
#include <cmath>

namespace bsvm {

// A draw of the inverse Gaussian law with mean 1/r and shape 1, finite r >= 0, from a
// standard normal and a uniform number. At r = 0 it is the limit: the law of 1/normal^2.
//
// (r x - 1)^2 / x = y has a chi-squared law (Michael, Schucany & Haas 1976): of its two
// roots x and 1/(r^2 x) the smaller is kept with probability 1/(1 + r x). Written so that
// nothing cancels or overflows for any r; no draw exceeds 1e300, which is what r = 0 and a
// normal number of zero give.
inline double inverse_gaussian(double r, double normal, double uniform) {
  const double y = normal * normal;
  const double x = 1 / (r + 0.5 * y + std::abs(normal) * std::sqrt(r + 0.25 * y));
  const double larger = 1 / (x * r) / r;
  return std::min(uniform * (1 + x * r) > 1 ? larger : x, 1e300);
}

}  // namespace bsvm
