#include <doctest/doctest.h>

#include "densities.hpp"
#include "expectation.hpp"
#include "likelihood/likelihood.hpp"
#include "oracle.hpp"
#include "quadrature.hpp"

using namespace bsvm_test;

namespace {

RowTerms hinge(double y, double m, double v, Use use = Use::augmented) {
  RowTerms out;
  out.resize(1);
  Registry<Likelihood>::make("hinge", Params())
      ->terms(use, Arr::Constant(1, y), Arr::Constant(1, m), Arr::Constant(1, v), out);
  return out;
}

// E log N(u; -a, a) over u with mean e and E u^2 = chi.
Real expected_log_joint(Real a, Real e, Real chi) {
  return -0.5L * (std::log(2 * kPi * a) + (chi + 2 * a * e + a * a) / a);
}

// E log p(y, a|f) - E log q(a), q(a) the generalised inverse Gaussian (1/2, 1, psi).
Real bound_at(Real psi, Real e, Real chi) {
  const auto shape = [&](Real a) { return -0.5L * (std::log(a) + psi / a + a); };
  const Real log_total = std::log(over_positive([&](Real a) { return std::exp(shape(a)); }));
  return over_positive([&](Real a) {
    const Real log_q = shape(a) - log_total;
    return std::exp(log_q) * (expected_log_joint(a, e, chi) - log_q);
  });
}

// visit(y, m, v)
template <class Visit>
void each_point(Visit visit) {
  for (double y : {-1.0, 1.0})
    for (double m : {-2.0, 0.3, 1.0, 1.5, 4.0})
      for (double v : {0.02, 1.0, 9.0}) visit(y, m, v);
}

}  // namespace

TEST_CASE("hinge: value is the bound at its best q(a), by quadrature") {
  each_point([](double y, double m, double v) {
    const Real e = 1 - y * m, chi = e * e + v;
    const Real value = hinge(y, m, v).value[0];
    CHECK(std::abs(value - bound_at(chi, e, chi)) < 1e-12);
    for (Real factor : {0.5L, 0.95L, 1.05L, 2.0L}) CHECK(bound_at(factor * chi, e, chi) < value);
  });
}

TEST_CASE("hinge: value is below the expected log pseudo-likelihood") {
  each_point([](double y, double m, double v) {
    const Real e = 1 - y * m, s = std::sqrt(static_cast<Real>(v));
    const Real positive_part = e * upper_tail(-e / s) + s * std::exp(log_normal(e / s, 1));
    CHECK(hinge(y, m, v).value[0] <= -2 * positive_part);
  });
}

TEST_CASE("hinge: without variance, value is the log pseudo-likelihood itself") {
  for (double m : {-3.0, 0.0, 0.999, 1.0, 2.0})
    CHECK(hinge(1, m, 0).value[0] == doctest::Approx(-2 * std::max(1 - m, 0.0)));
}

TEST_CASE("hinge: weight, slope and curvature are the papers' at a few points") {
  const RowTerms far = hinge(1, -2, 7);  // E u = 3, chi = 16
  CHECK(far.weight[0] == 0.25);
  CHECK(far.slope[0] == 1.75);
  CHECK(far.curvature[0] == 7.0 / 64);
  CHECK(far.value[0] == -7);
}

// ---- the expectation of the row itself

TEST_CASE("hinge: expected terms are the averages they are called after") {
  for (double v : {1e-16, 1e-4, 0.02, 1.0, 9.0, 1e4, 1e16})
    for (double z : {-9.0, -2.0, -0.1, 0.0, 0.7, 4.0})
      for (double y : {-1.0, 1.0}) {
        const double m = y * (1 + z * std::sqrt(v));
        const RowTerms found = hinge(y, m, v, Use::expected);
        const Real s = std::sqrt(Real(v)), a = 1 - Real(y) * m, scale = 1 + std::abs(a) + s;
        const Real value = expectation([](Real g) { return -2 * std::max(1 - g, Real(0)); },
                                       1 - a, v);
        CHECK(std::abs(found.value[0] - value) < 1e-15L * scale);
        CHECK(std::abs(found.slope[0] - 2 * y * upper_tail(-a / s)) < 4e-16L);
        const Real weight = 2 * std::exp(log_normal(a, v));
        CHECK(std::abs(found.weight[0] - weight) < 1e-13L * weight);
        CHECK(found.curvature[0] == found.weight[0]);
      }
}

