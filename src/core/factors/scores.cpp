#include "scores.hpp"

#include "base/error.hpp"

namespace bsvm {

// The least eigenvalue of a precision is one.
Scores::Law::Law(const Mat& precision) {
  const Factor factor(precision);
  if (!factor.positive()) refuse_numbers();
  root = factor.lower();
  covariance = factor.inverse();
}

Scores::Scores(const ScoreSums& sums, const std::vector<Index>& place)
    : place_(&place), mean_(sums.linear.rows(), sums.linear.cols()) {
  law_.reserve(sums.own.size() + 1);
  law_.emplace_back(sums.precision);
  for (const Mat& own : sums.own) law_.emplace_back(own);
  for (Index n = 0; n < mean_.rows(); ++n)
    mean_.row(n).noalias() = sums.linear.row(n) * covariance(n);
  if (!mean_.allFinite()) refuse_numbers();
}

Vec draw_normal(const Mat& precision, const Vec& linear, Draws& random) {
  const Factor factor(precision);
  if (!factor.positive()) refuse_numbers();
  Vec out = solved_lower(factor.lower(), linear);
  for (Index j = 0; j < out.size(); ++j) out[j] += random.normal();
  solve_transposed(factor.lower(), out);
  return out;
}

}  // namespace bsvm
