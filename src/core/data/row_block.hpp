#pragma once
#include "base/types.hpp"

namespace bsvm {

// Rows gathered in working order.
struct RowData {
  Mat c;  // (p, r) dense design, a row contiguous; three more, which kernels may read
  Mat z;  // (q, r) group multipliers
  Arr y, weight, offset;  // (r)
  Mat left_over;          // (r, leaving), if there are any

  RowData(Index p, Index q, Index rows);
};

// One pass's scratch for the rows of one block, reused for all.
struct RowBlock {
  Index p, r = 0;
  RowData own;      // what the next four look at, unless it is kept elsewhere
  double* c;        // unknown predictors are put into it
  const double *z, *y, *weight;
  Mat left_over;    // (r, leaving)
  Mat centred;      // (p, r) c - B_g' z
  Mat columns;      // (p, r + q groups) what the reduced precision is a sum over
  Arr m, v;         // (r)

  RowBlock(Index p, Index q, Index rows, Index groups);

  // Rows from `first` of these data on.
  void look_at(RowData& data, Index first, Index rows);
  Eigen::Map<const Mat> design() const { return {c, p, r}; }  // (p, r)
};

}  // namespace bsvm
