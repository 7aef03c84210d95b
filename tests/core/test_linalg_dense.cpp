// Triangular systems, products and decompositions against Eigen's own on full matrices. What must
// not be read is not a number.
#include <doctest/doctest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "linalg/dense.hpp"

using namespace bsvm;

namespace {

constexpr double kGarbage = std::numeric_limits<double>::quiet_NaN();

struct Case {
  Mat lower, garbled;  // L, and with an upper triangle that must not be read
  Mat square;          // L L'
  Mat x;
  Vec v;
};

Case make_case(Index p) {
  std::srand(static_cast<unsigned>(p) + 1);
  Case out;
  out.lower = Mat::Random(p, p).triangularView<Eigen::Lower>();
  out.lower.diagonal().array() += 3;
  out.garbled = out.lower;
  out.garbled.triangularView<Eigen::StrictlyUpper>().setConstant(kGarbage);
  out.square = out.lower * out.lower.transpose();
  out.x = Mat::Random(p, 4);
  out.v = Vec::Random(p);
  return out;
}

bool same(const Mat& a, const Mat& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 || (a - b).cwiseAbs().maxCoeff() < 1e-13);
}

}  // namespace

TEST_CASE("triangular systems and products are those of full matrices") {
  for (const Index p : {0, 1, 2, 5, 17}) {
    const Case c = make_case(p);
    const Mat inverse = p > 0 ? Mat(c.lower.inverse()) : Mat(0, 0);
    CHECK(same(solved_lower(c.garbled, c.x), inverse * c.x));
    CHECK(same(solved_lower(c.garbled, c.v), inverse * c.v));
    Mat x = c.x;
    Vec v = c.v;
    solve_transposed(c.garbled, x);
    solve_transposed(c.garbled, v);
    CHECK(same(x, inverse.transpose() * c.x));
    CHECK(same(v, inverse.transpose() * c.v));
    CHECK(same(lower_product(c.garbled, c.x), c.lower * c.x));
    CHECK(same(lower_product(c.garbled, c.v), c.lower * c.v));
    CHECK(same(transposed_product(c.garbled, c.v), c.lower.transpose() * c.v));
    const Mat rows = c.x.transpose();
    CHECK(same(divided_lower(rows, c.garbled), rows * inverse));
    CHECK(same(divided_transposed(rows, c.garbled), rows * inverse.transpose()));
  }
}

TEST_CASE("parts of vectors and matrices are solved in place") {
  const Case c = make_case(5);
  Vec v(7);
  v << 1, c.v, 2;
  solve_lower(c.lower, v.segment(1, 5));
  CHECK(same(v.segment(1, 5), c.lower.inverse() * c.v));
  CHECK(v[0] == 1);
  CHECK(v[6] == 2);
  Mat x = Mat::Ones(7, 4);
  x.middleRows(1, 5) = c.x;
  solve_transposed(c.lower, x.middleRows(1, 5));
  CHECK(same(x.middleRows(1, 5), c.lower.transpose().inverse() * c.x));
  CHECK(same(x.row(0), Mat::Ones(1, 4)));
}

TEST_CASE("symmetric matrices are read from their lower triangle") {
  for (const Index p : {0, 1, 5}) {
    const Case c = make_case(p);
    Mat half = c.square;
    half.triangularView<Eigen::StrictlyUpper>().setConstant(kGarbage);
    CHECK(same(symmetric(half), c.square));
    Mat sum = Mat::Zero(p, p);
    sum.triangularView<Eigen::StrictlyUpper>().setConstant(kGarbage);
    add_square(c.lower, sum);
    CHECK(same(symmetric(sum), c.square));
    const Factor factor(half);
    CHECK(factor.positive());
    CHECK(same(factor.lower(), c.lower));
    CHECK(same(factor.solve(c.x), p > 0 ? Mat(c.square.inverse() * c.x) : c.x));
    CHECK(same(factor.solve(c.v), p > 0 ? Mat(c.square.inverse() * c.v) : Mat(c.v)));
    CHECK(same(factor.inverse(), p > 0 ? Mat(c.square.inverse()) : Mat(0, 0)));
    CHECK(factor.logdet() == doctest::Approx(p > 0 ? std::log(c.square.determinant()) : 0));
    if (p == 0) continue;
    const SymmetricEigen eigen(half);
    CHECK((eigen.with(eigen.values) - c.square).norm() < 1e-12 * c.square.norm());
    CHECK(same(eigen.vectors.transpose() * eigen.vectors, Mat::Identity(p, p)));
    for (Index k = 1; k < p; ++k) CHECK(eigen.values[k] >= eigen.values[k - 1]);
  }
}

TEST_CASE("a matrix that is not positive definite has no factor, and one near it does") {
  Mat a = Mat::Identity(3, 3);
  a(1, 1) = -1;
  CHECK_FALSE(Factor(a).positive());
  const Factor near = positive_factor(a);
  CHECK(near.positive());
  CHECK(near.lower().allFinite());
  a(1, 1) = kGarbage;
  CHECK_FALSE(Factor(a).positive());
}
