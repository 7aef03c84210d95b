#pragma once
#include <vector>

#include "../linalg/sparse_order.hpp"
#include "../model/problem.hpp"

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

// The sparse columns Z, by row and by column; columns are known by their position in an order.
struct SparseRows {
  std::vector<int> row_start, position;  // (n + 1); increasing within a row
  std::vector<double> value;             // by row
  std::vector<int> column_start, row;    // (columns + 1); increasing within a column
  std::vector<int> entry;                // by column: where the number stands by row

  SparseRows(const SparseColumns& sparse, Index n, const std::vector<int>& order);
};

// Levels that occur in the same row.
Graph level_graph(const SparseColumns& sparse, Index n, const Levels& levels);

// All levels but those of the largest factor whose own levels never meet, or none.
std::vector<char> late_levels(const Graph& graph, const Levels& levels);

}  // namespace bsvm
