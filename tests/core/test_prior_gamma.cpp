// The prior of a positive number of a likelihood, gamma. It is of a parameter alone.
#include <doctest/doctest.h>

#include <cmath>

#include "oracle.hpp"
#include "prior/prior.hpp"
#include "quadrature.hpp"

using namespace bsvm_test;

namespace {

std::unique_ptr<Prior> gamma_prior(double shape, double rate) {
  return Registry<Prior>::make("gamma", Params("gamma", {{"shape", shape}, {"rate", rate}}));
}

double log_gamma_density(const Prior& prior, double theta, double* slope = nullptr) {
  Vec gradient(1);
  const double out = prior.log_joint(Moments(), Vec::Constant(1, theta), gradient);
  if (slope) *slope = gradient[0];
  return out;
}

constexpr double kGammas[][2] = {{1, 1}, {0.3, 2}, {40, 7}, {2, 1e-4}};

}  // namespace

TEST_CASE("gamma: in the logarithm it integrates to one, and has the moments of the number") {
  for (const auto& of : kGammas) {
    const auto prior = gamma_prior(of[0], of[1]);
    const Real shape = of[0], rate = of[1];
    const auto over = [&](auto f) {
      return trapezoid([&](Real t) {
        return std::exp(Real(log_gamma_density(*prior, double(t)))) * f(std::exp(t));
      }, -300, 30, 60000);
    };
    CHECK(std::abs(over([](Real) { return 1; }) - 1) < 1e-13L);
    CHECK(gap(over([](Real x) { return x; }), shape / rate) < 1e-13);
    CHECK(gap(over([](Real x) { return x * x; }), shape * (shape + 1) / (rate * rate)) < 1e-13);
  }
}

TEST_CASE("gamma: the gradient is the derivative, and a number far away") {
  for (const auto& of : kGammas) {
    const auto prior = gamma_prior(of[0], of[1]);
    for (double theta : {-50.0, -3.0, 0.0, 0.4, 2.0}) {
      double slope;
      log_gamma_density(*prior, theta, &slope);
      const auto at = [&](double h) { return log_gamma_density(*prior, theta + h); };
      const double h = 1e-3;
      CHECK(std::abs((8 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12 * h) - slope) <
            1e-9 * (1 + std::abs(slope)));
    }
    for (double theta : {-1e3, 1e3}) {
      double slope;
      CHECK(std::isfinite(log_gamma_density(*prior, theta, &slope)));
      if (theta < 0) CHECK(slope == doctest::Approx(of[0]));
      else CHECK(slope < -1e100);
    }
  }
}

TEST_CASE("gamma: it is no prior of coefficients") {
  const auto prior = gamma_prior(1, 1);
  CHECK(prior->of_number());
  CHECK_FALSE(prior->supports(Use::point));
  Vec gradient(1);
  const Moments some{Vec::Ones(2), 2, 0};
  CHECK_THROWS_AS(prior->log_joint(some, Vec::Zero(1), gradient), InvalidInput);
  CHECK_THROWS_AS(gamma_prior(0, 1), InvalidInput);
  CHECK_THROWS_AS(gamma_prior(1, -2), InvalidInput);
}
