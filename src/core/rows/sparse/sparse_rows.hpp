#pragma once
#include <vector>

#include "linalg/sparse_order.hpp"
#include "model/problem.hpp"

namespace bsvm {

// What belongs together: a level of a factor with all its effects, or a sparse predictor.
// The columns of a level adjoin.
struct Levels {
  std::vector<int> weight;         // columns of each level
  std::vector<int> term;           // of each level
  std::vector<int> of, effect;     // (columns) a column's level, and its effect among all
  std::vector<int> first_effect;   // (effects) the first of the same term
  std::vector<int> effects;        // (effects) how many its term has

  explicit Levels(const SparseColumns& sparse);
};

// The sparse columns Z, by row and by column; columns are known by their position in an order,
// rows by their place in one. What a column's numbers need of their rows is kept with them,
// since going through a column is a walk all over the rows.
struct SparseRows {
  std::vector<int> row_start, position;  // (n + 1); increasing within a row
  std::vector<double> row_value;
  std::vector<int> column_start, row;    // (columns + 1); increasing within a column
  std::vector<double> value;
  std::vector<int> later, end;           // the same row's later columns: first .. last by row

  SparseRows() : row_start(1, 0), column_start(1, 0) {}  // none
  // place: of each row (n), or empty: as they are.
  SparseRows(const SparseColumns& sparse, Index n, const std::vector<int>& order,
             const std::vector<int>& place);
};

// An order of the rows (place -> row) in which those of the first columns adjoin.
std::vector<int> row_order(const SparseColumns& sparse, Index n, const std::vector<int>& order);

// Levels that occur in the same row.
Graph level_graph(const SparseColumns& sparse, Index n, const Levels& levels);

// All levels but those of the largest factor whose own levels never meet, or none.
std::vector<char> late_levels(const Graph& graph, const Levels& levels);

}  // namespace bsvm
