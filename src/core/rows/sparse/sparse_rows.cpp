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

SparseRows::SparseRows(const SparseColumns& sparse, Index n, const std::vector<int>& order,
                       const std::vector<int>& place)
    : row_start(n + 1, 0), column_start(1, 0) {
  const int size = sparse.columns > 0 ? sparse.start[sparse.columns] : 0;
  const auto place_of = [&](int k) { return place.empty() ? sparse.row[k] : place[sparse.row[k]]; };
  const auto value_of = [&](int k) { return sparse.value ? sparse.value[k] : 0; };
  position.resize(size);
  row_value.resize(size);
  for (auto* part : {&row, &later, &end}) part->reserve(size);
  value.reserve(size);
  column_start.reserve(order.size() + 1);
  for (int k = 0; k < size; ++k) ++row_start[place_of(k) + 1];
  std::partial_sum(row_start.begin(), row_start.end(), row_start.begin());
  std::vector<int> next(row_start.begin(), row_start.end() - 1), entries;
  for (size_t at = 0; at < order.size(); ++at) {
    entries.clear();
    for (int k = sparse.start[order[at]]; k < sparse.start[order[at] + 1]; ++k)
      entries.push_back(k);
    std::sort(entries.begin(), entries.end(),
              [&](int a, int b) { return place_of(a) < place_of(b); });
    for (int k : entries) {
      const int i = place_of(k), to = next[i]++;
      position[to] = static_cast<int>(at);
      row_value[to] = value_of(k);
      row.push_back(i);
      value.push_back(value_of(k));
      later.push_back(to + 1);
      end.push_back(row_start[i + 1]);
    }
    column_start.push_back(static_cast<int>(row.size()));
  }
}

std::vector<int> row_order(const SparseColumns& sparse, Index n, const std::vector<int>& order) {
  std::vector<int> out;
  std::vector<char> placed(n, 0);
  out.reserve(n);
  for (int column : order)
    for (int k = sparse.start[column]; k < sparse.start[column + 1]; ++k) {
      if (!placed[sparse.row[k]]) out.push_back(sparse.row[k]);
      placed[sparse.row[k]] = 1;
    }
  for (Index i = 0; i < n; ++i)
    if (!placed[i]) out.push_back(static_cast<int>(i));
  return out;
}

Graph level_graph(const SparseColumns& sparse, Index n, const Levels& levels) {
  std::vector<int> order(sparse.columns);
  std::iota(order.begin(), order.end(), 0);
  const SparseRows rows(sparse, n, order, {});
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
