// The normalised hinge likelihood against its definition by the pseudo-likelihood, and its
// expectation against quadrature.
#include <doctest/doctest.h>

#include "densities.hpp"
#include "expectation.hpp"
#include "likelihood/likelihood.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

struct Row {
  double value, slope, weight, curvature;
};

Row normalised(double y, double m, double v, Use use = Use::expected) {
  static const auto likelihood = Registry<Likelihood>::make("hinge_normalized", Params());
  RowTerms out;
  out.resize(1);
  likelihood->terms(use, Arr::Constant(1, y), Arr::Constant(1, m), Arr::Constant(1, v), out);
  return {out.value[0], out.slope[0], out.weight[0], out.curvature[0]};
}

Real hinge(Real g) { return -2 * std::max(1 - g, Real(0)); }

// log p(y | f) at g = y f, from its definition.
Real log_p(Real g) {
  const Real top = std::max(hinge(g), hinge(-g));
  return hinge(g) - top - std::log(std::exp(hinge(g) - top) + std::exp(hinge(-g) - top));
}

// visit(y, m, v): inside, at, and beyond the kinks, in units of one and of the sd.
template <class Visit>
void each_point(Visit visit) {
  for (double v : {1e-16, 1e-8, 1e-4, 0.0025, 0.0081, 0.0142, 0.0146, 0.0256, 0.04, 0.25, 1.0,
                   9.0, 400.0, 1e4, 1e16})
    for (double kink : {-1.0, 0.0, 1.0})
      for (double z : {-12.0, -8.6, -8.4, -3.0, -0.2, 0.0, 0.9, 5.0, 8.45, 8.55, 20.0}) {
        const double y = z < 0 ? -1 : 1;
        visit(y, y * (kink + z * std::sqrt(v)), v);
      }
}

}  // namespace

TEST_CASE("normalised hinge: the probabilities of the classes sum to one") {
  for (double f : {-1e8, -30.0, -1.0, -0.4, 0.0, 0.7, 1.0, 1.5, 30.0, 1e8}) {
    const double sum = std::exp(normalised(1, f, 0, Use::point).value) +
                       std::exp(normalised(-1, f, 0, Use::point).value);
    CHECK(sum == doctest::Approx(1).epsilon(1e-15));
  }
}

TEST_CASE("normalised hinge: it is the pseudo-likelihood over its sum") {
  for (double f = -6; f < 6; f += 0.0371)
    for (double y : {-1.0, 1.0}) {
      const Real z = std::exp(hinge(f)) + std::exp(hinge(-f));
      const Real expected = hinge(y * f) - std::log(z);
      CHECK(std::abs(normalised(y, f, 0, Use::point).value - expected) <
            4e-16L * (1 + std::abs(expected)));
    }
}

TEST_CASE("normalised hinge: far out, the digits of log p are right, not those of 1 - p") {
  for (double g : {5.0, 20.0, 300.0}) {
    const Real expected = -std::log1p(std::exp(-2 * Real(g) - 2));
    CHECK(gap(normalised(1, g, 0, Use::point).value, expected) < 1e-15);
    CHECK(gap(normalised(1, g, 1e-3, Use::expected).value,
              expectation([](Real x) { return -std::log1p(std::exp(-2 * x - 2)); }, g, 1e-3L)) <
          1e-12);
  }
  CHECK(normalised(1, 1e4, 1e-3).value == 0);
}

TEST_CASE("normalised hinge: slope and curvature at a point, half way at a kink") {
  for (double g : {-2.3, -0.4, 0.8, 1.7}) {
    const auto value = [&](double h) { return normalised(1, g + h, 0, Use::point).value; };
    const double h = 1e-3;
    const Row here = normalised(1, g, 0, Use::point);
    CHECK(std::abs((8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h) -
                   here.slope) < 1e-9);
    CHECK(std::abs((value(h) - 2 * value(0) + value(-h)) / (h * h) + here.curvature) < 1e-4);
  }
  for (double g : {-1.0, 1.0}) {
    const auto slope = [&](double h) { return normalised(1, g + h, 0, Use::point).slope; };
    CHECK(slope(0) == doctest::Approx((slope(1e-9) + slope(-1e-9)) / 2).epsilon(1e-8));
  }
}

TEST_CASE("normalised hinge: expected value against quadrature") {
  each_point([](double y, double m, double v) {
    const Real expected = expectation(log_p, Real(y) * m, v);
    CAPTURE(m);
    CAPTURE(v);
    CHECK(std::abs(normalised(y, m, v).value - expected) < 1e-13L * (1 + std::abs(expected)));
  });
}

