#include <doctest/doctest.h>

#include <set>

#include "densities.hpp"
#include "laws.hpp"
#include "oracle.hpp"
#include "random/draws.hpp"
#include "random/normal.hpp"

using namespace bsvm_test;

namespace {

const DrawKey kKey{2024, 3, 77};

struct TwoArrays {
  std::vector<double> normal, uniform;
};

TwoArrays draw_rows(const DrawKey& key, Index first, int n) {
  TwoArrays out{std::vector<double>(n), std::vector<double>(n)};
  row_draws(key, first, n, out.normal.data(), out.uniform.data());
  return out;
}

template <class One>
std::vector<double> sample(int n, One one) {
  std::vector<double> out(n);
  for (double& x : out) x = one();
  return out;
}

double normal_cdf(double x) { return static_cast<double>(upper_tail(-x)); }
double identity(double x) { return x; }

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const Eigen::Map<const Arr> a(x.data(), static_cast<Index>(x.size()));
  const Eigen::Map<const Arr> b(y.data(), static_cast<Index>(y.size()));
  const Arr u = a - a.mean(), v = b - b.mean();
  return (u * v).sum() / std::sqrt(u.square().sum() * v.square().sum());
}

}  // namespace

TEST_CASE("philox: the answers published with Random123") {
  CHECK(philox({0, 0, 0, 0}, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0u, ~0u, ~0u, ~0u}, ~std::uint64_t{0}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822u) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("normal quantile: the distribution function takes it back") {
  for (double p : {0x1p-53, 1e-15, 1.3e-11, 1.5e-11, 1e-5, 0.02, 0.0749, 0.0751, 0.3, 0.4999}) {
    CAPTURE(p);
    const Real x = normal_quantile(p);
    const Real density = std::exp(-0.5L * x * x) / std::sqrt(2 * kPi);
    CHECK(std::abs((upper_tail(-x) - p) / density) < 4e-16L * (1 + std::abs(x)));
    CHECK(normal_quantile(1 - p) == doctest::Approx(-normal_quantile(1 - (1 - p))).epsilon(1e-15));
  }
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.975) == doctest::Approx(1.959963984540054).epsilon(1e-15));
  CHECK(normal_quantile(1e-10) == doctest::Approx(-6.361340902404056).epsilon(1e-15));
}

TEST_CASE("draws: uniform and normal numbers have their laws") {
  Draws random(kKey, Purpose::dense, 5);
  const auto uniform = sample(100000, [&] { return random.uniform(); });
  CHECK(kolmogorov(uniform, identity) < kKolmogorov);
  CHECK(*std::min_element(uniform.begin(), uniform.end()) > 0);
  CHECK(*std::max_element(uniform.begin(), uniform.end()) < 1);
  CHECK(kolmogorov(sample(100000, [&] { return random.normal(); }), normal_cdf) < kKolmogorov);
}

TEST_CASE("draws: gamma numbers have their law, whatever the shape") {
  for (double shape : {0.005, 0.1, 0.8, 1.0, 1.7, 30.0, 1e4, 1e6}) {
    CAPTURE(shape);
    Draws random(kKey, Purpose::hyper, 1);
    const auto logs = sample(100000, [&] { return random.log_gamma_draw(shape); });
    const auto cdf = [&](double x) { return log_gamma_cdf(x, shape); };
    CHECK(kolmogorov(logs, cdf, 500) < kKolmogorov);
  }
}

TEST_CASE("draws: gamma is exp of its logarithm, and neither zero nor infinite") {
  Draws random(kKey, Purpose::hyper, 2), again = random;
  for (int k = 0; k < 100; ++k)
    CHECK(random.gamma(2.5) == doctest::Approx(std::exp(again.log_gamma_draw(2.5))));
  for (int k = 0; k < 1000; ++k) {
    CHECK(random.gamma(0.001) >= 1e-300);
    const double inverse = random.inverse_gamma(0.001, 0.5);
    CHECK(inverse > 0);
    CHECK(inverse <= 1e300);
  }
  CHECK(random.inverse_gamma(1e6, 1e-320) >= 1e-300);
}

TEST_CASE("draws: inverse-gamma numbers have their law") {
  Draws random(kKey, Purpose::hyper, 3);
  const auto draws = sample(100000, [&] { return random.inverse_gamma(1.3, 0.2); });
  const auto cdf = [](double x) { return inverse_gamma_cdf(x, 1.3L, 0.2L); };
  CHECK(kolmogorov(draws, cdf, 500) < kKolmogorov);
}

