#include <doctest/doctest.h>

#include <cmath>

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

void check_dots(const Kernels& use, Index p, Index r) {
  const Mat c = made_up(p, r, 8);
  const Vec b = Noise(9).normals(p);
  Vec out = Vec::Constant(r, 0.25);
  use.dots(c.data(), b.data(), p, r, out.data());
  const VecL expected = VecL::Constant(r, 0.25L) +
                        VecL(product(c.cast<Real>().transpose(), b.cast<Real>()));
  CHECK(gap(out, expected) < 1e-14);
}

}  // namespace

TEST_CASE("both kinds of kernel are sums of squares and of products of any shape") {
  for (const Kernels* use : {&portable_kernels(), &kernels()})
    for (Index p : kColumns)
      for (Index r : kRows) {
        CAPTURE(p);
        CAPTURE(r);
        check_gram(*use, p, r);
        check_variances(*use, p, r);
        check_dots(*use, p, r);
      }
}

namespace {

// X Y' of the parts of larger matrices, with Y packed or as it stands.
void check_product(const Kernels& use, Index m, Index n, Index depth, bool packed_y,
                   bool triangle) {
  const Mat x = made_up(m + 2, depth, 8), y_room = made_up(depth + 1, n, 9);
  Mat y = y_room.topRows(depth);
  if (triangle) y = Mat(y.triangularView<Eigen::Lower>());
  const Mat whole = triangle ? Mat(y_room.triangularView<Eigen::Lower>()) : y_room;
  std::vector<double> left(packed_size(m, depth)), right(packed_size(n, depth));
  pack_block(x.data() + 1, m + 2, m, depth, nullptr, left.data());
  pack_transposed(whole.data(), depth + 1, n, depth, right.data());
  Mat c = Mat::Constant(m + 1, n, 0.5);
  PanelProduct of{left.data(), m, depth, right.data(), n, depth, c.data(), m + 1, -2};
  of.packed_y = packed_y;
  of.y_from_row = triangle;
  if (!packed_y) {
    of.y = whole.data();
    of.y_stride = depth + 1;
  }
  use.product(of);
  const MatL expected = MatL::Constant(m, n, 0.5L) -
                        2 * product(x.middleRows(1, m).cast<Real>(), y.cast<Real>());
  CHECK(gap(c.topRows(m), expected) < 1e-12);
  CHECK((c.row(m).array() == 0.5).all());
}

}  // namespace

TEST_CASE("products of parts of matrices, packed or not, long or triangular") {
  for (const Kernels* use : {&portable_kernels(), &kernels()})
    for (Index m : {1, 7, 12})
      for (Index n : {1, 6, 131})
        for (Index depth : {1, 131, 300})
          for (bool packed_y : {false, true}) {
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(depth);
            check_product(*use, m, n, depth, packed_y, false);
            if (n <= depth) check_product(*use, m, n, depth, packed_y, true);
          }
}

TEST_CASE("two combinations of columns at once") {
  for (const Kernels* use : {&portable_kernels(), &kernels()})
    for (Index n : {1, 7, 16, 35})
      for (Index k : {1, 4, 5}) {
        const Mat x = made_up(n + 3, k, 5), factor = made_up(k, 2, 6);
        Vec first(n), second(n);
        use->combine(x.data() + 1, n + 3, factor.data(), factor.data() + k, n, k, first.data(),
                     second.data());
        CHECK((first - x.middleRows(1, n) * factor.col(0)).norm() < 1e-13 * static_cast<double>(n));
        CHECK((second - x.middleRows(1, n) * factor.col(1)).norm() <
              1e-13 * static_cast<double>(n));
      }
}

TEST_CASE("sums of functions of residuals, on either kind of processor's way") {
  const HingePair pair{1.3, 0.4, 0.2, 0.7, -0.9};
  for (const Kernels* use : {&portable_kernels(), &kernels()})
    for (Index r : {0, 1, 3, 7, 8, 9, 16, 23, 300}) {
      const Vec y = 2 * Noise(1).normals(r), f = Noise(2).normals(r), a = Noise(3).normals(r),
                b = Noise(4).normals(r), weight = Noise(5).normals(r).cwiseAbs();
      for (const double* w : {static_cast<const double*>(nullptr), weight.data()})
        for (const double* plane : {static_cast<const double*>(nullptr), a.data()}) {
          const double s = 0.4, t = -1.3;
          Real pairs = 0, squares = 0, size = 1;
          for (Index i = 0; i < r; ++i) {
            const Real off = Real(y[i]) - f[i] - (plane ? s * Real(a[i]) : 0) - t * Real(b[i]),
                       share = w ? w[i] : 1;
            const Real one = -0.9 - 1.3 * std::max(Real(0), off - 0.2) -
                             0.4 * std::max(Real(0), -off - 0.7);
            pairs += share * one;
            squares += share * off * off;
            size += share * (std::abs(one) + off * off);
          }
          const LineRows rows{y.data(), f.data(), plane, b.data(), w, r};
          CHECK(std::abs(use->hinge_pairs(rows, s, t, pair) - pairs) < 1e-15L * size);
          CHECK(std::abs(use->residual_squares(rows, s, t) - squares) < 1e-15L * size);
        }
    }
}

TEST_CASE("a residual that is no number does not pass for none") {
  const Vec y = Vec::Constant(11, std::nan("")), f = Vec::Zero(11);
  const LineRows rows{y.data(), f.data(), nullptr, f.data(), nullptr, 11};
  for (const Kernels* use : {&portable_kernels(), &kernels()})
    CHECK(std::isnan(use->hinge_pairs(rows, 0, 0, {1, 1, 0, 0, 0})));
}