// Derivatives of an expectation under N(m, v) without any of the function (Stein).
TEST_CASE("normalised hinge: expected slope and weight against quadrature") {
  each_point([](double y, double m, double v) {
    const Real g = Real(y) * m, s = std::sqrt(Real(v)), base = log_p(g);
    const auto moment = [&](auto factor) {
      return expectation([&](Real x) { return (log_p(x) - base) * factor((x - g) / s); }, g, v);
    };
    const Real slope = moment([](Real z) { return z; }) / s;
    const Real weight = -moment([](Real z) { return z * z - 1; }) / (s * s);
    const Row here = normalised(y, m, v);
    CAPTURE(m);
    CAPTURE(v);
    // What the quadrature itself loses where s is small.
    const Real noise = 1e-17L * (1 + std::abs(g)) / s;
    CHECK(std::abs(here.slope - y * slope) < 2e-13L + noise);
    CHECK(std::abs(here.weight - weight) < 2e-13L * (1 + 1 / s) + noise / s);
    CHECK(here.curvature == here.weight);
  });
}

TEST_CASE("normalised hinge: slope and weight are derivatives of the value, near every seam") {
  for (double s : {0.03, 0.1, 0.119, 0.1205, 0.13, 0.3, 2.0})
    for (double m = -3; m < 3; m += 0.083) {
      const auto at = [&](double dm, double dv) { return normalised(1, m + dm, s * s + dv).value; };
      const double h = 2e-3 * s, k = 2e-3 * s * s;
      const Row here = normalised(1, m, s * s);
      const double slope = (8 * (at(h, 0) - at(-h, 0)) - (at(2 * h, 0) - at(-2 * h, 0))) / (12 * h);
      const double in_v = (8 * (at(0, k) - at(0, -k)) - (at(0, 2 * k) - at(0, -2 * k))) / (12 * k);
      if (std::abs(s - 0.12) < 2e-3) continue;  // the difference would straddle the rules
      CHECK(std::abs(slope - here.slope) < 1e-7);
      CHECK(std::abs(-2 * in_v - here.weight) < 1e-7);
    }
}

TEST_CASE("normalised hinge: the two rules meet") {
  for (double m = -3; m < 3; m += 0.0371) {
    const double below = 0.12 * 0.12 * (1 - 1e-15), above = 0.12 * 0.12 * (1 + 1e-15);
    const Row one = normalised(1, m, below), other = normalised(1, m, above);
    CHECK(std::abs(one.value - other.value) < 1e-13);
    CHECK(std::abs(one.slope - other.slope) < 1e-13);
    CHECK(std::abs(one.weight - other.weight) < 2e-12);
  }
}

TEST_CASE("normalised hinge: weights are negative near the far kink and are not clipped") {
  CHECK_FALSE(Registry<Likelihood>::make("hinge_normalized", Params())->concave());
  const double v = 0.01;
  const Row far = normalised(1, -1, v);
  const Real from_jump = -2 / (1 + std::exp(-4.0L)) * std::exp(log_normal(0, v));
  CHECK(far.weight < 0);
  CHECK(far.weight == doctest::Approx(static_cast<double>(from_jump)).epsilon(0.05));
  CHECK(normalised(1, 0, v).weight > 0);
}

TEST_CASE("normalised hinge: margins and variances of any size leave no infinity") {
  for (double v : {0.0, 1e-300, 1e-16, 1e-4, 1.0, 1e8, 1e16, 1e300})
    for (double m : {-1e8, -1e4, -1.0, 0.0, 1.0, 1e4, 1e8}) {
      const Row here = normalised(1, m, v);
      CHECK(std::isfinite(here.weight));
      CHECK(here.value <= 0);
      CHECK(here.slope >= 0);
      CHECK(here.slope < 4);
      if (std::sqrt(v) < 1e-3 * std::abs(m) && std::abs(m) > 1) {
        CHECK(here.value == doctest::Approx(static_cast<double>(log_p(m))).epsilon(1e-14));
        CHECK(here.slope == doctest::Approx(m < 0 ? 2 : 0));
      }
    }
}

TEST_CASE("normalised hinge: uses that need latent scales are not there") {
  const auto likelihood = Registry<Likelihood>::make("hinge_normalized", Params());
  CHECK_FALSE(likelihood->supports(Use::augmented));
  CHECK_FALSE(likelihood->supports(Use::drawn));
  CHECK_THROWS_AS(normalised(1, 0, 1, Use::augmented), InvalidInput);
}
