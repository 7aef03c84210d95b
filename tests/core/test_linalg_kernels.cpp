#include <doctest/doctest.h>

#include "linalg/kernels.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

const Index kColumns[] = {0, 1, 3, 4, 5, 8, 13, 57};
const Index kRows[] = {1, 2, 4, 7, 256};

Mat made_up(Index p, Index r, std::uint64_t seed) {
  Noise draws(seed);
  Mat out(p, r);
  for (Index j = 0; j < r; ++j) out.col(j) = draws.normals(p);
  return out;
}

std::vector<double> packed(const Mat& c, const double* factor = nullptr) {
  std::vector<double> out(packed_size(c.rows(), c.cols()));
  pack(c.data(), c.rows(), c.cols(), factor, out.data());
  return out;
}

void check_gram(const Kernels& use, Index p, Index r) {
  const Mat c = made_up(p, r, 4);
  const Vec omega = Noise(5).normals(r).cwiseAbs();
  Mat sum = Mat::Constant(p, p, 0.5);
  use.gram(packed(c).data(), packed(c, omega.data()).data(), p, r, sum.data());
  const MatL wide = c.cast<Real>();
  const MatL expected = MatL::Constant(p, p, 0.5L) +
                        product(wide * omega.cast<Real>().asDiagonal(), wide.transpose());
  CHECK(gap(lower(sum), lower(expected)) < 1e-14);
}

void check_variances(const Kernels& use, Index p, Index r) {
  const Mat room = made_up(p, (r + 3) / 4 * 4, 6), c = room.leftCols(r);
  const Mat m = made_up(p, p, 7).triangularView<Eigen::Lower>();
  Vec v = Vec::Constant(r, 0.25);
  use.variances(packed(m).data(), room.data(), p, r, v.data());
  const MatL spread = product(m.cast<Real>(), c.cast<Real>());
  const VecL expected = VecL::Constant(r, 0.25L) + VecL(spread.colwise().squaredNorm());
  CHECK(gap(v, expected) < 1e-14);
}

}  // namespace

TEST_CASE("both kinds of kernel are sums of squares of any shape") {
  for (const Kernels* use : {&portable_kernels(), &kernels()})
    for (Index p : kColumns)
      for (Index r : kRows) {
        CAPTURE(p);
        CAPTURE(r);
        check_gram(*use, p, r);
        check_variances(*use, p, r);
      }
}
