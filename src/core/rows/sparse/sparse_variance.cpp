#include "sparse_variance.hpp"

#include <algorithm>
#include <functional>

#include "base/error.hpp"
#include "linalg/kernels.hpp"
#include "sparse_rows.hpp"

namespace bsvm {

namespace {

// L y = c for sparse c: only columns that c leads to are visited, from the first on.
class Spread {
 public:
  Spread(const SparseFactor& factor, Index size)
      : factor_(factor), value_(Vec::Zero(size)), waiting_(factor.leading, 0) {}

  void add(Index position, double value) {
    value_[position] += value;
    if (position >= factor_.leading || waiting_[position]) return;
    waiting_[position] = 1;
    heap_.push_back(position);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<Index>());
  }

  // The squared length of the leading y; what is left for the root goes to `rest`.
  double eliminate(Eigen::Ref<Vec> rest) {
    double sum = 0;
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<Index>());
      const Index k = heap_.back();
      heap_.pop_back();
      const int first = factor_.start[k], last = factor_.start[k + 1];
      const double y = value_[k] / factor_.value[first];
      sum += y * y;
      value_[k] = 0;
      waiting_[k] = 0;
      for (int t = first + 1; t < last; ++t) add(factor_.row[t], -y * factor_.value[t]);
    }
    rest = value_.tail(rest.size());
    value_.tail(rest.size()).setZero();
    return sum;
  }

 private:
  const SparseFactor& factor_;
  Vec value_;
  std::vector<char> waiting_;
  std::vector<Index> heap_;  // positions with a number, the least first
};

void require(bool good, const char* argument, const char* message) {
  if (!good) throw InvalidInput(argument, message);
}

// `start` of columns + 1, and all rows below `rows`.
template <class Start, class Row>
bool compressed(const Start& start, const Row& row, Index columns, Index rows) {
  if (columns > 0 && start[0] != 0) return false;
  for (Index j = 0; j < columns; ++j) {
    if (start[j] > start[j + 1] || start[j + 1] > start[columns]) return false;
    for (int t = start[j]; t < start[j + 1]; ++t)
      if (row[t] < 0 || row[t] >= rows) return false;
  }
  return true;
}

bool lower_triangular(const SparseFactor& factor) {
  for (Index k = 0; k < factor.leading; ++k)
    for (int t = factor.start[k]; t < factor.start[k + 1]; ++t)
      if (t == factor.start[k] ? factor.row[t] != k : factor.row[t] <= k) return false;
  return true;
}

bool permutation(const std::vector<int>& order) {
  std::vector<char> seen(order.size(), 0);
  for (int j : order) {
    if (j < 0 || j >= static_cast<int>(order.size()) || seen[j]) return false;
    seen[j] = 1;
  }
  return true;
}

void check(const SparseFactor& factor, ConstMatRef root_inverse, const SparseColumns& z,
           ConstMatRef x) {
  const Index columns = static_cast<Index>(factor.order.size()), lead = factor.leading;
  const Index size = static_cast<Index>(factor.row.size());
  require(permutation(factor.order) && lead >= 0 && lead <= columns &&
              static_cast<Index>(factor.start.size()) == lead + 1 &&
              factor.start[lead] == size &&
              static_cast<Index>(factor.value.size()) == size &&
              compressed(factor.start, factor.row, lead, columns + x.cols()) &&
              lower_triangular(factor),
          "factor", "The factor's columns must be lower triangular, with the diagonal first.");
  require(root_inverse.rows() == root_inverse.cols() && z.columns == columns &&
              root_inverse.cols() == columns - lead + x.cols(),
          "factor", "The factor and the rows must have the same columns.");
  require(compressed(z.start, z.row, columns, x.rows()), "sparse",
          "The sparse columns must be compressed by column.");
}

}  // namespace

Vec linear_variances(const SparseFactor& factor, ConstMatRef root_inverse,
                     const SparseColumns& z, ConstMatRef x, Host& host) {
  check(factor, root_inverse, z, x);
  const Index n = x.rows(), p = x.cols(), columns = z.columns, root = root_inverse.rows();
  const Index length = std::clamp<Index>(100000000 / (root * root + 1) / 4 * 4, 4, 256);
  const SparseRows rows(z, n, factor.order, {});
  std::vector<double> packed(packed_size(root, root));
  pack_block(root_inverse.data(), root_inverse.outerStride(), root, root, nullptr, packed.data());
  Spread spread(factor, columns + p);
  Mat rest = Mat::Zero(root, length);
  Vec out(n);
  for (Index first = 0; first < n; first += length) {
    if (host.interrupted()) throw Interrupted();
    const Index r = std::min(length, n - first);
    for (Index i = 0; i < r; ++i) {
      for (int t = rows.row_start[first + i]; t < rows.row_start[first + i + 1]; ++t)
        spread.add(rows.position[t], rows.row_value[t]);
      for (Index j = 0; j < p; ++j) spread.add(columns + j, x(first + i, j));
      out[first + i] = spread.eliminate(rest.col(i));
    }
    kernels().variances(packed.data(), rest.data(), root, r, out.data() + first);
  }
  return out;
}

}  // namespace bsvm
