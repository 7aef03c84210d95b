#include <doctest/doctest.h>

#include "data/column_moments.hpp"
#include "fitting.hpp"
#include "simulate.hpp"

using namespace bsvm_test;

namespace {

ColumnMoments::Sums moments(const Mat& x, const Vec& weight, Index part) {
  ColumnMoments out(x.cols());
  for (Index first = 0; first < x.rows(); first += part) {
    const Mat rows = x.middleRows(first, std::min(part, x.rows() - first));
    out.add(rows.data(), rows.rows(), weight.size() > 0 ? weight.data() + first : nullptr);
  }
  return out.sums();
}

Mat far_from_zero(Index n) {
  Noise noise(7);
  Mat x(n, 3);
  for (Index j = 0; j < 3; ++j) x.col(j) = noise.normals(n).array() + 1e6 * static_cast<double>(j);
  return x;
}

}  // namespace

TEST_CASE("moments of columns are those of long double sums, wherever the rows are cut") {
  for (Index n : {1, 2047, 2048, 2049, 6145, 20000}) {
    CAPTURE(n);
    const Mat x = far_from_zero(n);
    for (bool weighted : {false, true}) {
      const Vec weight = weighted ? Vec(Noise(3).normals(n).cwiseAbs()) : Vec();
      const auto whole = moments(x, weight, n);
      for (Index j = 0; j < 3; ++j) {
        long double total = 0, sum = 0, squares = 0;
        for (Index i = 0; i < n; ++i) {
          total += weighted ? weight[i] : 1;
          sum += static_cast<long double>(weighted ? weight[i] : 1) * x(i, j);
        }
        for (Index i = 0; i < n; ++i) {
          const long double far = x(i, j) - sum / total;
          squares += (weighted ? weight[i] : 1) * far * far;
        }
        CHECK(whole.mean[j] == doctest::Approx(static_cast<double>(sum / total)).epsilon(1e-14));
        CHECK(std::abs(whole.squares[j] - static_cast<double>(squares)) <=
              1e-9 * (1 + static_cast<double>(squares)));
        CHECK(whole.least[j] == x.col(j).minCoeff());
        CHECK(whole.most[j] == x.col(j).maxCoeff());
      }
      for (Index part : {1, 7, 1000, 2048, 5000}) {
        const auto parts = moments(x, weight, part);
        CHECK(parts.weight == whole.weight);
        CHECK((parts.mean == whole.mean).all());
        CHECK((parts.squares == whole.squares).all());
      }
    }
  }
}
