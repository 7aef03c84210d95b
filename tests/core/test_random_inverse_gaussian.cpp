#include <doctest/doctest.h>

#include "laws.hpp"
#include "oracle.hpp"
#include "random/draws.hpp"
#include "random/inverse_gaussian.hpp"

using namespace bsvm_test;

namespace {

std::vector<double> draws(double r, int n) {
  std::vector<double> normal(n), uniform(n), out(n);
  row_draws({5, 1, 9}, 0, n, normal.data(), uniform.data());
  for (int i = 0; i < n; ++i) out[i] = inverse_gaussian(r, normal[i], uniform[i]);
  return out;
}

}  // namespace

TEST_CASE("inverse Gaussian: its law, from mean 1e-15 to 1e15 and infinity") {
  for (double r : {0.0, 1e-15, 1e-12, 1e-8, 1e-4, 0.01, 0.3, 1.0, 2.0, 10.0, 1e3, 1e8, 1e15}) {
    CAPTURE(r);
    const auto cdf = [&](double x) { return inverse_gaussian_cdf(x, r); };
    CHECK(kolmogorov(draws(r, 100000), cdf) < kKolmogorov);
  }
}

TEST_CASE("inverse Gaussian: mean 1/r, mean of the inverse r + 1, where variances are small") {
  for (double r : {3.0, 50.0, 1e6}) {
    const auto x = draws(r, 100000);
    double mean = 0, inverse = 0;
    for (double one : x) {
      mean += one / 1e5;
      inverse += 1 / one / 1e5;
    }
    CHECK(std::abs(mean * r - 1) < 5 / std::sqrt(r * 1e5));  // variance 1/r^3
    CHECK(std::abs(inverse - r - 1) < 5 * std::sqrt((r + 2) / 1e5));
  }
}

TEST_CASE("inverse Gaussian: nothing overflows or is not a number") {
  for (double r : {0.0, 5e-324, 1e-300, 1e-160, 1e-15, 1.0, 1e15, 1e160, 1e300, 1.7e308})
    for (double normal : {0.0, 5e-324, 1e-160, -1e-16, 1.0, -8.2, 1e155})
      for (double uniform : {0x1p-53, 0.4, 0.6, 1 - 0x1p-53}) {
        CAPTURE(r);
        CAPTURE(normal);
        CAPTURE(uniform);
        const double x = inverse_gaussian(r, normal, uniform);
        CHECK(x >= 0);
        CHECK(x <= 1e300);
      }
  CHECK(inverse_gaussian(0, 0, 0.5) == 1e300);  // the limit's largest
  CHECK(inverse_gaussian(0, 0.5, 0.9) == doctest::Approx(4).epsilon(1e-15));
  CHECK(inverse_gaussian(4, 0, 0.9) == doctest::Approx(0.25).epsilon(1e-15));
}

TEST_CASE("inverse Gaussian: both roots solve (r x - 1)^2 / x = normal^2") {
  for (Real r : {1e-3L, 0.7L, 40.0L})
    for (Real normal : {0.3L, -1.4L, 3.0L}) {
      const Real y = normal * normal, middle = r + y / 2;
      const Real root = std::sqrt(middle * middle - r * r);
      const double r_ = static_cast<double>(r), normal_ = static_cast<double>(normal);
      CHECK(gap(inverse_gaussian(r_, normal_, 1e-9), 1 / (middle + root)) < 1e-13);
      CHECK(gap(inverse_gaussian(r_, normal_, 1 - 1e-16), (middle + root) / (r * r)) < 1e-13);
    }
}
