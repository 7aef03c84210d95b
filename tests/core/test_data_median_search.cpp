#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "data/median_search.hpp"
#include "fitting.hpp"
#include "simulate.hpp"

using namespace bsvm_test;

namespace {

std::pair<double, double> searched(const Vec& x, const Vec& weight, Index part) {
  MedianSearch out;
  for (int pass = 0; pass < 4; ++pass) {
    CHECK(!out.found());
    for (Index first = 0; first < x.size(); first += part)
      out.add(x.data() + first, std::min(part, x.size() - first),
              weight.size() > 0 ? weight.data() + first : nullptr);
    out.end_pass();
  }
  CHECK(out.found());
  return {out.lower(), out.upper()};
}

// By sorting; weights are whole numbers, so that sums are exact.
std::pair<double, double> sorted(const Vec& x, const Vec& weight) {
  std::vector<Index> order(static_cast<std::size_t>(x.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return x[a] < x[b]; });
  const auto of = [&](Index i) { return weight.size() > 0 ? weight[i] : 1.0; };
  double all = 0, sum = 0;
  for (Index i : order) all += of(i);
  for (std::size_t k = 0; k < order.size(); ++k) {
    sum += of(order[k]);
    if (2 * sum < all) continue;
    const bool exact = 2 * sum == all && k + 1 < order.size();
    return {x[order[k]], x[order[exact ? k + 1 : k]]};
  }
  return {0, 0};
}

}  // namespace

TEST_CASE("the median of numbers in parts is that of sorted ones") {
  for (Index n : {1, 2, 3, 4, 7, 100, 1001, 5000}) {
    CAPTURE(n);
    Noise noise(n);
    const Vec plain = noise.normals(n);
    Vec wide = plain.array() * (40 * noise.normals(n).array()).exp();
    const Vec tied = (2 * plain.array()).round();
    const Vec close = 1 + 1e-15 * (10 * plain.array()).round();
    for (const Vec& x : {plain, wide, tied, close, Vec(Vec::Constant(n, -3.5)), Vec(Vec::Zero(n))}) {
      CHECK(searched(x, Vec(), n) == sorted(x, Vec()));
      CHECK(searched(x, Vec(), 3) == sorted(x, Vec()));
      const Vec weight = (3 * noise.normals(n).array().abs()).ceil();
      CHECK(searched(x, weight, 64) == sorted(x, weight));
    }
  }
}

TEST_CASE("a median between two far numbers knows both, and zeros of both signs are one number") {
  const Vec far = (Vec(4) << -1e300, -2, 1e-300, 1e300).finished();
  CHECK(searched(far, Vec(), 4) == std::make_pair(-2.0, 1e-300));
  const Vec zeros = (Vec(4) << 0.0, -0.0, -0.0, 5).finished();
  CHECK(searched(zeros, Vec(), 4) == std::make_pair(0.0, 0.0));
}

// Sums of doubles would miss the half by a thousand roundings.
TEST_CASE("a half of many weights that are no whole numbers is exactly half") {
  const Index n = 20000;
  const Vec x = Noise(5).normals(n);
  for (double w : {0.1, 0.3, 1.0 / 3, 1e-4})
    CHECK(searched(x, Vec::Constant(n, w), 1024) == sorted(x, Vec()));
}
