#include "row_space.hpp"

#include <cmath>
#include <vector>

#include "linalg/cholesky.hpp"
#include "linalg/dense.hpp"

namespace bsvm {

namespace {

constexpr double kNoWeight = 1e-7;  // times a row's prior variance

using Places = std::vector<Index>;

// Rows and columns of a symmetric matrix.
Mat part(const Mat& of, const Places& rows, const Places& columns) {
  Mat out(rows.size(), columns.size());
  for (size_t j = 0; j < columns.size(); ++j)
    for (size_t i = 0; i < rows.size(); ++i) out(i, j) = of(rows[i], columns[j]);
  return out;
}

// Of (rows, columns) and its transpose.
void put(const Mat& values, const Places& rows, const Places& columns, Mat& out) {
  for (size_t j = 0; j < columns.size(); ++j)
    for (size_t i = 0; i < rows.size(); ++i)
      out(rows[i], columns[j]) = out(columns[j], rows[i]) = values(i, j);
}

// Of rows whose weights are above zero; `others` have none for now.
//  root     square roots of the weights
//  inverse  of the Cholesky factor of B
bool positive_part(const Mat& k, const Arr& w, const Places& own, const Places& others, Host& host,
                   Mat& s, double& logdet) {
  Vec root(own.size());
  for (size_t i = 0; i < own.size(); ++i) root[i] = std::sqrt(w[own[i]]);
  Mat b = part(k, own, own);
  b = root.asDiagonal() * b * root.asDiagonal();
  b.diagonal().array() += 1;
  if (!cholesky(b, host)) return false;
  logdet = 2 * b.diagonal().array().log().sum();
  const Mat inverse = inverse_lower(b, host);
  const Vec unroot = root.cwiseInverse();
  Mat square = squared_transposed(inverse, host);
  square = -(unroot.asDiagonal() * square * unroot.asDiagonal());
  square.diagonal() += unroot.cwiseAbs2();
  put(square, own, own, s);
  if (others.empty()) return true;
  const Mat turned = lower_times(inverse, root.asDiagonal() * part(k, own, others), host);
  const Mat gained = lower_gram(turned, host).selfadjointView<Eigen::Lower>();
  put(part(k, others, others) - gained, others, others, s);
  put(unroot.asDiagonal() * transposed_times(inverse, turned, host), own, others, s);
  return true;
}

// Weights -d, d > 0: S + S_k (D^{-1} - S_kk)^{-1} S_k'.
bool take_away(const Arr& w, const Places& own, Host& host, Mat& s, double& logdet) {
  Mat e = -part(s, own, own);
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

}  // namespace

bool row_posterior(const Mat& k, const Arr& w, Host& host, Mat& s, double& logdet) {
  if (!w.allFinite()) return false;
  const Index n = k.cols();
  Places above, others, below;
  for (Index i = 0; i < n; ++i) {
    const double share = w[i] * k(i, i);
    (share > kNoWeight ? above : others).push_back(i);
    if (share < -kNoWeight) below.push_back(i);
  }
  s.resize(n, n);
  logdet = 0;
  if (above.empty()) s = k;
  else if (!positive_part(k, w, above, others, host, s, logdet)) return false;
  if (!below.empty() && !take_away(w, below, host, s, logdet)) return false;
  return s.diagonal().allFinite() && (s.diagonal().array() >= 0).all() && std::isfinite(logdet);
}

}  // namespace bsvm
