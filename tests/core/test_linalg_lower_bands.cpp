#include <doctest/doctest.h>

#include "linalg/lower_bands.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

// Sizes on both sides of a band's and a panel's.
TEST_CASE("a lower triangular matrix times columns is that product, its upper triangle not read") {
  Noise noise(4);
  for (const Index p : {1, 3, 4, 31, 32, 33, 70, 129})
    for (const Index r : {1, 3, 8, 50}) {
      CAPTURE(p);
      CAPTURE(r);
      Mat lower(p, p), c(p, r);
      for (Index j = 0; j < p; ++j) lower.col(j) = noise.normals(p);
      for (Index j = 0; j < r; ++j) c.col(j) = noise.normals(p);
      const MatL own = lower.cast<Real>().triangularView<Eigen::Lower>();
      lower.triangularView<Eigen::StrictlyUpper>().setConstant(1e300);
      Mat out = Mat::Constant(p + 2, r, 7);
      LowerBands(lower).multiply(c, out.middleRows(1, p));
      CHECK(gap(out.middleRows(1, p), product(own, c.cast<Real>())) < 1e-14);
      CHECK((out.row(0).array() == 7).all());
      CHECK((out.row(p + 1).array() == 7).all());
    }
}
