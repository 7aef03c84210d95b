#include "points.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/dense.hpp"

namespace bsvm {

namespace {

constexpr double kJitter = 1e-8, kMostJitter = 1e-4;  // of the mean variance

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
  Mat factor(n, std::min(most, n)), column(n, 1);
  while (static_cast<Index>(out.points.size()) < factor.cols()) {
    if (host.interrupted()) throw Interrupted();
    Index at;
    const double pivot = left.maxCoeff(&at);
    if (!(pivot > tolerance)) break;
    const Index m = static_cast<Index>(out.points.size());
    kernel.values(x, x.col(at), theta, column);
    column.col(0).noalias() -= factor.leftCols(m) * factor.row(at).head(m).transpose();
    factor.col(m) = column.col(0) / std::sqrt(pivot);
    left -= factor.col(m).cwiseAbs2();
    left[at] = 0;
    out.points.push_back(at);
  }
  factor.conservativeResize(n, static_cast<Index>(out.points.size()));
  out.features = std::move(factor);
  out.left_over = left.cwiseMax(0.0);
  return out;
}

Features::Features(const Kernel& kernel, Mat v, ConstVecRef theta, Host& host)
    : kernel_(kernel), v_(std::move(v)), theta_(theta) {
  Mat k(v_.cols(), v_.cols());
  kernel.values(v_, v_, theta, k);
  lower_ = covariance_root(k, host);
}

void Features::fill(const Mat& x, Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const {
  Mat k(v_.cols(), x.cols());
  kernel_.values(v_, x, theta_, k);
  solve_lower(lower_, k);
  out = k;
}

Vec Features::product(const Mat& x, ConstVecRef b) const {
  Mat k(x.cols(), v_.cols());
  kernel_.values(x, v_, theta_, k);
  Vec by = b;
  solve_transposed(lower_, by);
  return k * by;
}

Vec Features::left_over(const Mat& x, const Mat& features) const {
  return (kernel_.diagonal(x, theta_) - features.colwise().squaredNorm().transpose())
      .cwiseMax(0.0);
}

}  // namespace bsvm
