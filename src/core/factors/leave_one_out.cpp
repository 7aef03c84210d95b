// With b = B e_i, column i, and M = B - b b'/b_i, which has the inverse of C without row i and zeros:
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

double log_normal_density(double off, double variance) {
  return -0.5 * (std::log(variance) + off * off / variance);
}

}  // namespace

LeaveOneOut::LeaveOneOut(Mat c, const Vec& r, Host& host) : r_(r) {
  if (!c.allFinite() || !cholesky(c, host)) refuse_numbers();
  squared_transposed(inverse_lower(c, host), host, inverse_);
  solved_ = inverse_ * r;
  if (!inverse_.allFinite() || !solved_.allFinite()) refuse_numbers();
}

double LeaveOneOut::here(Index i) const {
  return log_normal_density(solved_[i] / inverse_(i, i), 1 / inverse_(i, i));
}

double LeaveOneOut::at(Index i, const Vec& k, double diagonal, double least) {
  const Index n = r_.size();
  own_ = k;
  own_[i] = 0;
  seen_.setZero(n);
  kernels().dots(inverse_.data(), own_.data(), n, n, seen_.data());
  const double share = seen_[i] / inverse_(i, i);
  variance_ = std::max(diagonal - own_.dot(seen_) + seen_[i] * share, least);
  return log_normal_density(r_[i] - (own_.dot(solved_) - share * solved_[i]), variance_);
}

void LeaveOneOut::accept(Index i) {
  const Index n = r_.size();
  Mat both(n, 2), scaled(2, n);
  auto h = both.col(0), b = both.col(1);
  b = inverse_.col(i);
  h = seen_ - seen_[i] / b[i] * b;
  h[i] = -1;
  solved_ += h.dot(r_) / variance_ * h - solved_[i] / b[i] * b;
  scaled.row(0) = h.transpose() / variance_;
  scaled.row(1) = -b.transpose() / b[i];
  std::vector<double> packed(static_cast<size_t>(packed_size(n, 2)));
  pack(both.data(), n, 2, nullptr, packed.data());
  PanelProduct of{packed.data(), n, 2, scaled.data(), n, 2, inverse_.data(), n};
  of.packed_y = false;
  kernels().product(of);
}

}  // namespace bsvm
