#include <doctest/doctest.h>

#include <Eigen/Cholesky>

#include "linalg/conjugate_gradient.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

// Positive definite, with a condition number of some hundreds.
Mat spread_out(Index d) {
  Noise noise(8);
  Mat root(d, d);
  for (Index j = 0; j < d; ++j) root.col(j) = noise.normals(d) * std::pow(10, 0.5 * j / d);
  return root * root.transpose() + 2 * Mat::Identity(d, d);
}

void nobody_asks() {}

}  // namespace

TEST_CASE("conjugate gradients: the exact solution after as many products as there are unknowns") {
  const Index d = 14, sides = 3;
  const Mat a = spread_out(d);
  Noise noise(9);
  Mat b(sides, d);
  for (Index j = 0; j < d; ++j) b.col(j) = noise.normals(sides);
  b.row(1).setZero();
  const Mat exact = a.ldlt().solve(b.transpose()).transpose();
  const auto product = [&](const Mat& x) -> Mat { return x * a; };
  const auto jacobi = [&](const Mat& x) -> Mat {
    return x * a.diagonal().cwiseInverse().asDiagonal();
  };
  for (const double from : {0.0, 1.0}) {
    Mat x = Mat::Constant(sides, d, from);
    x.row(1).setZero();
    const int products =
        bsvm::conjugate_gradient(product, jacobi, b, 1e-12, 100, nobody_asks, x);
    CHECK(products <= d + 5);
    for (const Index k : {0, 2}) CHECK(gap(x.row(k), exact.row(k)) < 1e-9);
    CHECK(x.row(1).isZero(0));
  }
}

TEST_CASE("conjugate gradients: few products, and a side that is done is left alone") {
  const Mat a = spread_out(10);
  const auto product = [&](const Mat& x) -> Mat { return x * a; };
  const auto none = [](const Mat& x) -> Mat { return x; };
  Mat b = Mat::Zero(2, 10);
  b.row(0) = a.row(3);
  b.row(1).setOnes();
  Mat x = Mat::Zero(2, 10);
  x(0, 3) = 1;  // solved
  const Mat before = x;
  CHECK(bsvm::conjugate_gradient(product, none, b, 1e-8, 4, nobody_asks, x) == 4);
  CHECK(x.row(0) == before.row(0));
  CHECK(x.row(1).norm() > 0);
}
