#pragma once
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// A lower triangular matrix (p, p), kept to be multiplied with many columns: in bands of rows, each as
// far as its last row goes.
class LowerBands {
 public:
  explicit LowerBands(ConstMatRef lower);

  // out (p, r) = M c, of c (p, r).
  void multiply(const Mat& c, Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const;

 private:
  struct Band {
    Index first, rows;
    std::vector<double> packed;
  };

  std::vector<Band> bands_;
};

}  // namespace bsvm