TEST_CASE("draws: the same key gives the same numbers, and a copy goes on where it was") {
  Draws one(kKey, Purpose::move, 9), other(kKey, Purpose::move, 9);
  for (int k = 0; k < 7; ++k) CHECK(one.uniform() == other.uniform());
  Draws copy = one;
  for (int k = 0; k < 7; ++k) CHECK(one.normal() == copy.normal());
}

TEST_CASE("draws: no two streams share a number") {
  std::set<double> seen;
  size_t count = 0;
  const auto add = [&](const DrawKey& key, Purpose purpose, std::uint64_t index) {
    Draws random(key, purpose, index);
    for (int k = 0; k < 20; ++k, ++count) seen.insert(random.uniform());
  };
  const std::uint64_t large = 1, far = large << 33;
  for (std::uint64_t seed : {large, 2 * large, far})
    for (std::uint32_t chain : {0u, 1u, 256u, 65535u})
      for (std::uint64_t sweep : {0 * large, large, 2 * large, far, (large << 44) - 1})
        for (std::uint64_t index : {0 * large, large, 2 * large, far, (large << 40) - 1})
          for (Purpose purpose : {Purpose::rows, Purpose::dense, Purpose::groups,
                                  Purpose::hyper, Purpose::move})
            add({seed, chain, sweep}, purpose, index);
  CHECK(seen.size() == count);
}

TEST_CASE("draws: streams that differ in one word are uncorrelated") {
  const int n = 20000;
  const auto stream = [&](const DrawKey& key, Purpose purpose, std::uint64_t index) {
    Draws random(key, purpose, index);
    return sample(n, [&] { return random.normal(); });
  };
  const auto base = stream(kKey, Purpose::dense, 4);
  for (const auto& other :
       {stream({2025, 3, 77}, Purpose::dense, 4), stream({2024, 4, 77}, Purpose::dense, 4),
        stream({2024, 3, 78}, Purpose::dense, 4), stream(kKey, Purpose::groups, 4),
        stream(kKey, Purpose::dense, 5)})
    CHECK(std::abs(correlation(base, other)) < 5 / std::sqrt(n));
}

TEST_CASE("row draws: a row's numbers do not depend on the other rows") {
  const auto all = draw_rows(kKey, 0, 200);
  for (int r : {1, 7, 8, 9, 63, 64, 65, 127, 200}) {
    const auto some = draw_rows(kKey, 0, r);
    CHECK(std::equal(some.normal.begin(), some.normal.end(), all.normal.begin()));
    CHECK(std::equal(some.uniform.begin(), some.uniform.end(), all.uniform.begin()));
  }
  const auto last = draw_rows(kKey, 187, 13);
  CHECK(std::equal(last.normal.begin(), last.normal.end(), all.normal.begin() + 187));
  CHECK(std::equal(last.uniform.begin(), last.uniform.end(), all.uniform.begin() + 187));
}

TEST_CASE("row draws: they are the stream of the row") {
  // some of them on both sides of 2^32
  for (Index first : {Index{0}, Index{2000000000}, (Index{1} << 32) - 5, (Index{1} << 40) - 20}) {
    const auto rows = draw_rows(kKey, first, 20);
    for (int k = 0; k < 20; ++k) {
      Draws random(kKey, Purpose::rows, static_cast<std::uint64_t>(first + k));
      CHECK(rows.normal[k] == random.normal());
      CHECK(rows.uniform[k] == random.uniform());
    }
  }
}

TEST_CASE("row draws: over rows and over sweeps they have their laws and are uncorrelated") {
  const auto rows = draw_rows(kKey, 7, 100000);
  CHECK(kolmogorov(rows.normal, normal_cdf) < kKolmogorov);
  CHECK(kolmogorov(rows.uniform, identity) < kKolmogorov);
  CHECK(std::abs(correlation(rows.normal, rows.uniform)) < 5 / std::sqrt(1e5));
  std::vector<double> now, before;
  for (std::uint64_t sweep = 0; sweep < 20000; ++sweep) {
    before.push_back(now.empty() ? 0 : now.back());
    now.push_back(draw_rows({1, 0, sweep}, 12, 1).normal[0]);
  }
  CHECK(kolmogorov(now, normal_cdf) < kKolmogorov);
  CHECK(std::abs(correlation(now, before)) < 5 / std::sqrt(2e4));
}