TEST_CASE("hinge: beyond the margin every digit of the expectation is right") {
  for (double t : {0.5, 1.0, 4.0, 12.0, 30.0, 36.0})
    for (double s : {1e-8, 0.3, 1e8}) {
      const double m = 1 + t * s;
      const Real x = (Real(m) - 1) / s;
      Real excess = 0;  // Laplace's continued fraction, from where it converges fast
      for (int k = 20000; k > 0; --k) excess = k / (x + excess);
      const Real expected = -2 * s * std::exp(log_normal(x, 1)) * excess / (x + excess);
      const double v = s * s;
      CHECK(std::abs(hinge(1, m, v, Use::expected).value[0] / expected - 1) < 5e-13L);
    }
}

TEST_CASE("hinge: margins and variances of any size leave neither infinities nor cancellation") {
  for (double v : {0.0, 1e-300, 1e-16, 1e-8, 1.0, 1e8, 1e16, 1e300})
    for (double m : {-1e8, -1e4, -1.0, 0.0, 1.0, 1e4, 1e8}) {
      const RowTerms found = hinge(1, m, v, Use::expected);
      CHECK(std::isfinite(found.weight[0]));
      CHECK(found.weight[0] >= 0);
      CHECK(found.value[0] <= 0);
      CHECK(found.value[0] <= -2 * std::max(1 - m, 0.0));
      CHECK(found.slope[0] >= 0);
      CHECK(found.slope[0] <= 2);
      if (std::sqrt(v) < 0.01 * std::abs(1 - m)) {
        CHECK(found.value[0] == -2 * std::max(1 - m, 0.0));
        CHECK(found.slope[0] == (m < 1 ? 2 : 0));
      }
    }
}

TEST_CASE("hinge: on the kink the weight grows as the variance falls, up to a finite one") {
  for (double v : {1.0, 1e-12, 1e-40, 1e-180})
    CHECK(hinge(-1, -1, v, Use::expected).weight[0] ==
          doctest::Approx(std::sqrt(2 / (static_cast<double>(kPi) * v))).epsilon(1e-15));
  CHECK(std::isfinite(hinge(-1, -1, 0, Use::expected).weight[0]));
}

TEST_CASE("hinge: the expectation is never below the augmented bound") {
  const Vec m = 3 * Noise(18).normals(500), s = Noise(19).normals(500).array().exp().matrix();
  for (Index i = 0; i < 500; ++i)
    for (double y : {-1.0, 1.0})
      CHECK(hinge(y, m[i], s[i] * s[i], Use::expected).value[0] >=
            hinge(y, m[i], s[i] * s[i], Use::augmented).value[0]);
}

TEST_CASE("hinge: a row's expectation does not depend on its place in the block") {
  const auto likelihood = Registry<Likelihood>::make("hinge", Params());
  const Vec m = 2 * Noise(20).normals(23), s = Noise(21).normals(23);
  RowTerms all, one;
  all.resize(23);
  one.resize(1);
  likelihood->terms(Use::expected, Arr::Ones(23), m.array(), s.array().square(), all);
  for (Index i = 0; i < 23; ++i) {
    likelihood->terms(Use::expected, Arr::Ones(1), m.segment(i, 1).array(),
                      s.segment(i, 1).array().square(), one);
    CHECK(all.value[i] == one.value[0]);
    CHECK(all.slope[i] == one.slope[0]);
    CHECK(all.weight[i] == one.weight[0]);
  }
}

TEST_CASE("hinge: at a point, the pseudo-likelihood, and half a slope on the kink") {
  CHECK(hinge(1, 0.25, 0, Use::point).value[0] == -1.5);
  CHECK(hinge(-1, 0.25, 0, Use::point).value[0] == -2.5);
  CHECK(hinge(-1, 0.25, 0, Use::point).slope[0] == -2);
  CHECK(hinge(1, 3, 0, Use::point).value[0] == 0);
  CHECK(hinge(1, 3, 0, Use::point).slope[0] == 0);
  CHECK(hinge(-1, -1, 0, Use::point).slope[0] == -1);
  CHECK(hinge(1, 0.25, 0, Use::point).weight[0] == 0);
}

TEST_CASE("hinge: one atom a row, which pays two a unit") {
  const auto hinge = Registry<Likelihood>::make("hinge", Params());
  for (double y : {-1.0, 1.0}) {
    const Atoms of = hinge->atoms(y);
    REQUIRE(of.count == 1);
    CHECK(of.atom[0].place == y);
    CHECK(of.atom[0].sign == -y);
    CHECK(of.atom[0].cost == 2);
  }
}
