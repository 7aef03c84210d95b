// The prior of a likelihood's shape: nu = 1 / (1 + kappa) is beta. It is of a parameter alone.
#include <doctest/doctest.h>

#include <cmath>

#include "oracle.hpp"
#include "prior/prior.hpp"
#include "quadrature.hpp"

using namespace bsvm_test;

namespace {

std::unique_ptr<Prior> make(double shape1, double shape2) {
  return Registry<Prior>::make("beta",
                               Params("beta", {{"shape1", shape1}, {"shape2", shape2}}));
}

double log_density(const Prior& prior, double theta, double* slope = nullptr) {
  Vec gradient(1);
  const double out = prior.log_joint(Moments(), Vec::Constant(1, theta), gradient);
  if (slope) *slope = gradient[0];
  return out;
}

constexpr double kShapes[][2] = {{1, 1}, {0.5, 3}, {40, 7}, {2, 0.3}};

}  // namespace

TEST_CASE("beta: in log kappa it integrates to one, and so does what it says of nu") {
  for (const auto& shape : kShapes) {
    const auto prior = make(shape[0], shape[1]);
    const auto over = [&](auto f) {
      return trapezoid([&](Real t) {
        return std::exp(Real(log_density(*prior, double(t)))) * f(t);
      }, -200, 200, 20000);
    };
    CHECK(std::abs(over([](Real) { return 1; }) - 1) < 1e-13L);
    const Real a = shape[0], sum = Real(shape[0]) + shape[1];
    const auto nu = [](Real t) { return 1 / (1 + std::exp(t)); };
    CHECK(gap(over(nu), a / sum) < 1e-13);
    CHECK(gap(over([&](Real t) { return nu(t) * nu(t); }), a * (a + 1) / (sum * (sum + 1))) <
          1e-13);
  }
}

TEST_CASE("beta: the density is that of nu and the Jacobian") {
  for (const auto& shape : kShapes) {
    const Real a = shape[0], b = shape[1];
    for (double theta : {-30.0, -2.0, 0.0, 0.7, 12.0}) {
      const Real kappa = std::exp(Real(theta)), nu = 1 / (1 + kappa);
      const Real of_nu = (a - 1) * std::log(nu) + (b - 1) * std::log(kappa * nu) +
                         std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
      const Real truth = of_nu + std::log(kappa) - 2 * std::log1p(kappa);
      CHECK(std::abs(log_density(*make(shape[0], shape[1]), theta) - truth) <
            1e-14L * (1 + std::abs(truth) + a + b));
    }
  }
}

TEST_CASE("beta: the gradient is the derivative, and finite far away") {
  for (const auto& shape : kShapes) {
    const auto prior = make(shape[0], shape[1]);
    for (double theta : {-50.0, -3.0, 0.0, 0.4, 5.0}) {
      double slope;
      log_density(*prior, theta, &slope);
      const auto at = [&](double h) { return log_density(*prior, theta + h); };
      const double h = 1e-3;
      CHECK(std::abs((8 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12 * h) - slope) < 1e-9);
    }
    for (double theta : {-1e3, 1e3}) {
      double slope;
      CHECK(std::isfinite(log_density(*prior, theta, &slope)));
      CHECK(slope == doctest::Approx(theta < 0 ? shape[1] : -shape[0]));
    }
  }
}

TEST_CASE("beta: kappa is kept as the root of a variance") {
  const auto prior = make(1, 1);
  REQUIRE(prior->free_size(0) == 1);
  Vec hyper(prior->hyper_size(0)), theta(1);
  prior->start(Moments(), hyper);
  prior->free(hyper, theta);
  CHECK(theta[0] == 0);
  prior->fix(Vec::Constant(1, -1.3), hyper);
  prior->free(hyper, theta);
  CHECK(theta[0] == doctest::Approx(-1.3).epsilon(1e-15));
  prior->scale(hyper, 3);
  prior->free(hyper, theta);
  CHECK(theta[0] == doctest::Approx(-1.3 + std::log(3)).epsilon(1e-15));
  const double kappa = 3 * std::exp(-1.3);
  CHECK(prior->drawn(hyper)[0].second == doctest::Approx(kappa * kappa).epsilon(1e-14));
  const NamedNumbers report = prior->report(hyper);
  CHECK(report[0].first == "inverse_mean");
  CHECK(report[0].second == doctest::Approx(1 / (kappa * kappa)).epsilon(1e-14));
}

TEST_CASE("beta: it is no prior of coefficients") {
  const auto prior = make(1, 1);
  CHECK(prior->of_number());
  CHECK_FALSE(prior->supports(Use::point));
  Vec gradient(1), hyper = Vec::Ones(2);
  const Moments some{Vec::Ones(2), 2, 0};
  CHECK_THROWS_AS(prior->log_joint(some, Vec::Zero(1), gradient), InvalidInput);
  CHECK_THROWS_AS(prior->update(some, 1, hyper), InvalidInput);
  CHECK_THROWS_AS(prior->value(some, hyper), InvalidInput);
  Shape shape;
  shape.n = 20;
  shape.q = 1;
  shape.groups = 4;
  const Data data = simulate(shape);
  for (const bool group : {false, true}) {
    Problem problem = usual_problem(data);
    (group ? problem.group_priors : problem.priors).back().prior = make(1, 1);
    CHECK_THROWS_AS(check(problem), InvalidInput);
  }
  CHECK_THROWS_AS(make(0, 1), InvalidInput);
  CHECK_THROWS_AS(make(1, -2), InvalidInput);
}
