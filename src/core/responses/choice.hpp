#pragma once
#include "shared.hpp"

namespace bsvm {

// Small columns with one set of those that a part can have (ColumnPart::choices), for sets with
// variances of their own; those of a spectrum the chain chooses by itself. Their coefficients
// given all else have the precision L L', and L^{-1} times their linear part is `half`.
struct WithSet {
  std::vector<Index> columns;  // among the small ones
  Mat root;                    // L
  Vec half;
  double log_evidence;  // log p(Y | the set), up to what is the same for all
};

// `prior` (small, q): prior precisions; `linear` (small, q): S'R Sigma^{-1}; `inverse`: Sigma^{-1}.
WithSet with_set(const SharedResponses& shared, Index set, const Mat& prior, const Mat& linear,
                 const Mat& inverse);

// (small, q), zero where the set has no columns; `half` is used up.
Mat draw_coefficients(WithSet& own, Index small, Index q, Draws& random);

// k with probability proportional to exp(logs_k).
Index draw_index(const Vec& logs, Draws& random);

}  // namespace bsvm
