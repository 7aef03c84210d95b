#pragma once
#include <vector>

#include "base/types.hpp"
#include "linalg/dense.hpp"
#include "random/draws.hpp"

namespace bsvm {

// What loadings, means and noise say of scores: w_n given x_n alone has this precision, and this is
// precision times mean.
struct ScoreSums {
  Mat precision;         // (K, K) of complete rows: I + A'Psi A
  Mat linear;            // (N, K): A'Psi (x_n - mu), over what is seen of x_n
  std::vector<Mat> own;  // (K, K) precisions of incomplete rows, by their places
};

// Scores given x alone, w_n ~ N(m_n, S_n).
class Scores {
 public:
  // `place` as SharedFactors has it; both must outlive it or stay as they are.
  Scores(const ScoreSums& sums, const std::vector<Index>& place);

  const Mat& mean() const { return mean_; }  // (N, K)
  bool complete(Index row) const { return (*place_)[static_cast<size_t>(row)] < 0; }
  // S_n (K, K), and L of S_n^{-1} = L L'.
  const Mat& covariance(Index row) const { return of(row).covariance; }
  const Mat& root(Index row) const { return of(row).root; }
  const Mat& covariance() const { return law_[0].covariance; }  // of complete rows
  // The same of the incomplete rows at place `at` - 1, or, of 0, of complete ones.
  const Mat& law(Index at) const { return law_[static_cast<size_t>(at)].covariance; }

 private:
  struct Law {
    Mat root, covariance;
    explicit Law(const Mat& precision);
  };
  const Law& of(Index row) const {
    return law_[static_cast<size_t>((*place_)[static_cast<size_t>(row)] + 1)];
  }

  const std::vector<Index>* place_;
  std::vector<Law> law_;  // of complete rows, and of each incomplete one
  Mat mean_;
};

// Of the normal density with this precision, and precision times mean.
Vec draw_normal(const Mat& precision, const Vec& linear, Draws& random);

}  // namespace bsvm
