#pragma once
#include <cmath>

namespace bsvm_test {

const long double kPi = std::acos(-1.0L);

inline long double log_normal(long double x, long double variance) {
  return -0.5L * (std::log(2 * kPi * variance) + x * x / variance);
}

inline long double log_inverse_gamma(long double x, long double shape, long double scale) {
  return shape * std::log(scale) - std::lgamma(shape) - (shape + 1) * std::log(x) - scale / x;
}

// Density of s^2 where s is half-t with df degrees of freedom and a scale.
inline long double log_half_t_square(long double s2, long double df, long double scale) {
  const long double s = std::sqrt(s2);
  return std::lgamma(0.5L * (df + 1)) - std::lgamma(0.5L * df) + std::log(2 / scale) -
         0.5L * std::log(kPi * df) - 0.5L * (df + 1) * std::log1p(s2 / (scale * scale * df)) -
         std::log(2 * s);
}

// P(Z > x) of a standard normal.
inline long double upper_tail(long double x) { return 0.5L * std::erfc(x / std::sqrt(2.0L)); }

}  // namespace bsvm_test
