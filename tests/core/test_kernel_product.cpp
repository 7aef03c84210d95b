// Products of kernels against entries multiplied one by one.
#include <doctest/doctest.h>

#include <string>

#include "base/registry.hpp"
#include "kernel/product.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

const Vec kSquare = Vec::Constant(2, 1.3);

std::unique_ptr<Kernel> factor(const std::string& name) {
  return Registry<Kernel>::make(
      name, Params(name,
                   {{"variables", 2}, {"ard", name != "se"}, {"nu", 2.5}, {"degree", 2},
                    {"offset", 0.5}},
                   {{"square", Params::Array(kSquare.data(), 2, 1)}}));
}

const std::vector<std::vector<std::string>> kProducts{
    {"se"}, {"poly"}, {"se", "periodic"}, {"poly", "se", "matern"},
    {"rational", "poly", "periodic", "poly"}};

Product product_of(const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<Kernel>> out;
  for (const std::string& name : names) out.push_back(factor(name));
  return Product(std::move(out));
}

Mat columns(Index n, std::uint64_t seed) {
  const Vec numbers = Noise(seed).normals(2 * n);
  return Eigen::Map<const Mat>(numbers.data(), 2, n);
}

Mat values(const Kernel& kernel, const Mat& x, const Mat& v, ConstVecRef theta) {
  Mat out;
  kernel.values(x, v, theta, out);
  return out;
}

Vec some_theta(Index size) { return 0.2 + 0.5 * Noise(5).normals(size).array(); }

template <class F>
double slope_of(F f) {
  const double h = 1e-3;
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

}  // namespace

TEST_CASE("product: entry by entry, and its diagonal") {
  const Mat x = columns(12, 1), v = columns(7, 2);
  for (const auto& names : kProducts) {
    const Product product = product_of(names);
    const Vec theta = some_theta(product.size());
    Mat expected = Mat::Ones(12, 7);
    Vec diagonal = Vec::Ones(12);
    Index start = 0;
    for (const std::string& name : names) {
      const auto one = factor(name);
      const Vec own = theta.segment(start, one->size());
      expected.array() *= values(*one, x, v, own).array();
      diagonal.array() *= one->diagonal(x, own).array();
      start += one->size();
    }
    CHECK(start == product.size());
    CHECK(product.variables() == 2);
    CHECK(gap(values(product, x, v, theta), expected) == 0);
    CHECK(gap(product.diagonal(x, theta), diagonal) == 0);
  }
}

TEST_CASE("product: pulls are slopes of its values") {
  const Mat x = columns(12, 1), v = columns(7, 2);
  const Vec numbers = Noise(3).normals(12 * 7);
  const Mat weight = Eigen::Map<const Mat>(numbers.data(), 12, 7);
  for (const auto& names : kProducts) {
    CAPTURE(names.size());
    const Product product = product_of(names);
    const Vec theta = some_theta(product.size());
    const Vec pull = product.pull(x, v, theta, weight);
    const Vec diagonal = product.diagonal_pull(x, theta, weight.col(0));
    const Mat inputs = product.input_pull(x, v, theta, weight);
    for (Index k = 0; k < product.size(); ++k) {
      const auto moved = [&](double step) -> Vec {
        return theta + step * Vec::Unit(theta.size(), k);
      };
      const double expected = slope_of([&](double step) {
        return values(product, x, v, moved(step)).cwiseProduct(weight).sum();
      });
      CHECK(std::abs(pull[k] - expected) < 1e-9 * (1 + std::abs(expected)));
      const double of_diagonal = slope_of([&](double step) {
        return product.diagonal(x, moved(step)).dot(weight.col(0));
      });
      CHECK(std::abs(diagonal[k] - of_diagonal) < 1e-9 * (1 + std::abs(of_diagonal)));
    }
    for (Index j = 0; j < 7; ++j)
      for (Index d = 0; d < 2; ++d) {
        const double expected = slope_of([&](double step) {
          Mat moved = v;
          moved(d, j) += step;
          return values(product, x, moved, theta).cwiseProduct(weight).sum();
        });
        CHECK(std::abs(inputs(d, j) - expected) < 1e-9 * (1 + std::abs(expected)));
      }
  }
}

TEST_CASE("product: of nothing, or of unlike variables, is refused") {
  CHECK_THROWS_AS(product_of({}), InvalidInput);
  std::vector<std::unique_ptr<Kernel>> unlike;
  unlike.push_back(factor("se"));
  unlike.push_back(Registry<Kernel>::make("se", Params("se", {{"variables", 1}, {"ard", 0}})));
  CHECK_THROWS_AS(Product(std::move(unlike)), InvalidInput);
}
