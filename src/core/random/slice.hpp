#pragma once
#include <cmath>

#include "draws.hpp"

namespace bsvm {

// A draw from the density exp(log_density) near 0, the current point, that leaves it
// invariant: univariate slice sampling with stepping out and shrinkage (Neal 2003,
// Figures 3 and 5). `width` is the first interval's.
template <class LogDensity>
double slice(const LogDensity& log_density, double width, Draws& random) {
  const double level = log_density(0.0) + std::log(random.uniform());
  double left = -width * random.uniform(), right = left + width;
  // A limit on the steps, split at random between the sides, keeps the move reversible.
  const int most = 200, leftward = static_cast<int>((most + 1) * random.uniform());
  for (int k = 0; k < leftward && log_density(left) > level; ++k) left -= width;
  for (int k = leftward; k < most && log_density(right) > level; ++k) right += width;
  for (int k = 0; k < 200; ++k) {
    const double x = left + (right - left) * random.uniform();
    if (log_density(x) > level) return x;
    (x < 0 ? left : right) = x;
  }
  return 0;  // where rounding leaves no slice, stay
}

// The same in an interval of this width that is not stepped out of: fewer looks at the density,
// where one knows how wide it is.
template <class LogDensity>
double slice_within(const LogDensity& log_density, double width, Draws& random) {
  const double level = log_density(0.0) + std::log(random.uniform());
  double left = -width * random.uniform(), right = left + width;
  for (int k = 0; k < 200; ++k) {
    const double x = left + (right - left) * random.uniform();
    if (log_density(x) > level) return x;
    (x < 0 ? left : right) = x;
  }
  return 0;  // where rounding leaves no slice, stay
}

}  // namespace bsvm
