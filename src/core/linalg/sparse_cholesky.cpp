#include "sparse_cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
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

// Going through rows: columns wait in a list for the row of their next entry, so that all that
// is done with one column of the result is done at once, near the processor.
class Waiting {
 public:
  // Columns first .. last - 1 in their leading rows, or in their rows in the root.
  Waiting(const SparsePattern& pattern, Index first, Index last, bool root)
      : pattern_(pattern), offset_(first), first_(pattern.tail_start, -1),
        next_(last - first, -1), at_(last - first), root_(root) {
    for (Index k = first; k < last; ++k)
      at_[k - first] = root ? pattern.root_start[k] : pattern.start[k];
  }

  // visit(column, entry) for all that have an entry in the row; each waits for its next.
  template <class Visit>
  void take(Index row, Visit visit) {
    for (Index k = first_[row]; k >= 0;) {
      const Index following = next_[k - offset_];
      visit(k, at_[k - offset_]++);
      put(k);
      k = following;
    }
  }

  void put(Index k) {
    const Index at = at_[k - offset_];
    if (at == (root_ ? pattern_.start[k + 1] : pattern_.root_start[k])) return;
    const int row = pattern_.row[at];
    next_[k - offset_] = first_[row];
    first_[row] = k;
  }

 private:
  const SparsePattern& pattern_;
  Index offset_;
  std::vector<Index> first_, next_, at_;
  bool root_;
};

}  // namespace

