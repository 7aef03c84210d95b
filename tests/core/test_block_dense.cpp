#include <doctest/doctest.h>

#include <cmath>

#include "block/dense.hpp"
#include "model/state.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

TEST_CASE("a dense block is standardised and brought near one by powers of two") {
  Shape shape;
  shape.p = 4;
  const Data data = simulate(shape);
  const DenseBlock block(data.x.data(), shape.n, data.center, data.scale);
  const Mat rows = inside(block, shape.n);
  const MatL standardised = data.design().cast<Real>();
  for (Index j = 0; j < shape.p; ++j) {
    const double unit = block.unit()[j];
    CHECK(std::exp2(std::ilogb(unit)) == unit);
    CHECK(rows.row(j).cwiseAbs().maxCoeff() >= 0.5);
    CHECK(rows.row(j).cwiseAbs().maxCoeff() < 1 + 1e-15);
    CHECK(gap(rows.row(j).transpose() / unit, standardised.col(j)) < 1e-15);
  }
}

TEST_CASE("rows come in the order asked for, into a strided place") {
  const Mat x = Mat::Random(5, 2);
  const DenseBlock block(x.data(), 5, Vec::Zero(2), Vec::Ones(2));
  Mat out = Mat::Constant(4, 3, 7);
  const int rows[] = {4, 0, 4};
  block.fill(rows, 3, State(Layout{}), out.block(1, 0, 2, 3));
  const Mat all = inside(block, 5);
  for (int i = 0; i < 3; ++i) CHECK(out.block(1, i, 2, 1) == all.col(rows[i]));
  CHECK((out.row(0).array() == 7).all());
  CHECK((out.row(3).array() == 7).all());
}

TEST_CASE("columns of any magnitude are near one inside; a column of zeros stays") {
  Mat x(3, 4);
  x << 1e150, 1e-150, 0, 5e-324, -3e150, 2e-150, 0, 0, 0, 0, 0, 0;
  const DenseBlock block(x.data(), 3, Vec::Zero(4), Vec::Ones(4));
  const Mat rows = inside(block, 3);
  CHECK(rows.allFinite());
  CHECK(rows.cwiseAbs().maxCoeff() < 1);
  for (Index j : {0, 1}) CHECK(rows.row(j).cwiseAbs().maxCoeff() >= 0.5);
  CHECK(rows.row(2).isZero(0));
}

TEST_CASE("a block of ones is one column of ones") {
  const OnesBlock block;
  CHECK(block.columns() == 1);
  CHECK(inside(block, 6) == Mat::Ones(1, 6));
}
