#include <doctest/doctest.h>

#include <Eigen/Cholesky>

#include "error.hpp"
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

TEST_CASE("large matrices ask the host, small ones are over in no time") {
  Mat large = positive_definite(800), small = positive_definite(200);
  ImpatientHost host(3), never(0);
  CHECK_THROWS_AS(cholesky(large, host), Interrupted);
  CHECK_THROWS_AS(inverse_lower(large, host), Interrupted);
  CHECK(cholesky(small, never));
  CHECK(never.calls == 0);
}

TEST_CASE("a matrix without columns is factorised") {
  Mat none(0, 0);
  Host host;
  CHECK(cholesky(none, host));
  CHECK(inverse_lower(none, host).size() == 0);
}
