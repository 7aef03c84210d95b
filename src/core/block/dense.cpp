#include "dense.hpp"

#include <algorithm>
#include <cmath>

namespace bsvm {

namespace {

// The power of two that brings the largest standardised entry into [1/2, 1).
double power_of_two(const double* x, Index n, double center, double scale) {
  double largest = 0;
  for (Index i = 0; i < n; ++i)
    largest = std::max(largest, std::abs(x[i] - center));
  int exponent = 0;
  std::frexp(largest / scale, &exponent);
  return largest > 0 ? std::ldexp(1.0, std::min(1000, -exponent)) : 1.0;
}

}  // namespace

DenseBlock::DenseBlock(const double* x, Index n, Vec center, Vec scale)
    : x_(x), n_(n), center_(std::move(center)), factor_(scale.size()),
      unit_(scale.size()) {
  for (Index j = 0; j < columns(); ++j) {
    unit_[j] = power_of_two(x + j * n, n, center_[j], scale[j]);
    factor_[j] = unit_[j] / scale[j];
  }
}

DenseBlock::DenseBlock(Vec center, const Vec& scale, Vec unit)
    : x_(nullptr), n_(0), center_(std::move(center)), factor_(unit.array() / scale.array()),
      unit_(std::move(unit)) {}

void DenseBlock::look_at(const double* x, Index n) {
  x_ = x;
  n_ = n;
}

void DenseBlock::fill(const int* rows, Index r, const State&,
                      Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const {
  for (Index j = 0; j < columns(); ++j) {
    const double* column = x_ + j * n_;
    double* to = out.data() + j;
    const Index stride = out.outerStride();
    for (Index i = 0; i < r; ++i)
      to[i * stride] = (column[rows[i]] - center_[j]) * factor_[j];
  }
}

}  // namespace bsvm
