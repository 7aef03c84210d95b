#pragma once
#include <vector>

#include "design.hpp"

namespace bsvm {

// (A' diag(theta) A + diag(d)) x = v where the columns that are not dense fall into small sets, the
// levels, of which each row has entries of one alone: effects of a grouping factor. They are
// eliminated level by level. With z of a row the entries of its level, M = Z'Theta Z + D and
// B = M^{-1} Z'Theta A_d there, the dense columns keep
//
//   S = D_d + sum_i theta_i (a_i - B'z_i)(a_i - B'z_i)' + sum B'D B
//
// a sum of positive terms, in which nothing cancels however large some theta are. A few rows may have
// entries of all levels; they follow as a change of low rank.
class LevelEquations {
 public:
  explicit LevelEquations(const Design& design);
  bool suits() const { return suits_; }

  // False where the factor can't be had. Throws Interrupted.
  bool set(ConstVecRef theta, ConstVecRef d, Host& host);
  Vec solve(ConstVecRef v) const;

 private:
  void find_levels();
  bool set_levels(ConstVecRef theta, ConstVecRef d);
  bool set_dense(ConstVecRef theta, ConstVecRef d, Host& host);
  void set_wide(ConstVecRef theta);
  void solve_level(std::size_t level, double* x) const;
  Vec solve_narrow(ConstVecRef v) const;
  Vec wide_row(Index row) const;  // (P)

  const Design& design_;
  bool suits_ = false;
  std::vector<std::vector<int>> levels_;  // their columns, from 0 among those that are not dense
  std::vector<int> place_;                // of such a column in its level
  std::vector<int> level_;                // of such a column
  std::vector<Index> wide_;               // rows
  std::vector<std::size_t> first_;        // of a level's factor in `factors_`
  std::vector<double> factors_;           // of M, lower, each (m, m)
  Mat regression_;                        // B' (dense, other columns)
  Mat dense_factor_;                      // of S
  Mat wide_solved_, wide_factor_;         // M^{-1} A_w' (P, w), that of the change (w, w)
};

}  // namespace bsvm
