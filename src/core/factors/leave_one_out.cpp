// With b = B e_i, column i, and M = B - b b'/b_i, the inverse of C without row i, and zeros there:
//
//   mean      k'M r = k'a - (b'k) a_i / b_i,   a = B r       k has a zero at i
//   variance  v = c - k'M k = c - k'B k + (b'k)^2 / b_i
//   then      B <- M + h h'/v,   a <- a - b a_i / b_i + h (h'r) / v,   h = M k - e_i
#include "leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/kernels.hpp"

namespace bsvm {

namespace {

constexpr Index kPutOff = 32;  // columns

}  // namespace

double Conditional::log_density(double r) const {
  return -0.5 * (std::log(variance) + (r - mean) * (r - mean) / variance);
}

LeaveOneOut::LeaveOneOut(Mat c, const Vec& r, Host& host)
    : left_(r.size(), kPutOff), right_(r.size(), kPutOff), r_(r) {
  if (!c.allFinite() || !cholesky(c, host)) refuse_numbers();
  squared_transposed(inverse_lower(c, host), host, inverse_);
  solved_ = inverse_ * r;
  if (!inverse_.allFinite() || !solved_.allFinite()) refuse_numbers();
}

double LeaveOneOut::diagonal(Index i) const {
  return inverse_(i, i) + left_.row(i).head(pending_).dot(right_.row(i).head(pending_));
}

Conditional LeaveOneOut::here(Index i) const {
  const double b = diagonal(i);
  return {r_[i] - solved_[i] / b, 1 / b};
}

Vec LeaveOneOut::column(Index i) const {
  return inverse_.col(i) + left_.leftCols(pending_) * right_.row(i).head(pending_).transpose();
}

void LeaveOneOut::set(Index i, double r) {
  solved_ += (r - r_[i]) * column(i);
  r_[i] = r;
}

void LeaveOneOut::scan(const std::function<double(Index, const Conditional&)>& draw) {
  for (Index i = 0; i < r_.size(); ++i) set(i, draw(i, here(i)));
}

Conditional LeaveOneOut::at(Index i, const Vec& k, double diagonal_of_row, double least) {
  const Index n = r_.size();
  own_ = k;
  own_[i] = 0;
  seen_.setZero(n);
  kernels().dots(inverse_.data(), own_.data(), n, n, seen_.data());
  Vec turned = Vec::Zero(pending_);
  kernels().dots(right_.data(), own_.data(), n, pending_, turned.data());
  seen_.noalias() += left_.leftCols(pending_) * turned;
  const double share = seen_[i] / diagonal(i);
  variance_ = std::max(diagonal_of_row - own_.dot(seen_) + seen_[i] * share, least);
  return {own_.dot(solved_) - share * solved_[i], variance_};
}

void LeaveOneOut::accept(Index i) {
  const Vec b = column(i);
  Vec h = seen_ - seen_[i] / b[i] * b;
  h[i] = -1;
  solved_ += h.dot(r_) / variance_ * h - solved_[i] / b[i] * b;
  left_.col(pending_) = h;
  right_.col(pending_++) = h / variance_;
  left_.col(pending_) = b;
  right_.col(pending_++) = -b / b[i];
  if (pending_ == kPutOff) catch_up();
}

void LeaveOneOut::catch_up() {
  const Index n = r_.size();
  std::vector<double> x(static_cast<size_t>(packed_size(n, pending_))), y = x;
  pack(left_.data(), n, pending_, nullptr, x.data());
  pack(right_.data(), n, pending_, nullptr, y.data());
  kernels().product({x.data(), n, pending_, y.data(), n, pending_, inverse_.data(), n});
  pending_ = 0;
}

}  // namespace bsvm
