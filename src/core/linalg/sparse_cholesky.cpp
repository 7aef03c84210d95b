#include "sparse_cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "../error.hpp"
#include "cholesky.hpp"
#include "kernels.hpp"

namespace bsvm {

SparseValues::SparseValues(const SparsePattern& pattern)
    : diagonal(Vec::Zero(pattern.leading)),
      below(Vec::Zero(static_cast<Index>(pattern.row.size()))),
      tail(Mat::Zero(pattern.tail(), pattern.leading)) {}

void SparseValues::clear() {
  diagonal.setZero();
  below.setZero();
  tail.setZero();
}

namespace {

constexpr Index kBatch = 256;          // columns that go through a kernel together
constexpr Index kPatience = 20000000;  // operations between two questions to the host

// Asks once the work reported to it is enough.
class Patience {
 public:
  explicit Patience(const Poll& poll) : poll_(poll) {}
  void after(Index operations) {
    done_ += operations;
    if (done_ < kPatience) return;
    done_ = 0;
    poll_();
  }

 private:
  const Poll& poll_;
  Index done_ = 0;
};

[[noreturn]] void refuse() {
  throw NumericalFailure(
      "The precision of the group effects or sparse predictors is not positive definite to "
      "working accuracy. Rescale what multiplies them, drop columns that repeat others, or "
      "give them a tighter prior.");
}

// Left-looking: column j takes its updates from the columns before it that have an entry in
// row j. Those wait in a list for the row of their next entry.
class Waiting {
 public:
  explicit Waiting(const SparsePattern& pattern)
      : pattern_(pattern), first_(pattern.leading, -1), next_(pattern.leading, -1),
        at_(pattern.start.begin(), pattern.start.end()) {}

  // visit(column, entry in row j), and lets each wait for its next row.
  template <class Visit>
  void take(Index j, Visit visit) {
    for (Index k = first_[j]; k >= 0;) {
      const Index following = next_[k];
      visit(k, at_[k]);
      ++at_[k];
      put(k);
      k = following;
    }
  }

  void put(Index k) {
    if (at_[k] == pattern_.root_start[k]) return;
    const int row = pattern_.row[at_[k]];
    next_[k] = first_[row];
    first_[row] = k;
  }

