#include <doctest/doctest.h>

#include <cmath>

#include "responses/loss.hpp"
#include "special/normal_law.hpp"

using namespace bsvm;

namespace {

// exp(-max(|y - z| - epsilon, 0)/s) N(z; mean, variance), up to a constant.
double joint(double z, double y, double mean, double variance, double scale, double nu) {
  const double width = scale * (1 - nu) / nu;
  const double loss = std::max(std::abs(y - z) - width, 0.0) / scale;
  return std::exp(-loss - 0.5 * (z - mean) * (z - mean) / variance);
}

struct Seen {
  double mean, variance, middle;  // middle: P(z below y)
};

Seen by_quadrature(double y, double mean, double variance, double scale, double nu) {
  const int points = 400000;
  const double reach = 12 * std::sqrt(variance) + variance / scale + std::abs(y - mean);
  double total = 0, first = 0, second = 0, below = 0;
  for (int k = 0; k < points; ++k) {
    const double z = mean - reach + 2 * reach * (k + 0.5) / points;
    const double p = joint(z, y, mean, variance, scale, nu);
    total += p;
    first += p * z;
    second += p * z * z;
    if (z < y) below += p;
  }
  first /= total;
  return {first, second / total - first * first, below / total};
}

}  // namespace

TEST_CASE("responses: a latent response has the distribution of its three parts") {
  for (const double y : {-1.0, 0.0, 3.0})
    for (const double variance : {0.1, 1.0, 4.0})
      for (const double scale : {0.1, 0.5, 2.0})
        for (const double nu : {0.3, 0.7, 1.0}) {
          const double mean = 0.4;
          const auto loss = make_tube_loss(scale, nu, 1, 1);
          Draws random({3, 0, 0}, Purpose::rows, 0);
          const int draws = 20000;
          double first = 0, second = 0, below = 0;
          for (int k = 0; k < draws; ++k) {
            const double z = loss->draw_latent(y, mean, variance, random);
            first += z - mean;
            second += (z - mean) * (z - mean);
            below += z < y;
          }
          first /= draws;
          second = second / draws - first * first;
          const Seen truth = by_quadrature(y, mean, variance, scale, nu);
          const double error = std::sqrt(truth.variance / draws);
          CAPTURE(y);
          CAPTURE(variance);
          CAPTURE(scale);
          CAPTURE(nu);
          CHECK(std::abs(first + mean - truth.mean) < 4.5 * error);
          CHECK(std::abs(second / truth.variance - 1) < 0.08);
          CHECK(std::abs(below / draws - truth.middle) <
                4.5 * std::sqrt(truth.middle * (1 - truth.middle) / draws + 1e-7));
        }
}

TEST_CASE("responses: logarithms of normal probabilities") {
  for (const double a : {-40.0, -8.0, -1.0, 0.0, 0.5, 7.0})
    for (const double width : {1e-6, 0.1, 2.0, 30.0}) {
      const double b = a + width;
      // the middle's density times the width, where that is right
      if (width < 1e-5 && a > -30)
        CHECK(log_between(a, b) ==
              doctest::Approx(std::log(normal_density(a + 0.5 * width)) + std::log(width))
                  .epsilon(1e-7));
      if (a >= -8 && a <= 0.5 && width >= 0.1)
        CHECK(log_between(a, b) ==
              doctest::Approx(std::log(normal_cdf(b) - normal_cdf(a))).epsilon(1e-6));
      CHECK(log_between(a, b) == doctest::Approx(log_between(-b, -a)).epsilon(1e-12));
    }
  CHECK(log_below(-40) == doctest::Approx(-804.608442).epsilon(1e-8));
}

// Numbers given residuals: the mode of the scale of Laplace residuals is near their mean size.
TEST_CASE("responses: a tube's numbers follow its residuals") {
  Draws random({5, 0, 0}, Purpose::rows, 0);
  std::vector<double> e;
  for (int k = 0; k < 4000; ++k) {
    const double side = random.uniform() < 0.5 ? -1 : 1;
    const double scale = 0.4, nu = 0.3, width = scale * (1 - nu) / nu;
    e.push_back(side * (random.uniform() < nu ? width - scale * std::log(random.uniform())
                                              : width * random.uniform()));
  }
  const auto loss = make_tube_loss(0, 0, 1, 1);
  double scale = 0, nu = 0;
  for (int k = 0; k < 600; ++k) {
    loss->draw_numbers(e, 1, random);
    if (k < 100) continue;
    scale += loss->numbers()[0] / 500;
    nu += loss->numbers()[1] / 500;
  }
  CHECK(scale == doctest::Approx(0.4).epsilon(0.08));
  CHECK(nu == doctest::Approx(0.3).epsilon(0.08));
}
