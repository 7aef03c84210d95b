#pragma once
#include <array>
#include <cmath>

#include "base/types.hpp"

namespace bsvm {

// Chebyshev's nodes and the polynomial through values there (Berrut & Trefethen 2004).
constexpr Index kChebyshev = 16;

struct Chebyshev {
  std::array<double, kChebyshev> x, weight;

  Chebyshev() {
    const double step = std::acos(-1.0) / (2 * kChebyshev);
    for (Index k = 0; k < kChebyshev; ++k) {
      const double angle = static_cast<double>(2 * k + 1) * step;
      x[k] = std::cos(angle);
      weight[k] = (k % 2 ? -1 : 1) * std::sin(angle);
    }
  }

  // The value at t of the polynomials that are one at one node and zero at the others.
  void basis(double t, double* out) const {
    double sum = 0;
    for (Index k = 0; k < kChebyshev; ++k) {
      if (t == x[k]) {
        for (Index j = 0; j < kChebyshev; ++j) out[j] = j == k;
        return;
      }
      sum += out[k] = weight[k] / (t - x[k]);
    }
    for (Index k = 0; k < kChebyshev; ++k) out[k] /= sum;
  }
};

inline const Chebyshev& chebyshev() {
  static const Chebyshev nodes;
  return nodes;
}

}  // namespace bsvm
