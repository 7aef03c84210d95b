#pragma once
#include <vector>

#include "base/types.hpp"
#include "linalg/weighted_gram.hpp"

namespace bsvm {

// A sum of factor x x' (d, d), lower triangle: in place for short x, gathered for the
// kernels otherwise.
class OuterSum {
 public:
  void start(Index d) {
    d_ = d;
    count_ = 0;
    if (d <= kShort) return;
    columns_.resize(d * kGathered);
    factors_.resize(kGathered);
  }

  void add(const double* x, double factor, MatRef out) {
    if (d_ > kShort) return gather(x, factor, out);
    for (Index j = 0; j < d_; ++j) {
      double* column = out.data() + j * out.outerStride();
      const double scaled = factor * x[j];
      for (Index i = j; i < d_; ++i) column[i] += scaled * x[i];
    }
  }

  void finish(MatRef out) {
    if (count_ == 0) return;
    sum_.setZero(d_, d_);
    squares_.add(columns_.data(), d_, count_, factors_.data(), sum_.data(), d_);
    out.triangularView<Eigen::Lower>() += sum_;
    count_ = 0;
  }

 private:
  static constexpr Index kShort = 8, kGathered = 64;

  void gather(const double* x, double factor, MatRef out) {
    if (count_ == kGathered) finish(out);
    std::copy(x, x + d_, columns_.data() + count_ * d_);
    factors_[count_++] = factor;
  }

  Index d_ = 0, count_ = 0;
  std::vector<double> columns_, factors_;
  WeightedGram squares_;
  Mat sum_;
};

}  // namespace bsvm
