#include <doctest/doctest.h>

#include "densities.hpp"
#include "likelihood/likelihood.hpp"
#include "oracle.hpp"
#include "quadrature.hpp"

using namespace bsvm_test;

namespace {

RowTerms hinge(double y, double m, double v) {
  RowTerms out;
  out.resize(1);
  Registry<Likelihood>::make("hinge", Params())
      ->terms(Use::augmented, Arr::Constant(1, y), Arr::Constant(1, m), Arr::Constant(1, v), out);
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
