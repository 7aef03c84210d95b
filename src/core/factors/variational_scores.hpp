#pragma once
#include "base/host.hpp"
#include "scores.hpp"
#include "shared.hpp"

namespace bsvm {

class ClassifierPosterior;

// q(w_n) = N(m_n, V_n).
struct ScorePosterior {
  Mat mean;        // (N, K)
  Mat covariance;  // (K K, N): V_n
  Vec logdet;      // (N)

  // All V_n are `variance` I.
  ScorePosterior(Mat m, double variance);

  Eigen::Map<const Mat> of(Index row) const {
    return {covariance.data() + row * covariance.rows(), mean.cols(), mean.cols()};
  }
  void set(Index row, const Mat& v, double log_determinant);
  Mat square(Index row) const;  // E w_n w_n'
  // (1 + K, 1 + K) E sum_n (1, w_n)(1, w_n)'.
  Mat moments() const;
  // w_n becomes r (w_n + d).
  void transform(const Mat& r, const Vec& d);
};

// The best q of all scores given x alone.
ScorePosterior scores_given_x(const SharedFactors& shared, const ScoreSums& sums);

// Raises the bound in the scores: to the best of unlabelled rows, by two steps of others.
void update_scores(const SharedFactors& shared, const ScoreSums& sums,
                   const ClassifierPosterior& classifier, ScorePosterior& w, int threads,
                   Host& host);

// What the bound has of scores beside the response: with S_n^{-1} and l_n as `sums` has them,
//   sum_n m_n'l_n - tr(S_n^{-1} E w_n w_n') / 2 + (K + log |V_n|) / 2.
double score_value(const SharedFactors& shared, const ScoreSums& sums, const ScorePosterior& w);

}  // namespace bsvm
