#pragma once
#include <vector>

#include "base/host.hpp"
#include "model/problem.hpp"

namespace bsvm {

// Rows one after another, for a Design: c (dense, N), and the entries of the other columns by row.
struct DesignRows {
  Index dense = 0;
  std::vector<double> c, kink, cost;
  std::vector<Index> start{0};
  std::vector<int> at;
  std::vector<double> value;
};

// All rows and columns of a Problem at once, as its likelihood's atoms see them: minus log p is
//
//   sum_i cost_i (kink_i - (A b)_i)_+
//
// where row i of A is minus the atom's sign times the problem's row. A problem's n rows come atom by
// atom: N rows here. Columns are the dense ones, then the effects by term, level, effect; b is on the inside
// scale.
class Design {
 public:
  explicit Design(const Problem& problem);
  Design(DesignRows rows, Vec unit);

  Index rows() const { return kink.size(); }
  Index columns() const { return unit.size(); }
  Index dense() const { return dense_.rows(); }  // how many columns come first and are dense

  Vec times(ConstVecRef b) const;       // (N) A b
  Vec transposed(ConstVecRef a) const;  // (P) A'a
  Vec column_squares(ConstVecRef weight) const;  // (P) sum_i weight_i A_ij^2
  Vec row_squares(ConstVecRef weight) const;     // (N) sum_j weight_j A_ij^2
  Mat columns_at(const std::vector<Index>& chosen) const;  // (N, chosen)

  // A row's dense numbers, and its entries in other columns, which count from 0.
  struct Line {
    const int* at;
    const double* value;
    Index size;
  };
  const double* dense_row(Index i) const { return dense_.data() + i * dense_.rows(); }
  Line others(Index i) const {
    const Index first = by_row_.start[i];
    return {by_row_.at.data() + first, by_row_.value.data() + first, by_row_.start[i + 1] - first};
  }

  // Adds A_F' diag(weight) A_F to the lower triangle of `out`, F the chosen columns, increasing.
  void add_gram(const std::vector<Index>& chosen, ConstVecRef weight, Mat& out, Host& host) const;
  // Adds A diag(weight) A' to the lower triangle of `out` (N, N).
  void add_row_gram(ConstVecRef weight, Mat& out, Host& host) const;

  // The same rows with some of the columns, increasing.
  Design select(const std::vector<Index>& chosen) const;

  Vec kink;  // (N) sign_i (offset_i - place_i)
  Vec cost;  // (N) the atom's, times the row's weight
  Vec unit;  // (P) outside coefficient = inside one times it

 private:
  struct Entries {  // by row or by column
    std::vector<Index> start{0};
    std::vector<int> at;
    std::vector<double> value;

    void append(const Entries& from, Index j);  // its column j
  };

  Design() = default;
  Vec take_atoms(const Problem& problem);  // (N) minus the sign of each
  void add_dense(const Problem& problem, const Vec& turn);
  void add_groups(const Problem& problem, const Vec& turn);
  void add_sparse(const Problem& problem, const Vec& turn);
  static Entries turned(const Entries& from, Index lines);  // by column what was by row, or back
  void add_row(Index i, ConstVecRef c, const std::vector<Index>& place, double weight,
               Mat& out) const;
  Mat dense_rows(const std::vector<Index>& chosen, Index first, Index r) const;

  Mat dense_;          // (dense, N)
  Entries by_column_;  // of the others
  Entries by_row_;
};

}  // namespace bsvm
