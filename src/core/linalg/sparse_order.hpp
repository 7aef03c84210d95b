#pragma once
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// Neighbours of every node, without itself, in both directions.
struct Graph {
  std::vector<Index> start;    // (nodes + 1)
  std::vector<int> neighbour;

  Index nodes() const { return static_cast<Index>(start.size()) - 1; }
  Index degree(Index node) const { return start[node + 1] - start[node]; }
};

// An order to eliminate the nodes in (position -> node) that makes few new neighbours:
// approximate minimum degree (Amestoy, Davis & Duff 1996). A node stands for `weight`
// columns. Nodes with far more neighbours than others (a factor of few levels) go last.
std::vector<int> elimination_order(const Graph& graph, const std::vector<int>& weight);

// The same with those that are `late` after the others.
std::vector<int> elimination_order(const Graph& graph, const std::vector<int>& weight,
                                   const std::vector<char>& late);

// The nodes that do not stay, in such an order, and then those that do in their own.
std::vector<int> order_before(const Graph& graph, const std::vector<int>& weight,
                              const std::vector<char>& stays);

}  // namespace bsvm
