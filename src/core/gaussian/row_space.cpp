#include "row_space.hpp"

#include <cmath>
#include <vector>

#include "linalg/cholesky.hpp"
#include "linalg/dense.hpp"

namespace bsvm {

namespace {

constexpr double kNoWeight = 1e-7;  // times a row's prior variance

// Rows and columns of a symmetric matrix.
void take(const Mat& of, const std::vector<Index>& rows, const std::vector<Index>& columns,
          Mat& out) {
  out.resize(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  for (size_t j = 0; j < columns.size(); ++j)
    for (size_t i = 0; i < rows.size(); ++i) out(i, j) = of(rows[i], columns[j]);
}

Mat taken(const Mat& of, const std::vector<Index>& rows, const std::vector<Index>& columns) {
  Mat out;
  take(of, rows, columns, out);
  return out;
}

// Of (rows, columns) and its transpose.
void put(const Mat& values, const std::vector<Index>& rows, const std::vector<Index>& columns,
         Mat& out) {
  for (size_t j = 0; j < columns.size(); ++j)
    for (size_t i = 0; i < rows.size(); ++i)
      out(rows[i], columns[j]) = out(columns[j], rows[i]) = values(i, j);
}

}  // namespace

// Of rows whose weights are above zero; the others have none for now.
//  root     square roots of the weights
//  inverse  of the Cholesky factor of B
bool RowPosterior::positive_part(const Mat& k, const Arr& w, Host& host, Mat& s, double& logdet) {
  const Index count = static_cast<Index>(above_.size());
  Vec root(count);
  for (Index i = 0; i < count; ++i) root[i] = std::sqrt(w[above_[i]]);
  const bool all = count == k.cols();
  if (all) factor_ = k;
  else take(k, above_, above_, factor_);
  for (Index j = 0; j < count; ++j) factor_.col(j).array() *= root.array() * root[j];
  factor_.diagonal().array() += 1;
  if (!cholesky(factor_, host)) return false;
  logdet = 2 * factor_.diagonal().array().log().sum();
  inverse_lower(factor_, host, inverse_);
  squared_transposed(inverse_, host, square_);
  const Vec unroot = root.cwiseInverse();
  for (Index j = 0; j < count; ++j) {
    auto column = square_.col(j).array();
    column *= -unroot[j] * unroot.array();
    column[j] += unroot[j] * unroot[j];
  }
  if (all) {
    s.swap(square_);
    return true;
  }
  put(square_, above_, above_, s);
  const Mat turned = lower_times(inverse_, root.asDiagonal() * taken(k, above_, others_), host);
  const Mat gained = lower_gram(turned, host).selfadjointView<Eigen::Lower>();
  put(taken(k, others_, others_) - gained, others_, others_, s);
  put(unroot.asDiagonal() * transposed_times(inverse_, turned, host), above_, others_, s);
  return true;
}

// Weights -d, d > 0: S + S_k (D^{-1} - S_kk)^{-1} S_k'.
bool RowPosterior::take_away(const Arr& w, Host& host, Mat& s, double& logdet) const {
  const Places& own = below_;
  Mat e = -taken(s, own, own);
  for (size_t i = 0; i < own.size(); ++i) {
    e(i, i) -= 1 / w[own[i]];
    logdet += std::log(-w[own[i]]);
  }
  if (!cholesky(e, host)) return false;
  logdet += 2 * e.diagonal().array().log().sum();
  Mat rows(own.size(), s.cols());
  for (size_t i = 0; i < own.size(); ++i) rows.row(i) = s.row(own[i]);
  solve_lower(e, rows);
  s += lower_gram(rows, host).selfadjointView<Eigen::Lower>();
  return true;
}

bool RowPosterior::operator()(const Mat& k, const Arr& w, Host& host, Mat& s, double& logdet) {
  if (!w.allFinite()) return false;
  const Index n = k.cols();
  above_.clear();
  others_.clear();
  below_.clear();
  for (Index i = 0; i < n; ++i) {
    const double share = w[i] * k(i, i);
    (share > kNoWeight ? above_ : others_).push_back(i);
    if (share < -kNoWeight) below_.push_back(i);
  }
  s.resize(n, n);
  logdet = 0;
  if (above_.empty()) s = k;
  else if (!positive_part(k, w, host, s, logdet)) return false;
  if (!below_.empty() && !take_away(w, host, s, logdet)) return false;
  return s.diagonal().allFinite() && (s.diagonal().array() >= 0).all() && std::isfinite(logdet);
}

}  // namespace bsvm
