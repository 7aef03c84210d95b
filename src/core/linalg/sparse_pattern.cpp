#include "sparse_pattern.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.hpp"

namespace bsvm {

namespace {

constexpr Index kMostEntries = 150000000;  // of the lists: 600 MB

// The factor's pattern by node, in the order of elimination. From node `full` on every node
// is tied to all that follow (or the lists would get too long), and none are kept.
struct NodePattern {
  std::vector<int> order, number;      // place -> node and back
  std::vector<std::vector<int>> below; // places, increasing
  Index full;
};

// A node's neighbours that come later, and those it inherits from the nodes whose first
// later neighbour it is; of the first `most` nodes.
NodePattern eliminate(const Graph& graph, std::vector<int> order, Index most) {
  const Index nodes = graph.nodes();
  NodePattern out;
  out.order = std::move(order);
  out.number.resize(nodes);
  for (Index k = 0; k < nodes; ++k) out.number[out.order[k]] = static_cast<int>(k);
  out.below.resize(nodes);
  std::vector<int> mark(nodes, -1), first_child(nodes, -1), sibling(nodes, -1);
  Index entries = 0;
  for (out.full = 0; out.full < most; ++out.full) {
    const int k = static_cast<int>(out.full), node = out.order[k];
    std::vector<int>& own = out.below[k];
    const auto add = [&](int later) {
      if (later <= k || mark[later] == k) return;
      mark[later] = k;
      own.push_back(later);
    };
    for (Index e = graph.start[node]; e < graph.start[node + 1]; ++e)
      add(out.number[graph.neighbour[e]]);
    for (int child = first_child[k]; child >= 0; child = sibling[child])
      for (int later : out.below[child]) add(later);
    entries += static_cast<Index>(own.size());
    if (static_cast<Index>(own.size()) == nodes - k - 1 || entries > kMostEntries) break;
    if (own.empty()) continue;
    std::sort(own.begin(), own.end());
    sibling[k] = first_child[own[0]];
    first_child[own[0]] = k;
  }
  return out;
}

// Nanoseconds a pass, by measurement: of leading columns with some entries in all, and of
// the root.
constexpr double kColumn = 100, kSparse = 2, kFull = 0.15;
double root_cost(double size) { return (0.045 * size + 6) * size * size; }

struct Root {
  Index lead;         // how many nodes lead
  double size, cost;  // columns of the root; nanoseconds a pass
};

// A long root is slow, but so is a sparse column with many entries.
Root choose(const NodePattern& pattern, const std::vector<int>& weight, Index columns,
            Index dense) {
  Root best{0, 0, std::numeric_limits<double>::infinity()};
  double sparse = 0, lead = 0;
  for (Index k = 0, rest = columns;; ++k) {
    const double size = static_cast<double>(rest + dense);
    const double full = (kFull * size * size + kColumn) * lead;
    const double cost = root_cost(size) + std::min(sparse, full);
    if (cost <= best.cost) best = {k, size, cost};
    if (k == pattern.full || k == static_cast<Index>(pattern.order.size())) return best;
    const double own = weight[pattern.order[k]];
    double entries = own + static_cast<double>(dense);
    for (int later : pattern.below[k]) entries += weight[pattern.order[later]];
    sparse += own * (kSparse * entries * entries + kColumn);
    lead += own;
    rest -= weight[pattern.order[k]];
  }
}

struct Expansion {
  std::vector<Index> first_column, first_position;  // of each node
};

// Leading nodes in their order, then the root's in that of the columns.
Expansion place(const NodePattern& pattern, const std::vector<int>& weight, Index lead,
                SparsePattern& out) {
  const Index nodes = static_cast<Index>(weight.size());
  Expansion at{std::vector<Index>(nodes), std::vector<Index>(nodes)};
  for (Index i = 0, column = 0; i < nodes; column += weight[i++]) at.first_column[i] = column;
  std::vector<int> order = pattern.order;
  std::sort(order.begin() + lead, order.end());
  for (Index k = 0; k < nodes; ++k) {
    if (k == lead) out.leading = static_cast<Index>(out.order.size());
    at.first_position[order[k]] = static_cast<Index>(out.order.size());
    for (int a = 0; a < weight[order[k]]; ++a)
      out.order.push_back(static_cast<int>(at.first_column[order[k]] + a));
  }
  if (lead == nodes) out.leading = out.columns;
  out.position.resize(out.columns);
  for (Index k = 0; k < out.columns; ++k) out.position[out.order[k]] = static_cast<int>(k);
  return at;
}

// Are so many entries of leading columns in the root not zero that all may be stored?
bool mostly_full(const NodePattern& pattern, const std::vector<int>& weight, const Root& root,
                 Index dense) {
  double sparse = 0, columns = 0;
  for (Index k = 0; k < root.lead; ++k) {
    double entries = static_cast<double>(dense);
    for (int later : pattern.below[k])
      if (later >= root.lead) entries += weight[pattern.order[later]];
    sparse += weight[pattern.order[k]] * entries * entries;
    columns += weight[pattern.order[k]];
  }
  return kSparse * sparse >= kFull * root.size * root.size * columns;
}

// The rows of a leading node's columns that come after the node itself.
std::vector<int> rows_after(const NodePattern& pattern, const std::vector<int>& weight,
                            const Expansion& at, Index k, Index end) {
  std::vector<int> out;
  for (int later : pattern.below[k]) {
    const int node = pattern.order[later];
    const Index first = at.first_position[node];
    for (Index a = first; a < first + weight[node] && a < end; ++a)
      out.push_back(static_cast<int>(a));
  }
  std::sort(out.begin(), out.end());
  return out;
}

void list_rows(const NodePattern& pattern, const std::vector<int>& weight, const Expansion& at,
               Index lead, SparsePattern& out) {
  out.start.assign(1, 0);
  for (Index k = 0; k < lead; ++k) {
    const int node = pattern.order[k];
    const std::vector<int> after = rows_after(pattern, weight, at, k, out.tail_start);
    const Index in_root =
        after.end() - std::lower_bound(after.begin(), after.end(), static_cast<int>(out.leading));
    for (int a = 0; a < weight[node]; ++a) {
      for (int b = a + 1; b < weight[node]; ++b)
        out.row.push_back(static_cast<int>(at.first_position[node] + b));
      out.row.insert(out.row.end(), after.begin(), after.end());
      out.start.push_back(static_cast<Index>(out.row.size()));
      out.root_start.push_back(out.start.back() - in_root);
    }
  }
}

SparsePattern expand(const NodePattern& pattern, const std::vector<int>& weight, Index dense,
                     Index lead, bool full) {
  SparsePattern out;
  out.columns = std::accumulate(weight.begin(), weight.end(), Index(0));
  out.dense = dense;
  const Expansion at = place(pattern, weight, lead, out);
  out.tail_start = full ? out.leading : out.columns;
  list_rows(pattern, weight, at, lead, out);
  return out;
}

}  // namespace

Index SparsePattern::integers() const {
  return static_cast<Index>(order.size() + position.size() + row.size() +
                            2 * (start.size() + root_start.size()));
}

SparsePattern pattern_of(const Graph& graph, const std::vector<int>& weight, Index dense,
                         const Choice& choice) {
  const NodePattern pattern = eliminate(graph, choice.order, graph.nodes());
  return expand(pattern, weight, dense, std::min(choice.lead, pattern.full), choice.full);
}

SparsePattern analyse(const Graph& graph, const std::vector<int>& weight, Index dense,
                      const std::vector<char>& late) {
  const Index columns = std::accumulate(weight.begin(), weight.end(), Index(0));
  NodePattern pattern = eliminate(graph, elimination_order(graph, weight), graph.nodes());
  Root root = choose(pattern, weight, columns, dense);
  const bool worth_while = root_cost(static_cast<double>(columns)) < 1e7 ||
                           root_cost(root.size) > 0.1 * root.cost;
  if (!late.empty() && worth_while) {
    NodePattern other = eliminate(graph, elimination_order(graph, weight, late), graph.nodes());
    const Root better = choose(other, weight, columns, dense);
    if (better.cost < root.cost) {
      root = better;
      pattern = std::move(other);
    }
  }
  return expand(pattern, weight, dense, root.lead,
                mostly_full(pattern, weight, root, dense));
}

SparsePattern pattern_before(const Graph& graph, const std::vector<int>& weight, Index dense,
                             const std::vector<char>& stays) {
  const Index lead = std::count(stays.begin(), stays.end(), 0), nodes = graph.nodes();
  NodePattern pattern = eliminate(graph, order_before(graph, weight, stays), lead);
  const double tied = static_cast<double>(lead - pattern.full) * static_cast<double>(nodes - pattern.full);
  if (tied > static_cast<double>(kMostEntries))
    throw InvalidInput("sparse", "Too many levels of crossed factors are in one file: their effects all "
                                 "depend on each other. Leave out a crossed factor.");
  for (Index k = pattern.full; k < lead; ++k) {
    pattern.below[k].resize(nodes - k - 1);
    std::iota(pattern.below[k].begin(), pattern.below[k].end(), static_cast<int>(k + 1));
  }
  Root root{lead, static_cast<double>(dense), 0};
  for (Index k = lead; k < nodes; ++k) root.size += weight[pattern.order[k]];
  return expand(pattern, weight, dense, lead, mostly_full(pattern, weight, root, dense));
}

}  // namespace bsvm
