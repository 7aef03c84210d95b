#pragma once
#include "block.hpp"

namespace bsvm {

// Columns of a dense matrix the caller owns, standardised on the fly:
// (x - center) / scale, then brought near one by a power of two.
class DenseBlock : public Block {
 public:
  // x (n, columns) column-major; center, scale (columns), scale > 0.
  DenseBlock(const double* x, Index n, Vec center, Vec scale);
  // For parts of the rows, which look_at() brings, in the unit of all.
  DenseBlock(Vec center, const Vec& scale, Vec unit);
  void look_at(const double* x, Index n);

  Index columns() const override { return center_.size(); }
  const Vec& unit() const override { return unit_; }
  void fill(const int* rows, Index r, const State& state,
            Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const override;

 private:
  const double* x_;
  Index n_;
  Vec center_, factor_, unit_;
};

// A column of ones: the multiplier of a random intercept, or an intercept that is no column.
class OnesBlock : public Block {
 public:
  explicit OnesBlock(double unit = 1) : unit_(Vec::Constant(1, unit)) {}
  Index columns() const override { return 1; }
  const Vec& unit() const override { return unit_; }
  void fill(const int*, Index, const State&,
            Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const override {
    for (Index i = 0; i < out.cols(); ++i) out.data()[i * out.outerStride()] = unit_[0];
  }

 private:
  Vec unit_;
};

}  // namespace bsvm
