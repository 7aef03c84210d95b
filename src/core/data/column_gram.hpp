#pragma once
#include "linalg/weighted_gram.hpp"

namespace bsvm {

// X'X of columns whose rows come in parts. Each 2048 rows are added at once, so that the bits of an
// entry depend on the rows of its two columns in their order, and not on how they are cut into parts or
// on what columns stand beside.
class ColumnGram {
 public:
  explicit ColumnGram(Index columns);

  void add(const double* x, Index n);  // (n, columns) by column
  Mat sum() const;                     // (columns, columns)

 private:
  void end_leaf();

  Index columns_, rows_ = 0;  // of the open leaf
  Mat values_;                // (columns, 2048)
  Arr ones_;
  Mat sum_;                   // lower triangle
  WeightedGram squares_;
};

}  // namespace bsvm
