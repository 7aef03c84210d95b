#include <doctest/doctest.h>

#include <cmath>

#include "densities.hpp"
#include "oracle.hpp"
#include "quadrature.hpp"
#include "special/normal_law.hpp"
#include "special/normal_tail.hpp"

using namespace bsvm_test;

namespace {

Real tail_moment(int k, Real x) {
  Real sum = 0;
  std::vector<Real> breaks{0};
  for (Real at = 1e-3L / (1 + x); at < 16; at *= 1.5L) breaks.push_back(at);
  for (const Node& node : panel_nodes(breaks))
    sum += node.weight * std::pow(node.x, static_cast<Real>(k)) *
           std::exp(-node.x * (x + node.x / 2));
  return sum;
}

}  // namespace

TEST_CASE("moments of a normal tail are those of quadrature, for every order asked") {
  for (double x : {0.0, 0.03, 0.0625, 0.5, 1.7, 3.999, 7.93, 7.99, 8.0, 8.2, 8.25, 11.99,
                   12.01, 15.26, 39.74, 39.9, 40.1, 1e3, 1e6}) {
    CAPTURE(x);
    double four[5], two[3], one[2], none;
    tail_moments<4>(x, four);
    tail_moments<2>(x, two);
    tail_moments<1>(x, one);
    tail_moments<0>(x, &none);
    for (int k = 0; k <= 4; ++k) CHECK(gap(four[k], tail_moment(k, x)) < 4e-15);
    for (int k = 0; k <= 2; ++k) CHECK(gap(two[k], four[k]) < 4e-15);
    for (int k = 0; k <= 1; ++k) CHECK(gap(one[k], four[k]) < 4e-15);
    CHECK(gap(none, four[0]) < 2e-15);
  }
}

// k! / x^(k + 1), where x^2 is all there is.
TEST_CASE("moments of a normal tail that is an exponential") {
  for (double x : {1e20, 3e26, 2e27, 1e30}) {
    double four[5];
    tail_moments<4>(x, four);
    Real expected = 1 / static_cast<Real>(x);
    for (int k = 0; k <= 4; ++k, expected *= k / static_cast<Real>(x)) {
      CAPTURE(x);
      CHECK(gap(four[k], expected) < 4e-15);
    }
  }
}

TEST_CASE("the normal law to the last places, far into both tails") {
  for (double x = -37.5; x < 37; x += 0.37) {
    CAPTURE(x);
    const Real density = std::exp(-0.5L * x * x) / std::sqrt(2 * kPi);
    CHECK(gap(normal_density(x), density) < 1e-15);
    CHECK(gap(normal_cdf(x), upper_tail(-static_cast<Real>(x))) < 1.5e-15);
    CHECK(gap(mills(x), upper_tail(x) / density) < 1.5e-15);
    CHECK(std::abs(log_mills(x) - std::log(upper_tail(x) / density)) <
          1e-15 * (1 + 0.5 * x * x));
  }
  CHECK(gap(mills(1e8), 1e-8L * (1 - 1e-16L)) < 1e-15);
  CHECK(gap(mills(1e200), 1e-200L) < 1e-15);
  CHECK(gap(log_mills(-1e5), 0.5e10L + 0.5L * std::log(2 * kPi)) < 1e-15);
  CHECK(normal_cdf(-INFINITY) == 0);
  CHECK(normal_cdf(INFINITY) == 1);
  CHECK(normal_density(INFINITY) == 0);
}
