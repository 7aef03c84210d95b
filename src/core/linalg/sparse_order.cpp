#include "sparse_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bsvm {

namespace {

// Eliminating a node makes its neighbours a clique. The clique is kept as an element, a list
// of nodes, instead of its edges; nodes with the same neighbours are merged and go together.
class MinimumDegree {
 public:
  // elements: cliques there are already, beside the graph's edges.
  MinimumDegree(const Graph& graph, const std::vector<int>& weight,
                std::vector<std::vector<int>> elements);

  std::vector<int> run();

 private:
  // A node's elements, then its other neighbours: list_[start_] .. of these lengths. They
  // only ever get shorter.
  struct Lists {
    Index start;
    int elements, nodes;
  };

  void fill_lists(const Graph& graph);
  void find_degrees();
  int pick();
  void eliminate(int pivot);
  void gather_boundary(int pivot);
  void measure_overlaps();
  bool shorten_lists(int node, int element);  // false: nothing is left but the element
  void merge_equals();
  bool equal(int a, int b);
  void merge(int from, int into);
  void finish(int element);
  void put(int node);
  void take(int node);

  Index n_, columns_ = 0, left_ = 0;  // nodes; columns, and those not yet eliminated
  std::vector<Lists> lists_;
  std::vector<int> list_;
  std::vector<int> weight_;                // columns of a node, 0 once it is gone or merged
  std::vector<std::vector<int>> element_;  // nodes of an element; empty once absorbed
  std::vector<Index> size_;                // their columns
  std::vector<Index> degree_;              // a bound on the columns a node is tied to
  std::vector<Index> mark_, overlap_;      // stamps of nodes; of elements
  std::vector<std::size_t> hash_;
  std::vector<int> head_, next_, previous_;  // nodes by degree
  std::vector<int> bucket_, chain_;          // nodes by hash
  std::vector<int> member_, last_member_;    // nodes merged into one
  Index stamp_ = 0, least_ = 0;
  std::vector<int> boundary_, order_;
};

MinimumDegree::MinimumDegree(const Graph& graph, const std::vector<int>& weight,
                             std::vector<std::vector<int>> elements)
    : n_(graph.nodes()), lists_(n_), weight_(weight), element_(n_), degree_(n_, 0),
      hash_(n_, 0), next_(n_, -1), previous_(n_, -1), bucket_(n_, -1), chain_(n_, -1),
      member_(n_, -1), last_member_(n_) {
  std::move(elements.begin(), elements.end(), std::back_inserter(element_));
  const int known = static_cast<int>(element_.size());
  size_.assign(known, 0);
  mark_.assign(n_, 0);
  overlap_.assign(known, 0);
  left_ = columns_ = std::accumulate(weight.begin(), weight.end(), Index(0));
  head_.assign(left_ + 1, -1);
  std::iota(last_member_.begin(), last_member_.end(), 0);
  fill_lists(graph);
  find_degrees();
  for (Index i = n_ - 1; i >= 0; --i) put(static_cast<int>(i));
}

// Elements, whose columns are counted, and neighbours.
void MinimumDegree::fill_lists(const Graph& graph) {
  std::vector<int> count(n_, 0);
  for (const std::vector<int>& e : element_)
    for (int i : e) ++count[i];
  Index length = 0;
  for (Index i = 0; i < n_; ++i) {
    lists_[i] = {length, 0, static_cast<int>(graph.degree(i))};
    length += count[i] + graph.degree(i);
  }
  list_.resize(length);
  for (int e = static_cast<int>(n_); e < static_cast<int>(element_.size()); ++e)
    for (int i : element_[e]) {
      list_[lists_[i].start + lists_[i].elements++] = e;
      size_[e] += weight_[i];
    }
  for (Index i = 0; i < n_; ++i) {
    const Lists& own = lists_[i];
    const auto from = graph.neighbour.begin() + graph.start[i];
    std::copy(from, from + own.nodes, list_.begin() + own.start + own.elements);
  }
}

// What elements share counts more than once.
void MinimumDegree::find_degrees() {
  for (Index i = 0; i < n_; ++i) {
    const Lists& own = lists_[i];
    const int* list = list_.data() + own.start;
    for (int k = 0; k < own.elements; ++k) degree_[i] += size_[list[k]] - weight_[i];
    for (int k = own.elements; k < own.elements + own.nodes; ++k) degree_[i] += weight_[list[k]];
    degree_[i] = std::min(degree_[i], left_ - weight_[i]);
  }
}

void MinimumDegree::put(int node) {
  const Index d = degree_[node];
  next_[node] = head_[d];
  previous_[node] = -1;
  if (head_[d] >= 0) previous_[head_[d]] = node;
  head_[d] = node;
  least_ = std::min(least_, d);
}

void MinimumDegree::take(int node) {
  if (next_[node] >= 0) previous_[next_[node]] = previous_[node];
  if (previous_[node] >= 0) next_[previous_[node]] = next_[node];
  else head_[degree_[node]] = next_[node];
}

int MinimumDegree::pick() {
  while (head_[least_] < 0) ++least_;
  return head_[least_];
}

std::vector<int> MinimumDegree::run() {
  order_.reserve(n_);
  while (static_cast<Index>(order_.size()) < n_) eliminate(pick());
  return std::move(order_);
}

void MinimumDegree::eliminate(int pivot) {
  take(pivot);
  gather_boundary(pivot);
  measure_overlaps();
  for (int i : boundary_)
    if (!shorten_lists(i, pivot)) merge(i, pivot);
  merge_equals();
  finish(pivot);
}

// The nodes that the pivot is tied to; its elements become part of the new one.
void MinimumDegree::gather_boundary(int pivot) {
  const Lists& own = lists_[pivot];
  const Index stamp = stamp_ += columns_ + 1;  // beyond every overlap there was
  boundary_.clear();
  const auto add = [&](int i) {
    if (weight_[i] == 0 || i == pivot || mark_[i] == stamp) return;
    mark_[i] = stamp;
    boundary_.push_back(i);
  };
  for (int k = 0; k < own.elements + own.nodes; ++k) {
    const int other = list_[own.start + k];
    if (k >= own.elements) {
      add(other);
      continue;
    }
    for (int i : element_[other]) add(i);
    std::vector<int>().swap(element_[other]);
  }
  for (int i : boundary_) take(i);
}

// overlap - stamp: the columns of an element that are not in the boundary.
void MinimumDegree::measure_overlaps() {
  const Index base = stamp_;
  for (int i : boundary_)
    for (int k = 0; k < lists_[i].elements; ++k) {
      const int e = list_[lists_[i].start + k];
      if (element_[e].empty()) continue;
      if (overlap_[e] < base) overlap_[e] = base + size_[e];
      overlap_[e] -= weight_[i];
    }
}

// What is gone, or has become part of the new element, is taken off; that comes first.
//   base      the stamp: mark_ of what is in the boundary; overlap_ less it: columns outside it
//   degree    the bound: columns outside the boundary, element by element, and neighbours'
//   hash      of what is left, the same for nodes with the same lists
//   to        where the next that stays goes
bool MinimumDegree::shorten_lists(int node, int element) {
  Lists& own = lists_[node];
  const Index base = stamp_;
  int* list = list_.data() + own.start;
  const int end = own.elements + own.nodes;
  std::size_t hash = 0;
  Index degree = 0;
  int to = 0;
  for (int k = 0; k < own.elements; ++k) {
    const int e = list[k];
    if (element_[e].empty()) continue;
    if (overlap_[e] == base) {  // all of it is in the new element
      std::vector<int>().swap(element_[e]);
      continue;
    }
    degree += overlap_[e] - base;
    hash += static_cast<std::size_t>(e);
    list[to++] = e;
  }
  const int elements = to;
  for (int k = own.elements; k < end; ++k) {
    const int i = list[k];
    if (weight_[i] == 0 || mark_[i] == base || i == element) continue;
    degree += weight_[i];
    hash += static_cast<std::size_t>(i);
    list[to++] = i;
  }
  if (to == 0) return false;
  list[to] = list[elements];  // there is room: the pivot or one of its elements has gone
  list[elements] = list[0];
  list[0] = element;
  own.elements = elements + 1;
  own.nodes = to - elements;
  degree_[node] = std::min(degree_[node], degree);
  hash_[node] = hash % static_cast<std::size_t>(n_);
  return true;
}

// Nodes of the boundary with the same lists will always have the same neighbours.
void MinimumDegree::merge_equals() {
  for (int i : boundary_) {
    if (weight_[i] == 0) continue;
    int& first = bucket_[hash_[i]];
    int j = first;
    while (j >= 0 && !equal(i, j)) j = chain_[j];
    if (j >= 0) {
      merge(i, j);
      continue;
    }
    chain_[i] = first;
    first = i;
  }
  for (int i : boundary_) bucket_[hash_[i]] = -1;
}

bool MinimumDegree::equal(int a, int b) {
  const Lists &x = lists_[a], &y = lists_[b];
  if (x.elements != y.elements || x.nodes != y.nodes) return false;
  const auto sorted = [&](const Lists& own) {
    const auto from = list_.begin() + own.start;
    std::sort(from, from + own.elements);
    std::sort(from + own.elements, from + own.elements + own.nodes);
    return from;
  };
  const auto first = sorted(x);
  return std::equal(first, first + x.elements + x.nodes, sorted(y));
}

void MinimumDegree::merge(int from, int into) {
  weight_[into] += weight_[from];
  weight_[from] = 0;
  member_[last_member_[into]] = from;
  last_member_[into] = last_member_[from];
}

void MinimumDegree::finish(int element) {
  left_ -= weight_[element];
  weight_[element] = 0;
  for (int i = element; i >= 0; i = member_[i]) order_.push_back(i);
  std::vector<int>& own = element_[element];
  for (int i : boundary_) {
    if (weight_[i] == 0) continue;
    own.push_back(i);
    size_[element] += weight_[i];
  }
  for (int i : own) {
    degree_[i] = std::min(degree_[i] + size_[element], left_) - weight_[i];
    put(i);
  }
}

// The nodes with far more neighbours than most. Their lists would be looked through
// at every step, and they are eliminated late anyway.
std::vector<char> hubs_of(const Graph& graph) {
  std::vector<Index> degree(graph.nodes());
  if (degree.empty()) return {};
  for (Index i = 0; i < graph.nodes(); ++i) degree[i] = graph.degree(i);
  const auto middle = degree.begin() + graph.nodes() / 2;
  std::nth_element(degree.begin(), middle, degree.end());
  const Index most = std::max<Index>(16 * *middle, 128);
  std::vector<char> out(graph.nodes());
  for (Index i = 0; i < graph.nodes(); ++i) out[i] = graph.degree(i) > most;
  return out;
}

// A part of a graph: its nodes, and their numbers within it (-1 outside).
struct Part {
  std::vector<int> nodes, number, weight;
  Graph graph;
};

Part part_of(const Graph& graph, const std::vector<int>& weight,
             const std::vector<char>& late, bool wanted) {
  Part out;
  out.number.assign(graph.nodes(), -1);
  for (Index i = 0; i < graph.nodes(); ++i) {
    if ((late[i] != 0) != wanted) continue;
    out.number[i] = static_cast<int>(out.nodes.size());
    out.nodes.push_back(static_cast<int>(i));
    out.weight.push_back(weight[i]);
  }
  out.graph.start.push_back(0);
  for (int i : out.nodes) {
    for (Index k = graph.start[i]; k < graph.start[i + 1]; ++k)
      if (out.number[graph.neighbour[k]] >= 0)
        out.graph.neighbour.push_back(out.number[graph.neighbour[k]]);
    out.graph.start.push_back(static_cast<Index>(out.graph.neighbour.size()));
  }
  return out;
}

// The late nodes that each connected piece of the others ties together once it is gone.
std::vector<std::vector<int>> ties(const Graph& graph, const std::vector<char>& late,
                                   const std::vector<int>& number) {
  std::vector<std::vector<int>> out;
  std::vector<char> seen(late);
  std::vector<int> last(graph.nodes(), -1), waiting, tied;
  for (int first = 0; first < graph.nodes(); ++first) {
    if (seen[first]) continue;
    seen[first] = 1;
    waiting.assign(1, first);
    tied.clear();
    while (!waiting.empty()) {
      const int i = waiting.back();
      waiting.pop_back();
      for (Index k = graph.start[i]; k < graph.start[i + 1]; ++k) {
        const int other = graph.neighbour[k];
        if (late[other] && last[other] != first) tied.push_back(number[other]);
        if (late[other]) last[other] = first;
        if (!seen[other]) waiting.push_back(other);
        seen[other] = 1;
      }
    }
    if (tied.size() > 1) out.push_back(tied);
  }
  return out;
}

}  // namespace

std::vector<int> elimination_order(const Graph& graph, const std::vector<int>& weight) {
  return elimination_order(graph, weight, hubs_of(graph));
}

std::vector<int> elimination_order(const Graph& graph, const std::vector<int>& weight,
                                   const std::vector<char>& late) {
  const Part first = part_of(graph, weight, late, false);
  const Part then = part_of(graph, weight, late, true);
  std::vector<int> out;
  for (int i : MinimumDegree(first.graph, first.weight, {}).run()) out.push_back(first.nodes[i]);
  for (int i : MinimumDegree(then.graph, then.weight, ties(graph, late, then.number)).run())
    out.push_back(then.nodes[i]);
  return out;
}

std::vector<int> order_before(const Graph& graph, const std::vector<int>& weight,
                              const std::vector<char>& stays) {
  const Part first = part_of(graph, weight, stays, false);
  std::vector<int> out;
  for (int i : elimination_order(first.graph, first.weight)) out.push_back(first.nodes[i]);
  for (Index i = 0; i < graph.nodes(); ++i)
    if (stays[i]) out.push_back(static_cast<int>(i));
  return out;
}

}  // namespace bsvm
