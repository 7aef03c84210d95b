#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

// Distribution functions by other formulas than the core's, and the distance of a sample
// from one.
namespace bsvm_test {

// sqrt(n) sup |F_n - F|; above 2.69 with probability 1e-6 if the sample is from F
// (Kolmogorov). The supremum is taken at every `step`-th order statistic.
template <class Cdf>
double kolmogorov(std::vector<double> sample, Cdf cdf, size_t step = 50) {
  std::sort(sample.begin(), sample.end());
  const double n = static_cast<double>(sample.size());
  double most = 0;
  for (size_t k = 0; k < sample.size(); k += step) {
    const double f = static_cast<double>(cdf(sample[k])), below = static_cast<double>(k);
    most = std::max({most, std::abs(f - below / n), std::abs(f - (below + 1) / n)});
    if (std::isnan(f)) return f;
  }
  return std::sqrt(n) * most;
}
constexpr double kKolmogorov = 2.69;

// exp(x^2) erfc(x), x >= 0.
inline long double scaled_erfc(long double x) {
  if (x < 5) return std::exp(x * x) * std::erfc(x);
  long double tail = 0;  // Laplace's continued fraction
  for (int k = 60; k > 0; --k) tail = 0.5L * k / (x + tail);
  return 1 / (std::sqrt(std::acos(-1.0L)) * (x + tail));
}

// Of the inverse Gaussian law with mean 1/r and shape 1, and of its limit 1/z^2.
inline long double inverse_gaussian_cdf(long double x, long double r) {
  const long double root = std::sqrt(2 * x), a = (1 - r * x) / root, b = (1 + r * x) / root;
  return 0.5L * (std::erfc(a) + std::exp(-a * a) * scaled_erfc(b));
}

// P(log G <= log_x) for a gamma variable of rate 1: series, or continued fraction.
inline long double log_gamma_cdf(long double log_x, long double shape) {
  const long double x = std::exp(log_x);
  const long double front = shape * log_x - x - std::lgamma(shape);
  if (x < shape + 1) {
    long double term = 1 / shape, sum = term;
    for (long double k = shape + 1; term > 1e-18L * sum; ++k) sum += term *= x / k;
    return std::exp(front) * sum;
  }
  long double b = x + 1 - shape, c = 1e300L, d = 1 / b, h = d;  // Lentz
  for (int k = 1; k < 100000; ++k) {
    const long double a = -k * (k - shape);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-18L) break;
  }
  return 1 - std::exp(front) * h;
}

// Of scale / gamma(shape).
inline long double inverse_gamma_cdf(long double x, long double shape, long double scale) {
  return 1 - log_gamma_cdf(std::log(scale / x), shape);
}

// Of |t| with 2 degrees of freedom, and of |t| with 1.
inline double half_t2_cdf(double x) { return x / std::sqrt(2 + x * x); }
inline double half_cauchy_cdf(double x) { return 2 / std::acos(-1.0) * std::atan(x); }

}  // namespace bsvm_test
