// A positive stable law of index a has E exp(-s T) = exp(-s^a); tilted by exp(-tilt T)
// E exp(-s T) = exp{tilt^a - (tilt + s)^a}, mean a tilt^(a-1), variance a (1-a) tilt^(a-2).
#include <doctest/doctest.h>

#include <algorithm>

#include "laws.hpp"
#include "random/draws.hpp"
#include "random/tilted_stable.hpp"

using namespace bsvm;
using namespace bsvm_test;

namespace {

constexpr int kDraws = 20000;

std::vector<double> log_draws(double index, double log_tilt) {
  const TiltedStable law(index, log_tilt);
  std::vector<double> out;
  for (int k = 0; k < kDraws; ++k) {
    Draws random({41, 0, static_cast<std::uint64_t>(k)}, Purpose::hyper, 0);
    out.push_back(law.draw(random));
  }
  return out;
}

// (tilt + s)^a - tilt^a, s = ratio tilt.
double exponent(double index, double log_tilt, double ratio) {
  return std::exp(index * log_tilt) * std::expm1(index * std::log1p(ratio));
}

// Standard errors between the mean of exp(-s T) and its expectation.
double transform_gap(const std::vector<double>& log_t, double log_s, double expected) {
  double sum = 0, square = 0;
  for (double one : log_t) {
    const double x = std::exp(-std::exp(log_s + one));
    sum += x / kDraws;
    square += x * x / kDraws;
  }
  return std::abs(sum - expected) / std::sqrt(std::max(square - sum * sum, 1e-12) / kDraws);
}

struct Counted {
  Draws& draws;
  int uniforms = 0, normals = 0;
  double uniform() { return ++uniforms, draws.uniform(); }
  double normal() { return ++normals, draws.normal(); }
  // At most: each has one normal or three uniforms and more.
  int proposals() const { return std::max(normals, (uniforms + 2) / 3); }
};

const double kIndices[] = {0.005, 0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975, 0.999};

}  // namespace

TEST_CASE("stable without tilt: its Laplace transform") {
  for (double index : kIndices) {
    CAPTURE(index);
    const auto log_t = log_draws(index, -INFINITY);
    for (double minus_log : {0.05, 0.3, 0.7, 1.5, 3.0})  // of the transform
      CHECK(transform_gap(log_t, std::log(minus_log) / index, std::exp(-minus_log)) < 5);
  }
}

TEST_CASE("tilted stable: its Laplace transform") {
  for (double index : kIndices)
    for (double tilt : {1e-10, 1e-3, 0.1, 1.0, 7.0, 1e4, 1e9}) {
      CAPTURE(index);
      CAPTURE(tilt);
      const double log_tilt = std::log(tilt);
      const auto log_t = log_draws(index, log_tilt);
      for (double minus_log : {0.05, 0.3, 0.7, 1.5, 3.0}) {
        // the s for which the transform is exp(-minus_log)
        const double log_ratio =
            std::log1p(minus_log * std::exp(-index * log_tilt)) / index;
        const double log_s = log_tilt + (log_ratio > 40 ? log_ratio
                                                        : std::log(std::expm1(log_ratio)));
        if (log_ratio < 40)
          REQUIRE(exponent(index, log_tilt, std::expm1(log_ratio)) ==
                  doctest::Approx(minus_log).epsilon(1e-6));
        CHECK(transform_gap(log_t, log_s, std::exp(-minus_log)) < 5);
      }
    }
}

TEST_CASE("tilted stable: mean and variance") {
  for (double index : {0.25, 0.5, 0.75, 0.95})
    for (double tilt : {1.0, 30.0, 1e4, 1e7}) {
      CAPTURE(index);
      CAPTURE(tilt);
      const double mean = index * std::pow(tilt, index - 1);
      const double variance = index * (1 - index) * std::pow(tilt, index - 2);
      double sum = 0, square = 0, fourth = 0;
      for (double one : log_draws(index, std::log(tilt))) {
        const double z = (std::exp(one) - mean) / std::sqrt(variance);
        sum += z / kDraws;
        square += z * z / kDraws;
        fourth += z * z * z * z / kDraws;
      }
      CHECK(std::abs(sum) < 5 / std::sqrt(kDraws));
      CHECK(std::abs(square - 1) < 5 * std::sqrt((fourth - square * square) / kDraws));
    }
}

TEST_CASE("tilted stable of index 1/2: half an inverse Gaussian variable") {
  for (double r : {0.0, 1e-6, 0.02, 0.5, 1.0, 4.0, 100.0, 1e4}) {  // tilt r^2
    CAPTURE(r);
    auto sample = log_draws(0.5, 2 * std::log(r));
    for (double& one : sample) one = 2 * std::exp(one);
    CHECK(kolmogorov(sample, [&](double x) { return inverse_gaussian_cdf(x, r); }) < kKolmogorov);
  }
}

TEST_CASE("tilted stable: continuous where the normal limit begins") {
  // log T about its middle, sd sqrt((1 - a)/(a tilt^a))
  for (double factor : {0.5, 2.0}) {
    const double index = 0.6, log_tilt = std::log(factor * 1e10 / 0.4 * 0.6) / index;
    const double sd = std::sqrt(0.4 / 0.6 * std::exp(-index * log_tilt));
    auto sample = log_draws(index, log_tilt);
    for (double& one : sample)
      one = (one - std::log(index) - (index - 1) * log_tilt) / sd;
    CHECK(kolmogorov(sample, [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }) <
          kKolmogorov);
  }
}

TEST_CASE("tilted stable: at least a fifth of the proposals is kept") {
  const double none = -INFINITY;
  for (double index : kIndices)
    for (double log_tilt : {none, -300.0, -30.0, -7.0, -2.0, 0.0, 2.0, 7.0, 10.0, 30.0, 300.0}) {
      CAPTURE(index);
      CAPTURE(log_tilt);
      const TiltedStable law(index, log_tilt);
      Draws random({43, 0, 0}, Purpose::hyper, 0);
      Counted counted{random};
      const int draws = 2000;
      for (int k = 0; k < draws; ++k) law.draw(counted);
      CHECK(counted.proposals() < 5 * draws);
    }
}

TEST_CASE("tilted stable: always a number") {
  const double none = -INFINITY;
  for (double index : {1e-4, 0.005, 0.3, 0.999, 1 - 1e-12})
    for (double log_tilt : {none, -700.0, -30.0, 0.0, 30.0, 300.0, 1380.0}) {
      CAPTURE(index);
      CAPTURE(log_tilt);
      const TiltedStable law(index, log_tilt);
      int numbers = 0;
      for (std::uint64_t k = 0; k < 200; ++k) {
        Draws random({42, 0, k}, Purpose::hyper, 0);
        numbers += std::isfinite(law.draw(random));
      }
      CHECK(numbers == 200);
    }
}
