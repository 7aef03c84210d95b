#pragma once
#include "densities.hpp"
#include "quadrature.hpp"

namespace bsvm_test {

// E f(g) over g ~ N(m, v), f of a scale of about one near zero and smooth but at -1 and 1.
template <class F>
long double expectation(F f, long double m, long double v) {
  const long double s = std::sqrt(v);
  std::vector<long double> breaks;
  for (long double z = -13; z <= 13; z += 0.5L) breaks.push_back(z);
  for (long double g = -20; g <= 20; g += 0.25L)
    if (std::abs(g - m) < 13 * s) breaks.push_back((g - m) / s);
  long double sum = 0;
  for (const Node& z : panel_nodes(breaks))
    sum += z.weight * std::exp(log_normal(z.x, 1)) * f(m + s * z.x);
  return sum;
}

}  // namespace bsvm_test
