#include <doctest/doctest.h>

#include <Eigen/LU>

#include "linalg/krylov.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

Mat square(Index n, std::uint64_t seed) {
  Noise draws(seed);
  Mat out(n, n);
  for (Index j = 0; j < n; ++j) out.col(j) = draws.normals(n);
  return out;
}

}  // namespace

TEST_CASE("krylov: solves systems that are not symmetric, to the residual asked for") {
  for (Index n : {1, 2, 9, 60}) {
    const Mat a = 3 * std::sqrt(static_cast<double>(n)) * Mat::Identity(n, n) + square(n, 5);
    const Vec right = square(n, 6).col(0);
    for (double tolerance : {1e-2, 1e-10}) {
      int products = 0;
      const Vec x = bsvm::solve_by_products([&](const Vec& b) -> Vec {
        ++products;
        return a * b;
      }, right, tolerance, 60);
      CHECK((a * x - right).norm() < 1.01 * tolerance * right.norm());
      CHECK(products <= 40);
      if (tolerance < 1e-9) CHECK(gap(x, Vec(a.lu().solve(right))) < 1e-9);
    }
  }
}

TEST_CASE("krylov: nothing on the right is solved by nothing, few products do what they can") {
  const Mat a = Mat::Identity(8, 8) + 0.5 * square(8, 7);
  const auto product = [&](const Vec& b) -> Vec { return a * b; };
  CHECK(bsvm::solve_by_products(product, Vec::Zero(8), 1e-3, 5).isZero(0));
  const Vec right = square(8, 8).col(0);
  double before = right.norm();
  for (int most : {1, 3, 5, 8}) {
    const double left = (a * bsvm::solve_by_products(product, right, 0, most) - right).norm();
    CHECK(left <= before * (1 + 1e-12));
    before = left;
  }
  CHECK(before < 1e-10 * right.norm());
}
