#pragma once
#include <vector>

#include "sparse_order.hpp"

namespace bsvm {

// Where the Cholesky factor of a symmetric matrix over `columns` sparse columns and then
// `dense` dense ones, which are tied to all, is not zero. The leading columns are sparse and
// stored; the rest, the root, is one dense matrix. Positions count in the order of elimination.
struct SparsePattern {
  Index columns = 0, leading = 0, dense = 0;
  std::vector<int> order, position;  // position -> column and back
  // Every leading column is stored full from this position on: where the dense columns
  // begin, or where the root does, if most of its entries there are not zero.
  Index tail_start = 0;
  std::vector<Index> start;  // (leading + 1) of each leading column in `row`
  std::vector<Index> root_start;  // (leading) its first row that is in the root
  std::vector<int> row;      // below the diagonal and before tail_start, increasing

  Index root() const { return columns + dense - leading; }
  Index tail() const { return columns + dense - tail_start; }
  Index integers() const;  // how many it holds
};

// An order of the nodes, how many of them lead, and whether their columns are stored full in
// the root. (A node that is tied to all later ones does not lead.)
struct Choice {
  std::vector<int> order;
  Index lead;
  bool full;
};

// A node of the graph stands for `weight` columns which adjoin: columns go by node.
SparsePattern pattern_of(const Graph& graph, const std::vector<int>& weight, Index dense,
                         const Choice& choice);

// The choice that promises to be fastest. Two orders are tried: minimum degree, and the same
// with the nodes that are `late` after the others (none: not tried). Where two factors are
// crossed at random, minimum degree alone eliminates some levels of both and is left with
// most of both.
SparsePattern analyse(const Graph& graph, const std::vector<int>& weight, Index dense,
                      const std::vector<char>& late);

// The root is the nodes that stay, in their own order, whatever else were faster: others have them, too.
SparsePattern pattern_before(const Graph& graph, const std::vector<int>& weight, Index dense,
                             const std::vector<char>& stays);

}  // namespace bsvm
