#include <doctest/doctest.h>

#include "densities.hpp"
#include "laws.hpp"
#include "likelihood/hazard.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

using Three = Eigen::Array<double, 3, 1>;

TEST_CASE("hazard: its excess, from zero to where t is all there is") {
  for (double t = 0; t < 60; t = 1.03 * t + 1e-3) {
    const Real mills = std::sqrt(kPi / 2) * scaled_erfc(t / std::sqrt(2.0L));
    Real excess = 1 / mills - t;
    if (t > 10) {  // where that cancels: Laplace's continued fraction
      excess = 0;
      for (int k = 300; k > 0; --k) excess = k / (t + excess);
    }
    const Three found = hazard_excess(Three(0, t, 1e150));
    CHECK(std::abs(found[1] / excess - 1) < 6e-16L);
    CHECK(found[0] == doctest::Approx(std::sqrt(2 / static_cast<double>(kPi))).epsilon(1e-15));
    CHECK(found[2] == doctest::Approx(1e-150).epsilon(1e-15));
  }
}

TEST_CASE("hazard: density of a normal, and zero far out") {
  for (double t : {0.0, 0.3, 5.0, 30.0})
    CHECK(std::abs(normal_densities(Three(t, 0, 1))[0] /
                       static_cast<double>(std::exp(log_normal(t, 1))) - 1) < 1e-13);
  CHECK((normal_densities(Three(37.5, 1e10, 1e150)) == 0).all());
}
