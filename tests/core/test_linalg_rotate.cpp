#include <doctest/doctest.h>

#include "linalg/rotate.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

Mat made_up(Index n, Index m) {
  Noise draws(9);
  Mat out(n, m);
  for (Index j = 0; j < m; ++j) out.col(j) = draws.normals(n);
  return out;
}

void check_rotation(const Mat& x, const Vec& center, const Vec& scale) {
  CAPTURE(x.rows());
  CAPTURE(x.cols());
  const Rotation out = rotate(x, center, scale);
  const Index r = std::min(x.rows(), x.cols());
  REQUIRE(out.features.rows() == x.rows());
  REQUIRE(out.features.cols() == r);
  REQUIRE(out.basis.rows() == x.cols());
  REQUIRE(out.basis.cols() == r);
  MatL standardised = x.cast<Real>();
  standardised.rowwise() -= center.cast<Real>().transpose();
  standardised = standardised * scale.cast<Real>().cwiseInverse().asDiagonal();
  const MatL basis = out.basis.cast<Real>();
  CHECK(gap(product(out.features.cast<Real>(), basis.transpose()), standardised) < 1e-14);
  CHECK(gap(product(basis.transpose(), basis), MatL::Identity(r, r)) < 1e-14);
}

void check_plain(const Mat& x) {
  check_rotation(x, Vec::Zero(x.cols()), Vec::Ones(x.cols()));
}

}  // namespace

TEST_CASE("features times basis are the standardised columns, for any shape") {
  for (Index n : {1, 6, 20})
    for (Index m : {1, 6, 50})
      check_rotation(made_up(n, m), Vec::LinSpaced(m, -1, 2), Vec::LinSpaced(m, 0.5, 3));
}

TEST_CASE("columns of any magnitude are rotated") {
  for (double unit : {1e150, 1e-150, 1e-300}) check_plain(unit * made_up(5, 12));
  Vec unit(12);
  for (Index j = 0; j < 12; ++j) unit[j] = j % 2 ? 1e150 : 1e-150;
  check_plain(made_up(5, 12) * unit.asDiagonal());
  check_rotation(made_up(5, 12) * unit.asDiagonal(), Vec::Zero(12), unit);
}

TEST_CASE("rows that repeat and columns of zeros still have an orthonormal basis") {
  Mat x = made_up(6, 20);
  x.row(3) = x.row(1);
  x.col(4).setZero();
  check_plain(x);
  check_plain(Mat::Zero(3, 8));
}
