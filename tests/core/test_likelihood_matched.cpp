// Use::matched against quadrature: the row's factor taken out of q, what p makes of the rest.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "expectation.hpp"
#include "gaussian_twin.hpp"
#include "likelihood/normalised_tilt.hpp"

using namespace bsvm_test;

namespace {

struct RowTruth {
  Real value, slope, weight;
};

// Derivatives of E log p(f) in the moments of f ~ N(m, v), by parts.
RowTruth expected_row(const RowLaw& law, Real y, Real m, Real v) {
  const auto mean = [&](auto factor) {
    return expectation([&](Real f) { return law.log_p(y, f) * factor((f - m) / std::sqrt(v)); }, m,
                       v);
  };
  return {mean([](Real) { return 1.0L; }), mean([](Real z) { return z; }) / std::sqrt(v),
          -mean([](Real z) { return z * z - 1; }) / v};
}

// The cavity's and the tilted law's moments; `value` is E_q of the log of the factor before, scaled
// so that it has the cavity's mass of p: with factor = C exp(b f - w f^2/2).
RowTruth matched_row(const RowLaw& law, Real y, Real m, Real v) {
  const RowTruth before = expected_row(law, y, m, v);
  const Real w = before.weight, b = w * m + before.slope;
  const Real c = 1 / (1 / v - w), centre = c * (m / v - b);
  const auto tilted = [&](auto factor) {
    return expectation([&](Real f) { return std::exp(law.log_p(y, f)) * factor(f); }, centre, c);
  };
  const Real mass = tilted([](Real) { return 1.0L; });
  const Real mean = tilted([&](Real f) { return f; }) / mass;
  const Real variance = tilted([&](Real f) { return (f - mean) * (f - mean); }) / mass;
  // E over the cavity of exp(b f - w f^2/2), by the trapezoid rule around q, which it is
  // proportional to.
  const Real top = b * m - 0.5L * w * m * m;
  const Real plain = trapezoid([&](Real f) {
    return std::exp(log_normal(f - centre, c) + b * f - 0.5L * w * f * f - top);
  }, m - 14 * std::sqrt(v), m + 14 * std::sqrt(v), 4000);
  RowTruth out;
  out.value = std::log(mass) - std::log(plain) - top + b * m - 0.5L * w * (m * m + v);
  out.weight = 1 / variance - 1 / c;
  out.slope = mean / variance - centre / c - out.weight * m;
  return out;
}

RowTerms terms(const char* likelihood, Use use, const Arr& y, const Arr& m, const Arr& v) {
  RowTerms out;
  out.resize(y.size());
  Registry<Likelihood>::make(likelihood, Params())->terms(use, y, m, v, out);
  return out;
}

}  // namespace

TEST_CASE("matched: moments and mass are those of quadrature") {
  for (const char* likelihood : kLikelihoods)
    for (double y : {-1.0, 1.0})
      for (double m : {-6.0, -1.3, -1.0, 0.2, 0.97, 1.0, 2.5})
        for (double v : {1e-3, 0.02, 0.3, 1.0, 6.0}) {
          // More than q has in all cannot be taken out of it: of no row of a q that has a prior.
          if (expected_row(law_of(likelihood), y, m, v).weight * v > 0.97) continue;
          const RowTruth truth = matched_row(law_of(likelihood), y, m, v);
          const RowTerms found = terms(likelihood, Use::matched, Arr::Constant(1, y),
                                       Arr::Constant(1, m), Arr::Constant(1, v));
          INFO(std::string(likelihood), " y ", y, " m ", m, " v ", v);
          CHECK(std::abs(found.value[0] - truth.value) < 1e-9 * (1 + std::abs(truth.value)));
          CHECK(std::abs(found.slope[0] - truth.slope) < 1e-7);
          CHECK(std::abs(found.weight[0] - truth.weight) < 1e-7 * (1 + 1 / v));
          CHECK(found.curvature[0] == found.weight[0]);
        }
}

