#pragma once
#include <vector>

#include "kernels.hpp"

namespace bsvm {

// Sums of factor_i x_i x_i' for the columns x_i of c (p, r), and the panels they need. Where no
// factor is negative one packing, of the roots, serves both sides.
class WeightedGram {
 public:
  // Adds to the lower triangle of a matrix with columns `stride` apart; what is above it means
  // nothing afterwards.
  void add(const double* c, Index p, Index r, const double* factor, double* sum, Index stride) {
    const Eigen::Map<const Arr> given(factor, r);
    const bool square = (given >= 0).all();
    plain_.resize(packed_size(p, r));
    if (square) root_ = given.sqrt();
    pack(c, p, r, square ? root_.data() : nullptr, plain_.data());
    if (!square) {
      weighted_.resize(plain_.size());
      pack(c, p, r, factor, weighted_.data());
    }
    PanelProduct of{plain_.data(), p, r, square ? plain_.data() : weighted_.data(),
                    p,             r, sum, stride};
    of.lower = true;
    kernels().product(of);
  }

 private:
  std::vector<double> plain_, weighted_;
  Arr root_;
};

}  // namespace bsvm
