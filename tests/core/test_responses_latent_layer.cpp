// The latent layer alone: responses drawn from it, and then it given them, leave its prior as it is
// (Geweke 2004).
#include <doctest/doctest.h>

#include <cmath>

#include "latent_data.hpp"
#include "responses/latent_layer.hpp"

using namespace bsvm_test;

namespace {

constexpr Index kRows = 6, kResponses = 2;

// Of each response share, nu, logarithms of the scale and of Sigma_jj, and a z with its square.
Vec statistics(const std::vector<double>& numbers, const Covariance& sigma, const Mat& z) {
  Vec out(7 * kResponses);
  for (Index j = 0; j < kResponses; ++j) {
    const double scale = numbers[static_cast<size_t>(2 * j)];
    const double nu = numbers[static_cast<size_t>(2 * j + 1)], variance = sigma.variance(j);
    const double w = tube_share(scale, nu, variance);
    out.segment(7 * j, 7) << w, w * w, nu, std::log(scale), std::log(variance),
        z(0, j) / std::sqrt(variance), std::abs(z(0, j)) / std::sqrt(variance);
  }
  return out;
}

}  // namespace

TEST_CASE("responses: a latent layer keeps its prior") {
  Responses model;
  model.losses.resize(kResponses);
  for (LossPart& loss : model.losses) loss.a = loss.b = 2;
  const auto prior = huang_wand();
  const int sets = 6000, turns = 4;
  Vec sum = Vec::Zero(7 * kResponses), square = sum;
  for (int set = 0; set < sets; ++set) {
    Draws random({static_cast<std::uint64_t>(set), 1, 0}, Purpose::rows, 0);
    const Vec free = free_numbers(draw_covariance_root(random));
    Vec hyper(prior->hyper_size(kRows * kResponses));
    prior->fix(free, hyper);
    Covariance sigma(*prior, hyper);
    LatentLayer layer(model, random);
    Vec numbers(2 * kResponses);
    for (Index j = 0; j < kResponses; ++j)
      draw_tube_numbers(sigma.variance(j), random, numbers[2 * j], numbers[2 * j + 1]);
    Archive saved(numbers);
    layer.visit(saved);
    Mat f(kRows, kResponses), noise(kRows, kResponses);
    for (Index k = 0; k < f.size(); ++k) f.data()[k] = random.normal();
    for (Index k = 0; k < f.size(); ++k) noise.data()[k] = random.normal();
    Mat z = f + noise * sigma.root().transpose();
    std::vector<double> now;
    layer.read(now);
    const Vec before = statistics(now, sigma, z - f);
    for (int turn = 0; turn < turns; ++turn) {
      Mat y(kRows, kResponses);
      for (Index j = 0; j < kResponses; ++j)
        for (Index i = 0; i < kRows; ++i)
          y(i, j) = z(i, j) + draw_tube(now[static_cast<size_t>(2 * j)],
                                        now[static_cast<size_t>(2 * j + 1)], random);
      y(2, 1) = std::numeric_limits<double>::quiet_NaN();
      const DrawKey key{static_cast<std::uint64_t>(set), 0, static_cast<std::uint64_t>(turn + 1)};
      layer.draw(y, f, key, sigma, z);
      now.clear();
      layer.read(now);
    }
    const Vec change = statistics(now, sigma, z - f) - before;
    sum += change;
    square += change.cwiseAbs2();
  }
  const Arr error = (square.array() - sum.array().square() / sets).sqrt();
  CHECK((sum.array() / error).abs().maxCoeff() < 4);
}
