#include <doctest/doctest.h>

#include <Eigen/Cholesky>

#include "base/error.hpp"
#include "coefficients/coefficients.hpp"
#include "hosts.hpp"
#include "linalg/cholesky.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

Mat positive_definite(Index p) {
  Noise draws(8);
  Mat root(p, p);
  for (Index j = 0; j < p; ++j) root.col(j) = draws.normals(p);
  Mat out = Mat::Identity(p, p) * static_cast<double>(p);
  out.selfadjointView<Eigen::Lower>().rankUpdate(root);
  return out.selfadjointView<Eigen::Lower>();
}

constexpr Index kSizes[] = {1, 7, 200, 800};  // 800: in panels

}  // namespace

TEST_CASE("the factor is Eigen's, with zeros above, whether or not in panels") {
  for (Index p : kSizes) {
    const Mat a = positive_definite(p);
    Mat factor = a;
    Host host;
    REQUIRE(cholesky(factor, host));
    CHECK((factor - Mat(a.llt().matrixL())).norm() < 1e-13 * factor.norm());
    CHECK(factor.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().isZero(0));
  }
}

TEST_CASE("only the lower triangle is read") {
  const Mat a = positive_definite(7);
  Mat factor = a;
  factor.triangularView<Eigen::StrictlyUpper>().setConstant(1e6);
  Host host;
  REQUIRE(cholesky(factor, host));
  CHECK((factor * factor.transpose() - a).norm() < 1e-13 * a.norm());
}

TEST_CASE("a matrix that is not positive definite has no factor") {
  Host host;
  for (Index p : kSizes)
    for (double bad : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
      Mat a = positive_definite(p);
      a(p - 1, p - 1) = bad;
      CHECK_FALSE(cholesky(a, host));
    }
}

TEST_CASE("the inverse of a factor is lower triangular and inverts") {
  for (Index p : kSizes) {
    Mat factor = positive_definite(p);
    Host host;
    REQUIRE(cholesky(factor, host));
    const Mat inverse = inverse_lower(factor, host);
    const Mat product = inverse.triangularView<Eigen::Lower>() * factor;
    CHECK((product - Mat::Identity(p, p)).norm() < 1e-12);
    CHECK(inverse.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().isZero(0));
  }
}

TEST_CASE("the square of a transposed inverse is the inverse") {
  for (Index p : kSizes) {
    const Mat a = positive_definite(p);
    Mat factor = a;
    Host host;
    REQUIRE(cholesky(factor, host));
    const Mat inverse = squared_transposed(inverse_lower(factor, host), host);
    CHECK((inverse * a - Mat::Identity(p, p)).norm() < 1e-11);
    CHECK(inverse == inverse.transpose());
  }
}

TEST_CASE("the divergence is tr(S A) - p - log det(S A), without cancellation") {
  for (Index p : kSizes)
    for (double change : {3.0, 1e-3, 1e-9}) {
      Mat a = positive_definite(p), before = a;
      Host host;
      REQUIRE(cholesky(before, host));
      a.diagonal() *= 1 + change;
      a.row(p - 1) *= 1 - 0.1 * change;
      a.col(p - 1) *= 1 - 0.1 * change;
      const Mat inverse = inverse_lower(before, host);
      REQUIRE(cholesky(a, host));
      const double found = divergence(inverse, a, host);
      const Mat root = inverse * a;
      double expected = 0;
      if (change > 1) {
        expected = root.squaredNorm() - static_cast<double>(p) -
                   2 * root.diagonal().array().log().sum();
      } else {  // |S^{1/2} A S^{1/2} - I|^2 / 2
        const Mat ratio = root * root.transpose() - Mat::Identity(p, p);
        expected = 0.5 * ratio.squaredNorm();
      }
      CHECK(found == doctest::Approx(expected).epsilon(change > 1 ? 1e-12 : 5e-3));
    }
}

TEST_CASE("x^2 - 1 - log x^2 to full accuracy") {
  for (Real x : {1e-3L, 0.7L, 0.9996L, 1 + 1e-7L, 1.0003L, 2.0L, 1e5L}) {
    const Real d = (x - 1) * (x + 1), expected = d - std::log1p(d);
    CHECK(log_distance(static_cast<double>(x)) ==
          doctest::Approx(static_cast<double>(expected)).epsilon(1e-7));
  }
  CHECK(log_distance(1) == 0);
}

TEST_CASE("large matrices ask the host, small ones are over in no time") {
  Mat large = positive_definite(800), small = positive_definite(200);
  ImpatientHost host(3), never(0);
  CHECK_THROWS_AS(cholesky(large, host), Interrupted);
  CHECK_THROWS_AS(inverse_lower(large, host), Interrupted);
  CHECK_THROWS_AS(squared_transposed(large, host), Interrupted);
  CHECK_THROWS_AS(divergence(large, large, host), Interrupted);
  CHECK(cholesky(small, never));
  CHECK(never.calls == 0);
}

TEST_CASE("a matrix without columns is factorised") {
  Mat none(0, 0);
  Host host;
  CHECK(cholesky(none, host));
  CHECK(inverse_lower(none, host).size() == 0);
}

TEST_CASE("a precision that is singular to rounding has a factor, an indefinite one is refused") {
  Host host;
  for (Index p : {3, 60, 300}) {
    const Mat low = positive_definite(p).leftCols(p - p / 3);
    const Vec size = Vec::LinSpaced(p, -4, 4).array().exp();
    const Mat a = size.asDiagonal() * low * low.transpose() * size.asDiagonal();
    Mat factor;
    factor_precision([&](Mat& out) { out = a; }, factor, host);
    const Vec inverse = a.diagonal().cwiseSqrt().cwiseInverse();
    const Mat off = inverse.asDiagonal() * (factor * factor.transpose() - a) * inverse.asDiagonal();
    CHECK(off.cwiseAbs().maxCoeff() < 1.1e-10);
    Mat indefinite = a;
    indefinite(p - 1, p - 1) *= 0.9;
    CHECK_THROWS_AS(factor_precision([&](Mat& out) { out = indefinite; }, factor, host),
                    NumericalFailure);
  }
}

TEST_CASE("products with a factor, its transpose, and a Gram matrix are Eigen's") {
  for (Index p : kSizes)
    for (Index n : {1, 5, 130}) {
      const Mat m = positive_definite(p).triangularView<Eigen::Lower>();
      Noise draws(4);
      Mat x(p, n);
      for (Index j = 0; j < n; ++j) x.col(j) = draws.normals(p);
      Host host;
      CHECK(gap(lower_times(m, x, host), Mat(m * x)) < 1e-13);
      CHECK(gap(transposed_times(m, x, host), Mat(m.transpose() * x)) < 1e-13);
      CHECK(gap(lower(lower_gram(x, host)), lower(x.transpose() * x)) < 1e-13);
    }
}
