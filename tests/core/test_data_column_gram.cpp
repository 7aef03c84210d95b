// Sums of products of columns whose rows come in parts.
#include <doctest/doctest.h>

#include <vector>

#include "data/column_gram.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

TEST_CASE("column gram: products of all rows, to the same bits however they are cut") {
  Noise noise(9);
  Mat x(5000, 7);
  for (Index j = 0; j < x.cols(); ++j) x.col(j) = noise.normals(x.rows());
  const auto gram = [&](const std::vector<Index>& sizes, Index columns) {
    ColumnGram out(columns);
    Index first = 0;
    for (const Index size : sizes) {
      const Mat part = x.block(first, x.cols() - columns, size, columns);
      out.add(part.data(), size);
      first += size;
    }
    return out.sum();
  };
  const Mat whole = gram({5000}, 7);
  const MatL exact = product(MatL(x.transpose().cast<Real>()), MatL(x.cast<Real>()));
  CHECK((whole.cast<Real>() - exact).cwiseAbs().maxCoeff() < 1e-11L);
  CHECK(gram({1, 2047, 2048, 904}, 7) == whole);
  CHECK(gram({2049, 0, 2951}, 7) == whole);
  CHECK(gram({4999, 1}, 4) == whole.bottomRightCorner(4, 4));  // whatever stands beside
  CHECK(gram({}, 3) == Mat::Zero(3, 3));
}
