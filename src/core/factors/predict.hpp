#pragma once
#include <functional>
#include <vector>

#include "base/host.hpp"
#include "links.hpp"

namespace bsvm {

// New rows, of which no response is known.
struct NewRows {
  Mat x;           // (N, p), NaN where missing
  Mat covariates;  // (N, d)
  Vec offset;      // (N)
};

// What m draws of a chain say of them, a column each.
struct FactorDraws {
  const Eigen::Ref<const Mat> mean;      // (p, m)
  const Eigen::Ref<const Mat> loadings;  // (p K, m)
  const Eigen::Ref<const Mat> noise;     // (p or 1, m)
  const Eigen::Ref<const Mat> alpha;     // (d, m)
  Index factors;                         // K
};

using LinkOfDraw = std::function<LinkMoments(Index draw, const Scores& scores)>;

// Given x alone, w_n ~ N(m_n, S_n): S_n is the same for all rows in which the same is missing.
struct Predicted {
  std::vector<Index> pattern;  // (N), 0 of complete rows
  Mat scores;                  // (N K, m) m_n
  Mat covariance;              // (K K patterns, m) S_n
  Mat mean, variance;          // (N, m) of f_n
};

Predicted predict_factors(const NewRows& rows, const FactorDraws& draws,
                          const LinkOfDraw& links, int threads, Host& host);

}  // namespace bsvm
