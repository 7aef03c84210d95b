#include "sparse_design.hpp"

#include <numeric>

#include "base/error.hpp"
#include "linalg/dense.hpp"
#include "model/gather.hpp"

namespace bsvm {

namespace {

std::vector<int> as_given(Index columns) {
  std::vector<int> out(columns);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// out.col(i) += sum of value * x.col(at), K numbers at a time.
template <int K>
void add_entries(const std::vector<int>& start, const std::vector<int>& at,
                 const std::vector<double>& value, const double* x, Mat& out, Index first) {
  using Numbers = Eigen::Array<double, K, 1>;
  for (size_t i = 0; i + 1 < start.size(); ++i) {
    Eigen::Map<Numbers> to(out.data() + K * (first + static_cast<Index>(i)));
    Numbers sum = to;
    for (int t = start[i]; t < start[i + 1]; ++t)
      sum += value[t] * Eigen::Map<const Numbers>(x + Index{K} * at[t]);
    to = sum;
  }
}

void add_entries(const std::vector<int>& start, const std::vector<int>& at,
                 const std::vector<double>& value, const double* x, Mat& out, Index first) {
  if (out.rows() == kSide) add_entries<kSide>(start, at, value, x, out, first);
  else add_entries<1>(start, at, value, x, out, first);
}

}  // namespace

SparseDesign::SparseDesign(const Problem& problem)
    : rows_(problem.n), dense_(problem.columns()), levels_(problem.sparse),
      sparse_(problem.sparse, problem.n, as_given(problem.sparse.columns), {}),
      c_(gather_design(problem)) {}

Mat SparseDesign::times(const Mat& x) const {
  Mat out = x.leftCols(dense_) * c_;
  add_entries(sparse_.row_start, sparse_.position, sparse_.row_value,
              x.data() + x.rows() * dense_, out, 0);
  return out;
}

Mat SparseDesign::transposed_times(const Mat& t) const {
  Mat out = Mat::Zero(t.rows(), columns());
  out.leftCols(dense_).noalias() = t * c_.transpose();
  add_entries(sparse_.column_start, sparse_.row, sparse_.value, t.data(), out, dense_);
  return out;
}

Vec SparseDesign::weighted_squares(ConstVecRef w) const {
  Vec out(columns());
  out.head(dense_) = c_.cwiseAbs2() * w;
  for (Index k = 0; k + dense_ < columns(); ++k) {
    double sum = 0;
    for (int e = sparse_.column_start[k]; e < sparse_.column_start[k + 1]; ++e)
      sum += w[sparse_.row[e]] * sparse_.value[e] * sparse_.value[e];
    out[dense_ + k] = sum;
  }
  return out;
}

Vec SparseDesign::row_squares(ConstVecRef dense, const Mat& effects) const {
  Vec out = c_.cwiseAbs2().transpose() * dense;
  for (Index i = 0; i < rows_; ++i)
    for (int t = sparse_.row_start[i]; t < sparse_.row_start[i + 1]; ++t) {
      const int at = sparse_.position[t], level = levels_.of[at], effect = levels_.effect[at];
      for (int s = t; s < sparse_.row_start[i + 1]; ++s) {
        const int other = sparse_.position[s];
        if (levels_.of[other] != level) break;
        out[i] += (s == t ? 1 : 2) * sparse_.row_value[t] * sparse_.row_value[s] *
                  effects(levels_.effect[other], effect);
      }
    }
  return out;
}

LevelPrecision::LevelPrecision(const SparseDesign& design, ConstVecRef dense, const Mat& effects)
    : design_(design), dense_(dense), effects_(effects) {
  const Factor factor(effects);
  if (!factor.positive())
    throw NumericalFailure("A prior's precision of group effects is not positive definite.");
  root_ = factor.lower();
  inverse_ = factor.inverse();
  inverse_root_ = Mat::Identity(effects.rows(), effects.rows());
  solve_transposed(root_, inverse_root_);
}

Vec LevelPrecision::diagonal() const {
  const Index p = design_.dense();
  Vec out(design_.columns());
  out.head(p) = dense_;
  for (Index k = p; k < out.size(); ++k) {
    const int effect = design_.levels().effect[k - p];
    out[k] = effects_(effect, effect);
  }
  return out;
}

Mat LevelPrecision::by_level(const Mat& x, const Vec& dense, const Mat& effects) const {
  const Levels& levels = design_.levels();
  const Index p = design_.dense();
  Mat out(x.rows(), x.cols());
  out.leftCols(p) = x.leftCols(p) * dense.asDiagonal();
  for (Index k = p; k < x.cols();) {
    const int first = levels.effect[k - p];
    const Index q = levels.effects[first];
    if (q == 1) out.col(k) = effects(first, first) * x.col(k);
    else out.middleCols(k, q) = x.middleCols(k, q) * effects.block(first, first, q, q).transpose();
    k += q;
  }
  return out;
}

Mat LevelPrecision::times(const Mat& x) const { return by_level(x, dense_, effects_); }

Mat LevelPrecision::root_times(const Mat& x) const {
  return by_level(x, dense_.cwiseSqrt(), root_);
}

Mat LevelPrecision::root_transposed_solve(const Mat& x) const {
  return by_level(x, dense_.cwiseSqrt().cwiseInverse(), inverse_root_);
}

}  // namespace bsvm
