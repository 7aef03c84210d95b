#include <doctest/doctest.h>

#include <cmath>

#include "oracle.hpp"
#include "special/functions.hpp"

using namespace bsvm_test;

TEST_CASE("digamma has its known values") {
  CHECK(gap(digamma(1), -0.57721566490153286061L) < 1e-14);
  CHECK(gap(digamma(0.5), -1.96351002602142347944L) < 1e-14);
  CHECK(gap(digamma(0.01), -100.56088545786867450L) < 1e-14);
}

TEST_CASE("digamma and log gamma are as good as doubles allow") {
  for (double x = 1e-6; x < 1e9; x *= 1.37) {
    CAPTURE(x);
    const Real scale = 1 + std::abs(std::log(static_cast<Real>(x)));  // both have a zero
    CHECK(std::abs(digamma(x) - digamma_l(x)) < 2e-15L * (scale + 1 / x));
    const Real exact = std::lgamma(static_cast<Real>(x));
    CHECK(std::abs(log_gamma(x) - exact) < 5e-15L * (scale + std::abs(exact)));
  }
}
