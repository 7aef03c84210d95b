#include <doctest/doctest.h>

#include <limits>

#include "linalg/small.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

Mat made_up(Index p, Index q, std::uint64_t seed) {
  Noise draws(seed);
  Mat out(p, q);
  for (Index j = 0; j < q; ++j) out.col(j) = draws.normals(p);
  return out;
}

Mat positive_definite(Index q) {
  const MatL root = made_up(q, q, 3).cast<Real>();
  return (product(root, root.transpose()) + MatL::Identity(q, q)).cast<double>();
}

const Index kSizes[] = {1, 2, 5, kMostEffects};

}  // namespace

TEST_CASE("a group's factor and its log determinant are Eigen's") {
  for (Index q : kSizes) {
    const Mat a = positive_definite(q);
    const MatL expected = lower_factor(a.cast<Real>());
    Mat factor = a;
    REQUIRE(small_cholesky(factor.data(), q));
    CHECK(gap(lower(factor), expected) < 1e-14);
    const SmallFactor kept(a.data(), q);
    CHECK(gap(lower(Eigen::Map<const Mat>(kept.l, q, q)), expected) < 1e-14);
    CHECK(gap(small_logdet(kept.l, q), 2 * expected.diagonal().array().log().sum()) < 1e-13);
  }
}

TEST_CASE("solves from the left and from the right invert the factor") {
  for (Index q : kSizes) {
    const Mat a = positive_definite(q), b = made_up(7, q, 4);
    const SmallFactor factor(a.data(), q);
    const MatL wide = a.cast<Real>(), l = lower_factor(wide);
    Mat x = b.transpose();
    for (Index k = 0; k < 7; ++k) small_forward(factor.l, q, x.col(k).data());
    CHECK(gap(product(l, x.cast<Real>()), b.transpose()) < 1e-13);
    for (Index k = 0; k < 7; ++k) small_backward(factor.l, q, x.col(k).data());
    CHECK(gap(product(wide, x.cast<Real>()), b.transpose()) < 1e-13);
    Mat y = b;
    solve_right_transposed(factor.l, q, 7, y.data());
    CHECK(gap(product(y.cast<Real>(), l.transpose()), b) < 1e-13);
    solve_right(factor.l, q, 7, y.data());
    CHECK(gap(product(y.cast<Real>(), wide), b) < 1e-13);
  }
}

TEST_CASE("a small matrix that is not positive definite is said to be so") {
  Mat a = positive_definite(3);
  a(2, 2) = -1;
  CHECK_FALSE(small_cholesky(a.data(), 3));
  double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(small_cholesky(&nan, 1));
  CHECK_THROWS_AS(SmallFactor(a.data(), 3), NumericalFailure);
}
