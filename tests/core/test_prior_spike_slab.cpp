// Spike and slab: what it draws and refuses.
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "prior/prior.hpp"

using namespace bsvm;

namespace {

std::unique_ptr<Prior> make(std::map<std::string, double> more) {
  std::map<std::string, double> numbers{
      {"log_odds", -1}, {"shape_in", 0}, {"shape_out", 0}, {"nu", 0.5}};
  for (const auto& number : more) numbers[number.first] = number.second;
  return Registry<Prior>::make("spike_slab", Params("spike_slab", numbers));
}

const Moments kShape{Vec::Ones(5), 5, 0};

}  // namespace

TEST_CASE("spike and slab: the odds given what is in have the beta law's") {
  const auto prior = make({{"shape_in", 1.5}, {"shape_out", 4}});
  Vec hyper(6);
  prior->start(kShape, hyper);
  hyper.tail(5) << 1, 0, 1, 1, 0;
  double sum = 0, square = 0;
  const int draws = 40000;
  for (std::uint64_t sweep = 0; sweep < draws; ++sweep) {
    Draws random({3, 0, sweep}, Purpose::hyper, 0);
    prior->draw(kShape, random, hyper);
    const double pi = 1 / (1 + std::exp(-prior->log_odds(hyper)));
    CHECK(prior->drawn(hyper)[0].second == doctest::Approx(pi));
    sum += pi;
    square += pi * pi;
  }
  const double mean = 4.5 / 10.5, variance = mean * (1 - mean) / 11.5;
  const double error = std::sqrt(variance / draws);
  CHECK(std::abs(sum / draws - mean) < 5 * error);
  CHECK(square / draws - mean * mean == doctest::Approx(variance).epsilon(0.04));
  CHECK(hyper[1] == 1);
}

TEST_CASE("spike and slab: fixed odds stay, scales multiply the slab's") {
  const auto prior = make({{"sigma_1", 1}, {"sigma_2", 2}, {"sigma_3", 1}, {"sigma_4", 1},
                           {"sigma_5", 4}});
  Vec hyper(6), precision(5);
  prior->start(kShape, hyper);
  Draws random({3, 0, 1}, Purpose::hyper, 0);
  prior->draw(kShape, random, hyper);
  CHECK(prior->log_odds(hyper) == -1);
  CHECK(prior->drawn(hyper).empty());
  prior->precision(hyper, precision);
  CHECK(precision[0] == doctest::Approx(4));
  CHECK(precision[1] == doctest::Approx(1));
  CHECK(precision[4] == doctest::Approx(0.25));
}

// (b, fixed variance) -> t b: b's density at t b and the Jacobian, of those that are in.
TEST_CASE("spike and slab: scales move what is in") {
  const auto prior = make({});
  Vec hyper(6);
  prior->start(kShape, hyper);
  hyper.tail(5) << 1, 0, 0, 1, 0;
  const Moments b{(Vec(5) << 0.3, 0, 0, 2, 0).finished(), 5, 0};
  const auto log_density = [](double t) { return -0.5 * t * t * 2.3 / 0.25 + 2 * std::log(t); };
  CHECK(prior->log_scaled(b, hyper, 1.7) - prior->log_scaled(b, hyper, 1) ==
        doctest::Approx(log_density(1.7) - log_density(1)));
}

TEST_CASE("spike and slab refuses what it can't be") {
  CHECK_THROWS_AS(make({{"nu", 0}}), InvalidInput);
  CHECK_THROWS_AS(make({{"shape_in", -1}}), InvalidInput);
  CHECK_THROWS_AS(make({{"shape_in", 1}}), InvalidInput);
  CHECK_THROWS_AS(make({{"shape_out", 1}}), InvalidInput);
  CHECK_THROWS_AS(make({{"sigma_1", -1}}), InvalidInput);
}
