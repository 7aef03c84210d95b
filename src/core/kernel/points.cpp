#include "points.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/dense.hpp"

namespace bsvm {

namespace {

constexpr double kJitter = 1e-8, kMostJitter = 1e-4;  // of the mean variance
constexpr Index kTogether = 8;
constexpr double kLeastFeature = 1e-100;

// A column of such numbers, which the rows near a point may all be left out of, has no scale.
void drop_tiny(Eigen::Ref<Mat, 0, Eigen::OuterStride<>> features) {
  features = (features.array().abs() < kLeastFeature).select(0.0, features);
}

// Columns k(x, x_i) for one i after the other. Some that are likely to be next are found with one that
// is asked for: a call costs as much for eight as for one.
class Columns {
 public:
  Columns(const Kernel& kernel, const Mat& x, ConstVecRef theta)
      : kernel_(kernel), x_(x), theta_(theta) {}

  // `likely`: the higher, the more likely are other rows to be next.
  auto at(Index i, const Vec& likely) {
    auto known = std::find(rows_.begin(), rows_.end(), i);
    if (known == rows_.end()) {
      find(i, likely);
      known = rows_.begin();
    }
    return values_.col(known - rows_.begin());
  }

 private:
  void find(Index i, const Vec& likely) {
    std::vector<Index> all(static_cast<size_t>(x_.cols()));
    std::iota(all.begin(), all.end(), Index{0});
    std::swap(all[0], all[static_cast<size_t>(i)]);
    const auto end = all.begin() + std::min(kTogether, x_.cols());
    std::partial_sort(all.begin() + 1, end, all.end(),
                      [&](Index a, Index b) { return likely[a] > likely[b]; });
    rows_.assign(all.begin(), end);
    Mat v(x_.rows(), static_cast<Index>(rows_.size()));
    for (size_t k = 0; k < rows_.size(); ++k) v.col(static_cast<Index>(k)) = x_.col(rows_[k]);
    values_.resize(x_.cols(), v.cols());
    kernel_.values(x_, v, theta_, values_);
  }

  const Kernel& kernel_;
  const Mat& x_;
  Vec theta_;
  std::vector<Index> rows_;
  Mat values_;  // (n, rows)
};

Mat covariance_of(const Kernel& kernel, const Mat& v, ConstVecRef theta) {
  Mat out(v.cols(), v.cols());
  kernel.values(v, v, theta, out);
  return out;
}

}  // namespace

Mat covariance_root(const Mat& k, Host& host) {
  const double mean = k.diagonal().mean();
  for (double jitter = kJitter; jitter < 2 * kMostJitter; jitter *= 10) {
    Mat root = k;
    root.diagonal().array() += jitter * mean;
    if (root.allFinite() && cholesky(root, host)) return root;
  }
  throw NumericalFailure("The covariance of the Gaussian-process terms is singular.");
}

//  left    (n)      the variance left over
//  factor  (n, m)   its columns: covariances with each point less what those before tell of them
ChosenPoints choose_points(const Kernel& kernel, const Mat& x, ConstVecRef theta, Index most,
                           double tolerance, Host& host) {
  const Index n = x.cols();
  ChosenPoints out;
  Vec left = kernel.diagonal(x, theta);
  Mat factor(n, std::min(most, n));
  Columns columns(kernel, x, theta);
  while (static_cast<Index>(out.points.size()) < factor.cols()) {
    if (host.interrupted()) throw Interrupted();
    Index at;
    const double pivot = left.maxCoeff(&at);
    if (!(pivot > tolerance)) break;
    const Index m = static_cast<Index>(out.points.size());
    Vec column = columns.at(at, left);
    column.noalias() -= factor.leftCols(m) * factor.row(at).head(m).transpose();
    factor.col(m) = column / std::sqrt(pivot);
    left -= factor.col(m).cwiseAbs2();
    left[at] = 0;
    out.points.push_back(at);
  }
  factor.conservativeResize(n, static_cast<Index>(out.points.size()));
  drop_tiny(factor);
  out.features = std::move(factor);
  out.left_over = left.cwiseMax(0.0);
  return out;
}

Features::Features(const Kernel& kernel, Mat v, ConstVecRef theta, Host& host)
    : kernel_(kernel), v_(std::move(v)), theta_(theta),
      lower_(covariance_root(covariance_of(kernel, v_, theta), host)),
      inverse_(solved_lower(lower_, Mat::Identity(v_.cols(), v_.cols()))) {}

// A product takes a third of the time of the solve. Both lose as many digits: the factor's diagonal is
// a root of the jitter at least.
void Features::fill(const Mat& x, Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const {
  const Mat k = values_of_rows(kernel_, x, v_, theta_).topRows(x.cols()).transpose();
  inverse_.multiply(k, out);
  drop_tiny(out);
}

Vec Features::product(const Mat& x, ConstVecRef b) const {
  Vec by = b;
  solve_transposed(lower_, by);
  return (values_of_rows(kernel_, x, v_, theta_) * by).head(x.cols());
}

Vec Features::left_over(const Mat& x, const Mat& features) const {
  return (kernel_.diagonal(x, theta_) - features.colwise().squaredNorm().transpose())
      .cwiseMax(0.0);
}

}  // namespace bsvm
