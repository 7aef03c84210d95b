#pragma once
#include <vector>

#include "base/host.hpp"
#include "kernel.hpp"
#include "linalg/lower_bands.hpp"

namespace bsvm {

// Inducing points, chosen among inputs one after the other: each is where the variance that those
// before leave over is largest (a pivoted Cholesky factorisation of the covariance, which is not
// formed). Ends after `most` points, or where no more than `tolerance` of the variance is left over
// anywhere.
struct ChosenPoints {
  std::vector<Index> points;
  Mat features;   // (n, m) of all inputs
  Vec left_over;  // (n)
};
ChosenPoints choose_points(const Kernel& kernel, const Mat& x, ConstVecRef theta, Index most,
                           double tolerance, Host& host);

// What a Gaussian process is of independent normal features, given its values at inducing points
// v (d, m):
//
//   f(x) = a(x)'b + e,   a(x) = L^{-1} k(v, x),   L L' = k(v, v),   b ~ N(0, I),
//   e ~ N(0, k(x, x) - a(x)'a(x)), the left-over.
class Features {
 public:
  // The diagonal of k(v, v) is raised by as little as it takes to have a factor.
  Features(const Kernel& kernel, Mat v, ConstVecRef theta, Host& host);

  Index columns() const { return v_.cols(); }

  // out (m, r): a(x) of these inputs (d, r).
  void fill(const Mat& x, Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const;

  // (r): a(x)'b of these inputs, without the features.
  Vec product(const Mat& x, ConstVecRef b) const;

  // (r): the left-over variance, never below zero, of inputs with these features (m, r).
  Vec left_over(const Mat& x, const Mat& features) const;

 private:
  const Kernel& kernel_;
  Mat v_;
  Vec theta_;
  Mat lower_;           // L
  LowerBands inverse_;  // its inverse
};

// L with L L' = k (p, p), whose diagonal is raised by 1e-8 of its mean, or as much more as it takes.
Mat covariance_root(const Mat& k, Host& host);

}  // namespace bsvm
