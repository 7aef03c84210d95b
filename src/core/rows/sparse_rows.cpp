#include "sparse_rows.hpp"

#include <algorithm>
#include <numeric>

namespace bsvm {

Levels::Levels(const SparseColumns& sparse) {
  int first = 0, number = 0;
  for (const SparseTerm& each : sparse.terms) {
    const int q = static_cast<int>(each.effects);
    for (Index level = 0; level < each.levels; ++level) {
      for (int a = 0; a < q; ++a) {
        of.push_back(static_cast<int>(weight.size()));
        effect.push_back(first + a);
      }
      weight.push_back(q);
      term.push_back(number);
    }
    first_effect.insert(first_effect.end(), q, first);
    effects.insert(effects.end(), q, q);
    first += q;
    ++number;
  }
}

SparseRows::SparseRows(const SparseColumns& sparse, Index n, const std::vector<int>& order)
    : row_start(n + 1, 0), column_start(1, 0) {
  const int size = sparse.columns > 0 ? sparse.start[sparse.columns] : 0;
  position.resize(size);
  value.resize(size);
  row.reserve(size);
  entry.reserve(size);
  for (int k = 0; k < size; ++k) ++row_start[sparse.row[k] + 1];
  std::partial_sum(row_start.begin(), row_start.end(), row_start.begin());
  std::vector<int> next(row_start.begin(), row_start.end() - 1);
  for (size_t at = 0; at < order.size(); ++at) {
    for (int k = sparse.start[order[at]]; k < sparse.start[order[at] + 1]; ++k) {
      const int i = sparse.row[k], to = next[i]++;
      position[to] = static_cast<int>(at);
      value[to] = sparse.value[k];
      row.push_back(i);
      entry.push_back(to);
    }
    column_start.push_back(static_cast<int>(row.size()));
  }
}

Graph level_graph(const SparseColumns& sparse, Index n, const Levels& levels) {
  std::vector<int> order(sparse.columns);
  std::iota(order.begin(), order.end(), 0);
  const SparseRows rows(sparse, n, order);
  const int nodes = static_cast<int>(levels.weight.size());
  Graph out;
  out.start.push_back(0);
  std::vector<int> met(nodes, -1);
  Index column = 0;
  for (int level = 0; level < nodes; ++level) {
    met[level] = level;
    const int last = rows.column_start[column + levels.weight[level]];
    for (int k = rows.column_start[column]; k < last; ++k)
      for (int t = rows.row_start[rows.row[k]]; t < rows.row_start[rows.row[k] + 1]; ++t) {
        const int other = levels.of[rows.position[t]];
        if (met[other] == level) continue;
        met[other] = level;
        out.neighbour.push_back(other);
      }
    column += levels.weight[level];
    out.start.push_back(static_cast<Index>(out.neighbour.size()));
  }
  return out;
}

std::vector<char> late_levels(const Graph& graph, const Levels& levels) {
  if (levels.term.empty()) return {};
  std::vector<Index> size(levels.term.back() + 1, 0);
  for (Index i = 0; i < graph.nodes(); ++i) {
    const int term = levels.term[i];
    bool alone = size[term] >= 0;
    for (Index k = graph.start[i]; alone && k < graph.start[i + 1]; ++k)
      alone = levels.term[graph.neighbour[k]] != term;
    size[term] = alone ? size[term] + 1 : -1;
  }
  const auto largest = std::max_element(size.begin(), size.end());
  if (*largest <= 0 || size.size() == 1) return {};
  std::vector<char> out(graph.nodes());
  for (Index i = 0; i < graph.nodes(); ++i) out[i] = levels.term[i] != largest - size.begin();
  return out;
}

}  // namespace bsvm
