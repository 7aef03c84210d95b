#pragma once
#include "base/error.hpp"
#include "block.hpp"

namespace bsvm {

[[noreturn]] inline void refuse_elsewhere() {
  throw InvalidInput("cluster", "This way of fitting needs all rows in this process, and they are "
                                "elsewhere.");
}

// Columns whose rows are not in this process's memory. What reads rows itself, and not through a
// RowSource, is refused when it comes here.
class ElsewhereBlock : public Block {
 public:
  // unit (columns): as the blocks where the rows are have it.
  explicit ElsewhereBlock(Vec unit) : unit_(std::move(unit)) {}

  Index columns() const override { return unit_.size(); }
  const Vec& unit() const override { return unit_; }
  void fill(const int*, Index, const State&,
            Eigen::Ref<Mat, 0, Eigen::OuterStride<>>) const override {
    refuse_elsewhere();
  }

 private:
  Vec unit_;
};

}  // namespace bsvm
