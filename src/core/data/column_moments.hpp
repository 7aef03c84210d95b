#pragma once
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// Weighted means and sums of squares about them of columns whose rows come in parts. Each 2048 rows
// make a leaf, and leaves are combined two and two (Chan, Golub and LeVeque 1983), so that the bits
// depend on the rows in their order and not on how these are cut into parts.
class ColumnMoments {
 public:
  explicit ColumnMoments(Index columns);

  // x (n, columns) by column; weight (n) or null: all one.
  void add(const double* x, Index n, const double* weight);

  struct Sums {
    double weight = 0;
    Arr mean, squares, least, most;  // (columns) the last two: the bounds of the values
  };
  Sums sums() const;

 private:
  struct Node {
    double weight;
    Arr mean, squares;
  };
  void end_leaf();
  Node leaf() const;
  static Node together(const Node& a, const Node& b);

  Index columns_, rows_ = 0;  // of the open leaf
  Mat values_;                // (2048, columns)
  Arr weights_;               // (2048)
  Arr least_, most_;
  std::vector<Node> nodes_;   // complete subtrees, the largest first
  Index leaves_ = 0;
};

}  // namespace bsvm
