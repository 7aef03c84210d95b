#pragma once
#include "model/problem.hpp"
#include "model/state.hpp"
#include "sparse_rows.hpp"

namespace bsvm {

// The whole design B = [C Z] (n, d), d = p dense columns and then the sparse ones, as an operator:
// for what never forms a matrix of coefficients or of rows. Vectors stand side by side as the rows
// of a matrix with kSide rows or one, so that a coefficient's numbers adjoin.
class SparseDesign {
 public:
  explicit SparseDesign(const Problem& problem);

  Index rows() const { return rows_; }
  Index dense() const { return dense_; }
  Index columns() const { return dense_ + static_cast<Index>(levels_.of.size()); }
  const Levels& levels() const { return levels_; }
  const Mat& dense_rows() const { return c_; }  // (p, n)

  Mat times(const Mat& x) const;             // (k, d) -> (k, n): B x
  Mat transposed_times(const Mat& t) const;  // (k, n) -> (k, d): B't

  // (d) sum over rows of w B^2.
  Vec weighted_squares(ConstVecRef w) const;
  // (n) B_i S B_i' with S block-diagonal: `dense` (p), of effects (q, q) as State::group_prior().
  Vec row_squares(ConstVecRef dense, const Mat& effects) const;

 private:
  Index rows_, dense_;
  Levels levels_;
  SparseRows sparse_;
  Mat c_;
};

constexpr Index kSide = 8;

// The prior's precision of all coefficients: diagonal for the dense ones, a block a level.
class LevelPrecision {
 public:
  LevelPrecision(const SparseDesign& design, ConstVecRef dense, const Mat& effects);

  const Vec& dense() const { return dense_; }
  const Mat& inverse() const { return inverse_; }    // (q, q)
  Vec diagonal() const;                              // (d)
  Mat times(const Mat& x) const;                     // D x, (k, d)
  Mat root_times(const Mat& x) const;                // R x with R R' = D
  Mat root_transposed_solve(const Mat& x) const;     // R^{-T} x
  Index effects() const { return effects_.rows(); }

 private:
  // The numbers of a level times a (q, q) matrix.
  Mat by_level(const Mat& x, const Vec& dense, const Mat& effects) const;

  const SparseDesign& design_;
  Vec dense_;
  Mat effects_, root_, inverse_, inverse_root_;
};

}  // namespace bsvm
