#pragma once
#include <vector>

#include "kernel.hpp"

namespace bsvm {

// Entry by entry the product of one or more kernels of the same variables; theta is theirs, one
// after the other. It is made from parts, so it is not in the registry. The mean of its diagonal is
// one if all but one of its factors have a diagonal of ones.
class Product : public Kernel {
 public:
  explicit Product(std::vector<std::unique_ptr<Kernel>> factors);

  Index variables() const override { return factors_[0]->variables(); }
  Index size() const override { return starts_.back(); }
  void values(const Mat& x, const Mat& v, ConstVecRef theta, Mat& out) const override;
  Vec diagonal(const Mat& x, ConstVecRef theta) const override;
  Vec pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const override;
  Vec diagonal_pull(const Mat& x, ConstVecRef theta, const Vec& weight) const override;
  Mat input_pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const override;

  Index factors() const { return static_cast<Index>(factors_.size()); }

 private:
  Vec own(ConstVecRef theta, Index k) const {
    return theta.segment(starts_[k], starts_[k + 1] - starts_[k]);
  }

  std::vector<std::unique_ptr<Kernel>> factors_;
  std::vector<Index> starts_;  // of each factor's theta, and the end
};

}  // namespace bsvm