 private:
  const SparsePattern& pattern_;
  std::vector<Index> first_, next_, at_;
};

}  // namespace

void factor(const SparsePattern& pattern, SparseValues& a, const Poll& poll) {
  Patience patience(poll);
  Waiting waiting(pattern);
  std::vector<double> column(pattern.tail_start, 0.0);  // by row
  const int* row = pattern.row.data();
  for (Index j = 0; j < pattern.leading; ++j) {
    const Index first = pattern.start[j], last = pattern.start[j + 1];
    for (Index t = first; t < last; ++t) column[row[t]] = a.below[t];
    waiting.take(j, [&](Index k, Index entry) {
      const double l = a.below[entry];
      a.diagonal[j] -= l * l;
      for (Index t = entry + 1; t < pattern.start[k + 1]; ++t)
        column[row[t]] -= l * a.below[t];
      a.tail.col(j) -= l * a.tail.col(k);
      patience.after(pattern.start[k + 1] - entry + a.tail.rows());
    });
    if (!(a.diagonal[j] > 0 && std::isfinite(a.diagonal[j]))) refuse();
    a.diagonal[j] = std::sqrt(a.diagonal[j]);
    for (Index t = first; t < last; ++t) {
      a.below[t] = column[row[t]] / a.diagonal[j];
      column[row[t]] = 0;
    }
    a.tail.col(j) /= a.diagonal[j];
    waiting.put(j);
  }
}

namespace {

// root <- root - T T', T the tails.
void reduce_tails(const Mat& tail, MatRef root, const Poll& poll) {
  const Index size = tail.rows();
  std::vector<double> packed(packed_size(size, std::min(kBatch, tail.cols())));
  Patience patience(poll);
  for (Index k = 0; k < tail.cols(); k += kBatch) {
    const Index width = std::min(kBatch, tail.cols() - k);
    pack(tail.data() + k * size, size, width, nullptr, packed.data());
    PanelProduct of{packed.data(), size, width, packed.data(), size, width, root.data(),
                    root.outerStride(), -1};
    of.lower = true;
    kernels().product(of);
    patience.after(size * size * width / 16);
  }
}

}  // namespace

void reduce(const SparsePattern& pattern, const SparseValues& l, MatRef root, const Poll& poll) {
  const Index size = pattern.tail(), sparse = pattern.tail_start - pattern.leading;
  reduce_tails(l.tail, root.bottomRightCorner(size, size), poll);
  if (sparse == 0) return;
  Patience patience(poll);
  for (Index j = 0; j < pattern.leading; ++j) {
    const Index first = pattern.root_start[j], last = pattern.start[j + 1];
    for (Index b = first; b < last; ++b) {
      double* column = root.data() + (pattern.row[b] - pattern.leading) * root.outerStride();
      double* by_position = column - pattern.leading;
      for (Index a = b; a < last; ++a) by_position[pattern.row[a]] -= l.below[a] * l.below[b];
      Eigen::Map<Vec>(column + sparse, size) -= l.below[b] * l.tail.col(j);
    }
    patience.after((last - first) * (last - first + size));
  }
}

double log_determinant(const SparseValues& l) { return 2 * l.diagonal.array().log().sum(); }

void forward(const SparsePattern& pattern, const SparseValues& l, VecRef x) {
  auto tail = x.tail(pattern.tail());
  for (Index j = 0; j < pattern.leading; ++j) {
    x[j] /= l.diagonal[j];
    for (Index t = pattern.start[j]; t < pattern.start[j + 1]; ++t)
      x[pattern.row[t]] -= l.below[t] * x[j];
    tail -= x[j] * l.tail.col(j);
  }
}

void backward(const SparsePattern& pattern, const SparseValues& l, VecRef x) {
  const auto tail = x.tail(pattern.tail());
  for (Index j = pattern.leading - 1; j >= 0; --j) {
    double sum = x[j] - l.tail.col(j).dot(tail);
    for (Index t = pattern.start[j]; t < pattern.start[j + 1]; ++t)
      sum -= l.below[t] * x[pattern.row[t]];
    x[j] = sum / l.diagonal[j];
  }
}

namespace {

// S_rr times vectors on the rows r of leading columns. Where columns are stored full in the
// root, the root's share of the products is found for many at once, before.
class InverseProduct {
 public:
  InverseProduct(const SparsePattern& pattern, const SparseInverse& s)
      : pattern_(pattern), s_(s), full_(pattern.tail_start == pattern.leading) {
    Index longest = 0;
    for (Index j = 0; j < pattern.leading; ++j)
      longest = std::max(longest, pattern.start[j + 1] - pattern.start[j]);
    x.resize(longest);
    y.resize(longest);
    if (!full_) return;
    packed_.resize(packed_size(pattern.root(), pattern.root()));
    pack(s.root.data(), pattern.root(), pattern.root(), nullptr, packed_.data());
  }

  bool full() const { return full_; }

  // to += sign S_root from, both (root, width): columns of tails.
  void root(const double* from, Index width, double sign, double* to) const {
    const Index size = pattern_.root();
    PanelProduct of{packed_.data(), size, size, from, width, size, to, size, sign};
    of.packed_y = false;
    kernels().product(of);
  }

  // y <- S_rr x, with x and y the rows of column j, and their tails tx and ty. With full(), ty
  // must hold the root's share.
  void multiply(Index j, const double* tx, double* ty);

  Vec x, y;

 private:
  void multiply_root(Index j, const double* tx, double* ty);
  void multiply_leading(Index j, const double* tx, double* ty);