// Left-looking: a column takes its updates from the columns before it.
void factor(const SparsePattern& pattern, SparseValues& a, const Poll& poll) {
  Patience patience(poll);
  Waiting waiting(pattern, 0, pattern.leading, false);
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
  Waiting waiting(pattern, 0, pattern.leading, true);
  for (Index k = 0; k < pattern.leading; ++k) waiting.put(k);
  for (Index b = 0; b < sparse; ++b) {
    double* column = root.data() + b * root.outerStride();
    waiting.take(pattern.leading + b, [&](Index k, Index entry) {
      const double factor = l.below[entry];
      for (Index a = entry; a < pattern.start[k + 1]; ++a)
        column[pattern.row[a] - pattern.leading] -= factor * l.below[a];
      Eigen::Map<Vec>(column + sparse, size) -= factor * l.tail.col(k);
      patience.after(pattern.start[k + 1] - entry + size);
    });
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

// S_rr x for vectors x on the rows r of leading columns: of a batch of columns at a time what
// the root's part of S adds to the product, then of one column what the leading part adds.
class InverseProduct {
 public:
  InverseProduct(const SparsePattern& pattern, const SparseInverse& s)
      : pattern_(pattern), s_(s), size_(pattern.tail()),
        corner_(packed_size(size_, size_)) {
    const auto corner = s.root.bottomRightCorner(size_, size_);
    pack_block(corner.data(), corner.outerStride(), size_, size_, nullptr, corner_.data());
  }

  // Columns first .. last - 1, x and y their entries, their tails as columns of tx and ty.
  void root(Index first, Index last, const double* x, const Mat& tx, double* y, MatRef ty) const;
  // Column j, added to y, of which these are the entries and tails.
  void leading(Index j, const double* x, const double* tx, double* y, double* ty) const;

 private:
  const SparsePattern& pattern_;
  const SparseInverse& s_;
  Index size_;
  std::vector<double> corner_;  // the tail's part of S, packed
};

void InverseProduct::root(Index first, Index last, const double* x, const Mat& tx, double* y,
                          MatRef ty) const {
  const Index sparse = pattern_.tail_start - pattern_.leading, start = pattern_.start[first];
  std::fill(y, y + pattern_.start[last] - start, 0.0);
  ty.leftCols(last - first).setZero();
  PanelProduct of{corner_.data(), size_, size_, tx.data(), last - first, tx.outerStride(),
                  ty.data(), ty.outerStride()};
  of.packed_y = false;
  kernels().product(of);
  if (sparse == 0) return;
  Waiting waiting(pattern_, first, last, true);
  for (Index k = first; k < last; ++k) waiting.put(k);
  for (Index b = 0; b < sparse; ++b) {
    const double* column = s_.root.col(b).data();
    const Eigen::Map<const Vec> tail(column + sparse, size_);
    waiting.take(pattern_.leading + b, [&](Index k, Index entry) {
      const double factor = x[entry - start];
      double sum = column[b] * factor + tail.dot(tx.col(k - first));
      for (Index a = entry + 1; a < pattern_.start[k + 1]; ++a) {
        const double value = column[pattern_.row[a] - pattern_.leading];
        y[a - start] += factor * value;
        sum += value * x[a - start];
      }
      y[entry - start] += sum;
      ty.col(k - first) += factor * tail;
    });
  }
}

void InverseProduct::leading(Index j, const double* x, const double* tx, double* y,
                             double* ty) const {
  const Index first = pattern_.start[j], lead = pattern_.root_start[j] - first;
  const Index count = pattern_.start[j + 1] - first;
  const int* row = pattern_.row.data();
  const Eigen::Map<const Vec> from(tx, size_);
  Eigen::Map<Vec> to(ty, size_);
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

// Batches first .. last - 1 of leading columns.
template <class Work>
void each_batch(const SparsePattern& pattern, const Poll& poll, Work work) {
  Patience patience(poll);
  for (Index first = 0; first < pattern.leading; first += kBatch) {
    const Index last = std::min(first + kBatch, pattern.leading);
    work(first, last);
    const Index entries = pattern.start[last] - pattern.start[first], size = pattern.tail();
    patience.after(entries * (entries / (last - first) + size) + size * size * (last - first) / 16);
  }
}

}  // namespace

void invert(const SparsePattern& pattern, const SparseValues& l, SparseInverse& s,
            const Poll& poll) {
  const InverseProduct product(pattern, s);
  SparseValues& out = s.leading;
  Vec x(l.below.size());
  for (Index j = 0; j < pattern.leading; ++j)
    for (Index t = pattern.start[j]; t < pattern.start[j + 1]; ++t)
      x[t] = l.below[t] / l.diagonal[j];
  const Mat tails = l.tail * l.diagonal.cwiseInverse().asDiagonal();
  each_batch(pattern, poll, [&](Index first, Index last) {
    const Index start = pattern.start[first], width = last - first;
    product.root(first, last, x.data() + start, tails.middleCols(first, width),
                 out.below.data() + start, out.tail.middleCols(first, width));
  });
  Patience patience(poll);
  for (Index j = pattern.leading - 1; j >= 0; --j) {
    const Index first = pattern.start[j], count = pattern.start[j + 1] - first;
    auto below = out.below.segment(first, count);
    auto tail = out.tail.col(j);
    product.leading(j, x.data() + first, tails.col(j).data(), below.data(), tail.data());
    out.diagonal[j] = 1 / (l.diagonal[j] * l.diagonal[j]) + x.segment(first, count).dot(below) +
                      tails.col(j).dot(tail);
    below *= -1;
    tail *= -1;
    patience.after(count * (count + pattern.tail()));
  }
}

double divergence(const SparsePattern& pattern, const SparseValues& l, const SparseInverse& s,
                  const SparseValues& next, const Poll& poll) {
  const InverseProduct product(pattern, s);
  const Vec ratio = next.diagonal.cwiseQuotient(l.diagonal);
  Vec x(l.below.size()), y(x.size());
  double sum = 0;
  each_batch(pattern, poll, [&](Index first, Index last) {
    const Index start = pattern.start[first], width = last - first;
    const Mat tx = next.tail.middleCols(first, width) -
                   l.tail.middleCols(first, width) * ratio.segment(first, width).asDiagonal();
    Mat ty(tx.rows(), width);
    for (Index j = first; j < last; ++j)
      for (Index t = pattern.start[j]; t < pattern.start[j + 1]; ++t)
        x[t] = next.below[t] - ratio[j] * l.below[t];
    product.root(first, last, x.data() + start, tx, y.data() + start, ty);
    for (Index j = first; j < last; ++j) {
      const Index own = pattern.start[j], count = pattern.start[j + 1] - own;
      const auto tail = ty.col(j - first);
      product.leading(j, x.data() + own, tx.col(j - first).data(), y.data() + own,
                      ty.col(j - first).data());
      sum += log_distance(ratio[j]) + tx.col(j - first).dot(tail) +
             x.segment(own, count).dot(y.segment(own, count));
    }
  });
  return sum;
}

}  // namespace bsvm
