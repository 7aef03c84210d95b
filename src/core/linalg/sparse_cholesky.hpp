#pragma once
#include <functional>

#include "sparse_pattern.hpp"

namespace bsvm {

// Numbers in the leading columns of a pattern: of A, of its factor L, of the inverse S.
struct SparseValues {
  Vec diagonal;  // (leading)
  Vec below;     // as the pattern's `row`
  Mat tail;      // (tail, leading)

  SparseValues() = default;
  explicit SparseValues(const SparsePattern& pattern);
  void clear();
};

// Entries of the inverse S = A^{-1}: all of the root's block, both triangles, and of the
// leading columns those where L is not zero.
struct SparseInverse {
  SparseValues leading;
  Mat root;
};

// Asked now and then; may throw to stop.
using Poll = std::function<void()>;

// A -> L, leading columns only. Throws NumericalFailure unless all pivots are positive.
void factor(const SparsePattern& pattern, SparseValues& a, const Poll& poll);

// root (lower triangle) <- root - L_r L_r', with L_r the rows of the leading columns that are
// in the root: what is left to be factored.
void reduce(const SparsePattern& pattern, const SparseValues& l, MatRef root, const Poll& poll);

double log_determinant(const SparseValues& l);  // of L L', leading block

// For x (columns + dense) by position. forward: the leading x becomes L^{-1} x, the root's
// x - L_r L^{-1} x. backward: given the root's x, the leading x becomes L^{-T} (x - L_r' x_r).
void forward(const SparsePattern& pattern, const SparseValues& l, VecRef x);
void backward(const SparsePattern& pattern, const SparseValues& l, VecRef x);

// Fills s.leading from s.root (Takahashi's recursion): column j from the last to the first,
//   S_rj = -S_rr l,  S_jj = 1/L_jj^2 + l' S_rr l,  l = L_rj / L_jj, r the rows of column j.
void invert(const SparsePattern& pattern, const SparseValues& l, SparseInverse& s,
            const Poll& poll);

// tr(S A) - log det(S A), less what of it is the root's and less the number of leading columns,
// for S the inverse of L L' and A = N N': a sum of positive terms, one a column,
//   x^2 - 1 - log x^2 + e' S_rr e,  x = N_jj / L_jj,  e = N_rj - x L_rj.
double divergence(const SparsePattern& pattern, const SparseValues& l, const SparseInverse& s,
                  const SparseValues& next, const Poll& poll);

}  // namespace bsvm