  const SparsePattern& pattern_;
  const SparseInverse& s_;
  bool full_;
  std::vector<double> packed_;
};

void InverseProduct::multiply(Index j, const double* tx, double* ty) {
  y.head(pattern_.start[j + 1] - pattern_.start[j]).setZero();
  if (!full_) multiply_root(j, tx, ty);
  multiply_leading(j, tx, ty);
}

void InverseProduct::multiply_root(Index j, const double* tx, double* ty) {
  const Index size = pattern_.tail(), sparse = pattern_.tail_start - pattern_.leading;
  const Index lead = pattern_.root_start[j] - pattern_.start[j];
  const Index count = pattern_.start[j + 1] - pattern_.root_start[j];
  const int* row = pattern_.row.data() + pattern_.root_start[j];
  const Eigen::Map<const Vec> from(tx, size);
  Eigen::Map<Vec> to(ty, size);
  to.noalias() = s_.root.bottomRightCorner(size, size) * from;
  double* out = y.data() + lead;
  const double* in = x.data() + lead;
  for (Index b = 0; b < count; ++b) {
    const double* column = s_.root.col(row[b] - pattern_.leading).data();
    const double* by_position = column - pattern_.leading;
    const Eigen::Map<const Vec> dense(column + sparse, size);
    to += in[b] * dense;
    double sum = dense.dot(from) + by_position[row[b]] * in[b];
    for (Index a = b + 1; a < count; ++a) {
      const double value = by_position[row[a]];
      out[a] += in[b] * value;
      sum += value * in[a];
    }
    out[b] += sum;
  }
}

void InverseProduct::multiply_leading(Index j, const double* tx, double* ty) {
  const Index size = pattern_.tail(), first = pattern_.start[j];
  const Index lead = pattern_.root_start[j] - first, count = pattern_.start[j + 1] - first;
  const int* row = pattern_.row.data();
  const Eigen::Map<const Vec> from(tx, size);
  Eigen::Map<Vec> to(ty, size);
  for (Index k = 0; k < lead; ++k) {
    const Index c = row[first + k];  // its column has all of j's later rows
    const int* t = row + pattern_.start[c];
    const int* end = row + pattern_.start[c + 1];
    y[k] += s_.leading.diagonal[c] * x[k] + s_.leading.tail.col(c).dot(from);
    to += x[k] * s_.leading.tail.col(c);
    for (Index b = k + 1; b < count; ++b) {
      if (end - t > 8 * (count - b)) t = std::lower_bound(t, end, row[first + b]);
      while (*t != row[first + b]) ++t;
      const double value = s_.leading.below[t - row];
      y[b] += value * x[k];
      y[k] += value * x[b];
    }
  }
}

}  // namespace

void invert(const SparsePattern& pattern, const SparseValues& l, SparseInverse& s,
            const Poll& poll) {
  InverseProduct product(pattern, s);
  Patience patience(poll);
  SparseValues& out = s.leading;
  if (product.full()) {
    out.tail.setZero();
    for (Index k = 0; k < pattern.leading; k += kBatch) {
      const Index width = std::min(kBatch, pattern.leading - k);
      product.root(l.tail.col(k).data(), width, 1, out.tail.col(k).data());
      patience.after(pattern.root() * pattern.root() * width / 16);
    }
  }
  Vec tail(pattern.tail());
  for (Index j = pattern.leading - 1; j >= 0; --j) {
    const Index first = pattern.start[j], count = pattern.start[j + 1] - first;
    product.x.head(count) = l.below.segment(first, count) / l.diagonal[j];
    tail = l.tail.col(j) / l.diagonal[j];
    if (product.full()) out.tail.col(j) /= l.diagonal[j];
    product.multiply(j, tail.data(), out.tail.col(j).data());
    out.tail.col(j) *= -1;
    out.below.segment(first, count) = -product.y.head(count);
    out.diagonal[j] = 1 / (l.diagonal[j] * l.diagonal[j]) - tail.dot(out.tail.col(j)) +
                      product.x.head(count).dot(product.y.head(count));
    patience.after(count * (count + pattern.tail()));
  }
}

double divergence(const SparsePattern& pattern, const SparseValues& l, const SparseInverse& s,
                  const SparseValues& next, const Poll& poll) {
  InverseProduct product(pattern, s);
  Patience patience(poll);
  const Index size = pattern.tail(), most = std::min(kBatch, pattern.leading);
  Mat tails(size, most), products(size, most);
  double sum = 0;
  for (Index k = 0; k < pattern.leading; k += kBatch) {
    const Index width = std::min(kBatch, pattern.leading - k);
    const Vec ratio = next.diagonal.segment(k, width).cwiseQuotient(l.diagonal.segment(k, width));
    tails.leftCols(width) = next.tail.middleCols(k, width) -
                            l.tail.middleCols(k, width) * ratio.asDiagonal();
    products.setZero();
    if (product.full()) product.root(tails.data(), width, 1, products.data());
    for (Index j = k; j < k + width; ++j) {
      const Index first = pattern.start[j], count = pattern.start[j + 1] - first;
      product.x.head(count) =
          next.below.segment(first, count) - ratio[j - k] * l.below.segment(first, count);
      product.multiply(j, tails.col(j - k).data(), products.col(j - k).data());
      sum += log_distance(ratio[j - k]) + tails.col(j - k).dot(products.col(j - k)) +
             product.x.head(count).dot(product.y.head(count));
      patience.after(count * (count + size));
    }
    if (product.full()) patience.after(size * size * width / 16);
  }
  return sum;
}

}  // namespace bsvm
