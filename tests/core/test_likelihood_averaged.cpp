// Likelihood::averaged() against quadrature, from almost no variance to a very large one.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "laws.hpp"
#include "likelihood/likelihood.hpp"
#include "quadrature.hpp"
#include "random/draws.hpp"

using namespace bsvm;
using namespace bsvm_test;

namespace {

using Real = long double;

Real log_p(const std::string& name, Real g) {
  if (name == "hinge") return -2 * std::max(Real(0), 1 - g);
  const Real h = 2 * g + 2 * std::min(std::max(g, Real(-1)), Real(1));
  return -std::log1p(std::exp(-h));
}

// Panels about the integrand's top, fine near the kinks.
struct Truth {
  Real value, slope, curvature;
};
Truth truth(const std::string& name, Real mean, Real v, Real weight) {
  const Real s = std::sqrt(v);
  const auto log_share = [&](Real z) { return weight * log_p(name, mean + s * z) - 0.5L * z * z; };
  Real top = 0;
  for (Real z = -60; z <= 60 + 2 * weight * s; z += 0.01L * (1 + s / 10))
    if (log_share(z) > log_share(top)) top = z;
  std::vector<long double> breaks;
  for (Real z = top - 14; z <= top + 14; z += 0.25L) breaks.push_back(z);
  for (Real g = -80; g <= 80; g += 0.25L)
    if (std::abs((g - mean) / s - top) < 14) breaks.push_back((g - mean) / s);
  Real zero = 0, one = 0, two = 0;
  for (const Node& node : panel_nodes(breaks)) {
    const Real share = node.weight * std::exp(log_share(node.x) - log_share(top));
    zero += share;
    one += share * node.x;
    two += share * (node.x * node.x - 1);
  }
  const Real slope = one / zero / s;
  return {std::log(zero) + log_share(top) - 0.5L * std::log(2 * Real(M_PI)), slope,
          slope * slope - two / zero / v};
}

}  // namespace

TEST_CASE("averaged: log E p^weight and its derivatives, variances 1e-12 to 1e6") {
  for (const std::string name : {"hinge", "hinge_normalized"}) {
    const auto likelihood = Registry<Likelihood>::make(name, Params());
    for (double weight : {1.0, 0.3, 2.5, 60.0})
      for (double mean : {-30.0, -3.0, -1.0001, -0.7, 0.0, 0.4, 0.9999, 1.3, 8.0})
        for (double v : {1e-12, 1e-8, 1e-4, 0.0143, 0.0145, 0.3, 0.99, 1.01, 9.0, 400.0, 1e6}) {
          const Truth expected = truth(name, mean, v, weight);
          const Tilted found = likelihood->averaged(1, mean, v, weight),
                       other = likelihood->averaged(-1, -mean, v, weight);
          CHECK(other.value == found.value);
          CHECK(other.slope == -found.slope);
          CHECK(other.curvature == found.curvature);
          INFO(name, " weight ", weight, " mean ", mean, " v ", v);
          const double s = std::sqrt(v), size = std::max(1.0, std::abs(double(expected.value)));
          CHECK(std::abs(found.value - expected.value) < 1e-10 * size);
          CHECK(std::abs(found.slope - expected.slope) <
                1e-9 * std::max(1.0, std::abs(double(expected.slope))));
          // The twin itself loses digits where the variance is small.
          const double digits = std::max(1e-8, 1e-15 / v);
          CHECK(std::abs(found.curvature - expected.curvature) <
                digits * std::max(1.0, 1 / s));
        }
  }
}

TEST_CASE("averaged: no variance leaves the likelihood, and its derivative in the variance is the "
          "heat equation's") {
  for (const std::string name : {"hinge", "hinge_normalized"}) {
    const auto likelihood = Registry<Likelihood>::make(name, Params());
    for (double mean : {-2.0, 0.3, 1.7}) {
      CHECK(likelihood->averaged(1, mean, 1e-20, 1).value ==
            doctest::Approx(double(log_p(name, mean))).epsilon(1e-9));
      for (double v : {0.02, 0.5, 7.0}) {
        const double h = 1e-4 * v;
        const Tilted here = likelihood->averaged(1, mean, v, 1);
        const double by_v = (likelihood->averaged(1, mean, v + h, 1).value -
                             likelihood->averaged(1, mean, v - h, 1).value) / (2 * h);
        CHECK(by_v == doctest::Approx(0.5 * (here.slope * here.slope - here.curvature))
                          .epsilon(1e-6));
      }
    }
  }
}

// A top far out is looked for until no number lies between.
TEST_CASE("averaged: an answer, whatever mean and variance") {
  for (const std::string name : {"hinge", "hinge_normalized"}) {
    const auto likelihood = Registry<Likelihood>::make(name, Params());
    for (double weight : {1.0, 0.3, 7.0})
      for (double mean : {-1e300, -1e150, -1e20, -1e8, 0.0, 1e8, 1e20, 1e150, 1e300})
        for (double v : {1e-300, 1e-20, 1.0, 1e8, 1e20, 1e34, 1e100, 1e300}) {
          const Tilted found = likelihood->averaged(1, mean, v, weight);
          INFO(name, " weight ", weight, " mean ", mean, " v ", v);
          CHECK(found.value <= 0);
          // Both top and kink so far out that neither has digits left.
          if (mean < -1e12 && 2 * weight * v >= -mean) continue;
          CHECK(!std::isnan(found.slope));
        }
  }
}

// Of p(y | f)^weight N(f; mean, v) for y = -1, so of -f: a sum over a fine grid.
TEST_CASE("averaged: draws have the tilted law, for any weight") {
  Draws random({7, 0, 0}, Purpose::unknown, 0);
  for (const std::string name : {"hinge", "hinge_normalized"}) {
    const auto likelihood = Registry<Likelihood>::make(name, Params());
    for (double weight : {1.0, 0.4, 3.0})
      for (double mean : {-2.0, 0.3, 2.5})
        for (double v : {0.1, 4.0}) {
          INFO(name, " weight ", weight, " mean ", mean, " v ", v);
          const double s = std::sqrt(v), low = mean - 10 * s,
                       step = (20 + 8 * weight * s) * s / 40000;
          std::vector<double> below{0};
          for (int k = 0; k < 40000; ++k) {
            const Real g = low + (k + 0.5) * step, z = (g - mean) / s;
            below.push_back(below.back() +
                            double(std::exp(weight * log_p(name, g) - 0.5L * z * z)));
          }
          std::vector<double> sample(20000);
          for (double& g : sample) g = -likelihood->draw_averaged(-1, -mean, v, weight, random);
          CHECK(kolmogorov(sample, [&](double g) {
            const double at = std::min(std::max((g - low) / step, 0.0), 40000.0);
            return below[size_t(at)] / below.back();
          }) < kKolmogorov);
        }
  }
}
