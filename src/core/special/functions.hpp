#pragma once
#include <cmath>
#include <limits>

namespace bsvm {

constexpr double kLog2Pi = 1.8378770664093454836;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNothing = -kInfinite;  // the logarithm of zero

// Derivative of log Gamma, x > 0; relative error below 1e-14.
double digamma(double x);

// log Gamma(x), x > 0. Unlike std::lgamma it writes no global.
double log_gamma(double x);

// log(1 + exp(x)).
inline double log1p_exp(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

}  // namespace bsvm