// A row whose log p is a line where q is: its factor is that line, matched or not.
TEST_CASE("matched: where log p does not bend nothing changes") {
  const Arr y = Arr::Constant(3, 1), m = Eigen::Array3d(-9, 5, -30),
            v = Eigen::Array3d(0.3, 0.1, 1);
  const RowTerms before = terms("hinge", Use::expected, y, m, v);
  const RowTerms after = terms("hinge", Use::matched, y, m, v);
  for (Index i = 0; i < 3; ++i) {
    CHECK(after.value[i] == doctest::Approx(before.value[i]).epsilon(1e-12));
    CHECK(std::abs(after.slope[i] - before.slope[i]) < 1e-9);
    CHECK(std::abs(after.weight[i]) < 1e-9);
  }
}

TEST_CASE("matched: a row without variance is left as it is") {
  for (const char* likelihood : kLikelihoods) {
    const Arr y = Arr::Ones(2), m = Eigen::Array2d(-3, 0.4), v = Arr::Zero(2);
    const RowTerms before = terms(likelihood, Use::expected, y, m, v);
    const RowTerms after = terms(likelihood, Use::matched, y, m, v);
    CHECK((after.value == before.value).all());
    CHECK((after.slope == before.slope).all());
    CHECK((after.weight == before.weight).all());
  }
}

TEST_CASE("matched: what q has less of than the row's factor stays as it is") {
  const Arr y = Arr::Ones(1), m = Arr::Constant(1, 0.5), v = Arr::Constant(1, 6);
  const RowTerms before = terms("hinge", Use::expected, y, m, v);
  const RowTerms after = terms("hinge", Use::matched, y, m, v);
  REQUIRE(before.weight[0] * v[0] > 1);
  CHECK(after.value[0] == before.value[0]);
  CHECK(after.slope[0] == before.slope[0]);
  CHECK(after.weight[0] == before.weight[0]);
}

TEST_CASE("matched: far out and with any variance the numbers are numbers") {
  for (const char* likelihood : kLikelihoods)
    for (double m : {-1e4, -300.0, -20.0, 0.0, 20.0, 300.0, 1e4})
      for (double v : {1e-12, 1e-4, 1.0, 1e3, 1e8}) {
        const RowTerms found = terms(likelihood, Use::matched, Arr::Ones(1), Arr::Constant(1, m),
                                     Arr::Constant(1, v));
        INFO(std::string(likelihood), " m ", m, " v ", v);
        CHECK(std::isfinite(found.value[0]));
        CHECK(std::isfinite(found.slope[0]));
        CHECK(std::isfinite(found.weight[0]));
        CHECK(found.value[0] < 1e-6);
        CHECK(found.weight[0] * v > -1);
      }
}

TEST_CASE("matched: the normalised tilt by itself") {
  for (double mean : {-40.0, -8.0, -1.2, 0.0, 0.9, 1.1, 7.0})
    for (double v : {1e-6, 1e-3, 0.5, 4.0, 90.0}) {
      const auto moment = [&](auto factor) {
        return expectation([&](Real g) { return std::exp(kNormalised.log_p(1, g)) * factor(g); },
                           mean, v);
      };
      const Real mass = moment([](Real) { return 1.0L; });
      const Real first = moment([&](Real g) { return g - mean; }) / mass;
      const Real second = moment([&](Real g) {
        return (g - mean - first) * (g - mean - first);
      }) / mass;
      const Tilted found = normalised_tilt(mean, v, 1);
      INFO("mean ", mean, " v ", v);
      CHECK(std::abs(found.value - std::log(mass)) < 1e-8);
      CHECK(std::abs(found.slope - first / v) < 1e-8 / std::sqrt(v));
      CHECK(std::abs(found.curvature * v - (1 - second / v)) < 1e-8);
    }
}
