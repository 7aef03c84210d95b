#include "distances.hpp"

#include <algorithm>

#include "linalg/kernels.hpp"

namespace bsvm {

namespace {

constexpr double kNear = 1e-4;  // of |x|^2 + |v|^2: above, twelve digits are left

// c (n, m) += sign x'v with x packed.
void add_product(const std::vector<double>& x, Index n, Index d, const double* v, Index m,
                 double sign, double* c) {
  PanelProduct of{x.data(), n, d, v, m, d, c, n, sign};
  of.packed_y = false;
  kernels().product(of);
}

std::vector<double> packed_columns(const Mat& x) {
  std::vector<double> out(packed_size(x.cols(), x.rows()));
  pack_transposed(x.data(), x.rows(), x.cols(), x.rows(), out.data());
  return out;
}

std::vector<double> packed_rows(const Mat& x) {
  std::vector<double> out(packed_size(x.rows(), x.cols()));
  pack(x.data(), x.rows(), x.cols(), nullptr, out.data());
  return out;
}

}  // namespace

Distances::Distances(const Mat& x, const Mat& v)
    : x_(x), v_(v), x_square_(x.colwise().squaredNorm()), v_square_(v.colwise().squaredNorm()),
      packed_(packed_columns(x)) {}

void Distances::columns(Index first, Index count, double* out) const {
  const Index n = x_.cols(), d = x_.rows();
  Eigen::Map<Mat> all(out, n, count);
  for (Index j = 0; j < count; ++j) all.col(j) = x_square_.array() + v_square_[first + j];
  add_product(packed_, n, d, v_.data() + first * d, count, -2, out);
  for (Index j = 0; j < count; ++j) {
    const double square = v_square_[first + j];
    double* column = out + j * n;
    for (Index i = 0; i < n; ++i)
      if (!(column[i] > kNear * (x_square_[i] + square)))
        column[i] = (x_.col(i) - v_.col(first + j)).squaredNorm();
  }
}

Mat matrix_product(const Mat& left, const Mat& right) {
  Mat out = Mat::Zero(left.rows(), right.cols());
  add_product(packed_rows(left), left.rows(), left.cols(), right.data(), right.cols(), 1,
              out.data());
  return out;
}

void inner_products(const Mat& x, const Mat& v, Mat& out) {
  out.setZero(x.cols(), v.cols());
  add_product(packed_columns(x), x.cols(), x.rows(), v.data(), v.cols(), 1, out.data());
}

Index panel_width(Index n) { return std::max<Index>(8, 8192 / std::max<Index>(1, n)); }

void each_slope(const Mat& x, const Mat& v, const Mat& left, const Mat& weight,
                const TimesSlope& times_slope, const VisitPanel& visit) {
  const Index n = x.cols(), m = v.cols(), rows = left.rows();
  const Index width = std::min(m, panel_width(n));
  const Distances distances(x, v);
  const std::vector<double> packed = packed_rows(left);
  Arr r2(n * width), h(n * width);
  Mat sums(rows, width);
  for (Index first = 0; first < m; first += width) {
    const Index count = std::min(width, m - first), size = n * count;
    distances.columns(first, count, r2.data());
    h.head(size) = Eigen::Map<const Arr>(weight.data() + first * n, size);
    times_slope(r2.head(size), h.head(size));
    h.head(size) = (r2.head(size) > 0).select(h.head(size), 0);
    sums.setZero();
    add_product(packed, rows, n, h.data(), count, 1, sums.data());
    visit({first, count, r2.head(size), Eigen::Map<const Mat>(h.data(), n, count),
           sums.leftCols(count)});
  }
}

Mat centred_at(const Mat& v, const Mat& x) {
  if (v.cols() == 0) return x;
  const Vec center = v.rowwise().mean();
  return x.colwise() - center;
}

}  // namespace bsvm
