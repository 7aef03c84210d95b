#include "column_moments.hpp"

#include <algorithm>
#include <limits>

namespace bsvm {

namespace {

constexpr Index kLeaf = 2048;

}  // namespace

ColumnMoments::ColumnMoments(Index columns)
    : columns_(columns), values_(kLeaf, columns), weights_(kLeaf),
      least_(Arr::Constant(columns, std::numeric_limits<double>::infinity())),
      most_(-least_) {}

void ColumnMoments::add(const double* x, Index n, const double* weight) {
  for (Index first = 0; first < n;) {
    const Index size = std::min(kLeaf - rows_, n - first);
    for (Index j = 0; j < columns_; ++j)
      std::copy(x + j * n + first, x + j * n + first + size, values_.col(j).data() + rows_);
    if (weight) std::copy(weight + first, weight + first + size, weights_.data() + rows_);
    else weights_.segment(rows_, size).setOnes();
    rows_ += size;
    first += size;
    if (rows_ == kLeaf) end_leaf();
  }
}

ColumnMoments::Node ColumnMoments::leaf() const {
  const auto weights = weights_.head(rows_);
  Node out{weights.sum(), Arr(columns_), Arr(columns_)};
  for (Index j = 0; j < columns_; ++j) {
    const auto x = values_.col(j).head(rows_).array();
    out.mean[j] = out.weight > 0 ? (weights * x).sum() / out.weight : 0;
    out.squares[j] = (weights * (x - out.mean[j]).square()).sum();
  }
  return out;
}

ColumnMoments::Node ColumnMoments::together(const Node& a, const Node& b) {
  Node out{a.weight + b.weight, a.mean, a.squares};
  if (out.weight == 0) return out;
  const Arr apart = b.mean - a.mean;
  out.mean += apart * (b.weight / out.weight);
  out.squares += b.squares + apart.square() * (a.weight * (b.weight / out.weight));
  return out;
}

void ColumnMoments::end_leaf() {
  const auto rows = values_.topRows(rows_).array();
  least_ = least_.min(rows.colwise().minCoeff().transpose());
  most_ = most_.max(rows.colwise().maxCoeff().transpose());
  nodes_.push_back(leaf());
  rows_ = 0;
  // As in a binary counter: two subtrees of a size make one of twice that.
  for (Index k = ++leaves_; k % 2 == 0; k /= 2) {
    const Node last = std::move(nodes_.back());
    nodes_.pop_back();
    nodes_.back() = together(nodes_.back(), last);
  }
}

ColumnMoments::Sums ColumnMoments::sums() const {
  ColumnMoments whole = *this;
  if (whole.rows_ > 0) whole.end_leaf();
  std::vector<Node>& nodes = whole.nodes_;
  while (nodes.size() > 1) {
    const Node last = std::move(nodes.back());
    nodes.pop_back();
    nodes.back() = together(nodes.back(), last);
  }
  if (nodes.empty()) nodes.push_back(leaf());
  return {nodes[0].weight, nodes[0].mean, nodes[0].squares, whole.least_, whole.most_};
}

}  // namespace bsvm
