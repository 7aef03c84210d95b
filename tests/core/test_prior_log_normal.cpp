// The prior of by what factor a scale changes: its logarithm is normal about zero.
#include <doctest/doctest.h>

#include <cmath>

#include "densities.hpp"
#include "oracle.hpp"
#include "prior/prior.hpp"

using namespace bsvm_test;

TEST_CASE("log_normal: its density and slope in the logarithm are those of a normal number") {
  for (double sd : {0.3, 1.0, 20.0}) {
    const auto prior = Registry<Prior>::make("log_normal", Params("log_normal", {{"sd", sd}}));
    for (double theta : {-30.0, -0.4, 0.0, 2.0}) {
      Vec slope(1), back(1), hyper(2);
      const double found = prior->log_joint(Moments(), Vec::Constant(1, theta), slope);
      CHECK(gap(found, log_normal(theta, Real(sd) * sd)) < 1e-15);
      CHECK(slope[0] == doctest::Approx(-theta / (sd * sd)).epsilon(1e-15));
      prior->fix(Vec::Constant(1, theta), hyper);
      prior->free(hyper, back);
      CHECK(std::abs(back[0] - theta) < 1e-15 * (1 + std::abs(theta)));
      CHECK(prior->drawn(hyper)[0].second == doctest::Approx(std::exp(2 * theta)).epsilon(1e-15));
    }
  }
}

TEST_CASE("log_normal: it is of a parameter alone") {
  const auto prior = Registry<Prior>::make("log_normal", Params("log_normal", {{"sd", 1}}));
  Vec slope(1);
  const Moments some{Vec::Ones(1), 1, 0};
  CHECK_THROWS_AS(prior->log_joint(some, Vec::Zero(1), slope), InvalidInput);
  CHECK(prior->of_number());
}
