#pragma once
#include <vector>

#include "base/host.hpp"
#include "base/types.hpp"

namespace bsvm {

// The posterior of linear predictors f ~ N(0, K) given weights W of the rows, of any sign:
// covariance S = (K^{-1} + W)^{-1} (n, n), both triangles, and log det(I + K W). False where weights
// below zero leave no covariance.
//
// With B = I + W^{1/2} K W^{1/2} of rows with weights above zero, S = W^{-1} - W^{-1/2} B^{-1}
// W^{-1/2} takes no product with K: n^3 operations for a factor, its inverse and that one's square.
// The others' rows follow, and weights below zero by a matrix of their own number. Weights of less
// than 1e-7 of a row's prior precision are nothing.
class RowPosterior {
 public:
  bool operator()(const Mat& k, const Arr& w, Host& host, Mat& s, double& logdet);

 private:
  using Places = std::vector<Index>;

  bool positive_part(const Mat& k, const Arr& w, Host& host, Mat& s, double& logdet);
  bool take_away(const Arr& w, Host& host, Mat& s, double& logdet) const;

  Places above_, others_, below_;      // rows by their weights: above zero, others, below zero
  Mat factor_, inverse_, square_;      // kept, since fresh memory of this size takes as long as sums
};

}  // namespace bsvm
