// How far beyond a point a normal number is, far out and within bounds.
#include <doctest/doctest.h>

#include <cmath>

#include "densities.hpp"
#include "laws.hpp"
#include "random/truncated_normal.hpp"

using namespace bsvm;
using namespace bsvm_test;

namespace {

using Real = long double;

// P(t < X - a | X > a), whose logarithm is smooth far out: Laplace's continued fraction.
Real log_tail(Real x) {
  if (x < 6) return std::log(upper_tail(x));
  Real excess = 0;
  for (int k = 400; k > 0; --k) excess = k / (x + excess);
  return log_normal(x, 1) - std::log(x + excess);
}
Real excess_cdf(Real t, Real a) {
  if (a < 100) return -std::expm1(log_tail(a + t) - log_tail(a));
  return -std::expm1(-a * t - t * t / 2 - std::log1p(t / a));  // to 1 / a^2
}

template <class Draw, class Cdf>
double distance(Draw draw, Cdf cdf) {
  Draws random({3, 0, 0}, Purpose::unknown, 0);
  std::vector<double> sample(20000);
  for (double& t : sample) t = draw(random);
  return kolmogorov(sample, cdf, 20);
}

}  // namespace

TEST_CASE("truncated normal: how far beyond a point, with digits wherever that is") {
  for (double a : {-30.0, -2.0, 0.0, 0.3, 5.0, 37.0, 1e4, 1e9, 1e12})
    CHECK(distance([&](Draws& random) { return excess_above(a, random); },
                   [&](double t) { return excess_cdf(t, a); }) < kKolmogorov);
}

TEST_CASE("truncated normal: the same as the number itself where that has digits") {
  for (double a : {-2.0, 0.5, 4.0}) {
    Draws one({3, 0, 0}, Purpose::unknown, 0), other({3, 0, 0}, Purpose::unknown, 0);
    for (int k = 0; k < 50; ++k)
      CHECK(a + excess_above(a, one) == doctest::Approx(normal_above(a, other)).epsilon(1e-12));
  }
}

TEST_CASE("truncated normal: within bounds") {
  for (double low : {-0.7, -1e-3, 0.0, 0.4, 3.0, 50.0, 1e6})
    for (double width : {1e-9, 0.3, 1.5, 2.4, 2.6, 40.0}) {
      if (low + width / 2 < 0) continue;
      INFO("low ", low, " width ", width);
      const double span = std::min(width, 60 / std::max(1.0, low));
      const auto draw = [&](Draws& random) { return excess_within(low, width, random); };
      // Its density by a fine sum: far out the cdf's logarithms have no digits left.
      std::vector<Real> below{0};
      const int steps = 20000;
      for (int k = 0; k < steps; ++k) {
        const Real t = span * (k + 0.5L) / steps;
        below.push_back(below.back() + std::exp(-low * t - t * t / 2));
      }
      CHECK(distance(draw, [&](double t) {
        const double place = std::min(t / span, 1.0) * steps;
        const size_t k = std::min<size_t>(static_cast<size_t>(place), steps - 1);
        return (below[k] + (place - static_cast<double>(k)) * (below[k + 1] - below[k])) /
               below.back();
      }) < kKolmogorov);
    }
}
