#include "cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "eigen_modules.hpp"
#include "kernels.hpp"

namespace bsvm {

namespace {

constexpr Index kTiny = 16;    // taken whole
constexpr Index kPatient = 768;  // below: over before anybody could ask to stop

void check(Index p, Host& host) {
  if (p > kPatient && host.interrupted()) throw Interrupted();
}

// Wide enough for the kernels, narrow enough for a prompt answer to an interrupt.
Index panel_of(Index p) {
  if (p <= kTiny) return p;
  if (p <= 256) return 2 * kTiny;
  return std::clamp<Index>(4000000000 / (p * p) / kTiny * kTiny, kTiny, 64);
}

using Panels = std::vector<double>;

Panels packed_block(ConstMatRef a) {
  Panels out(packed_size(a.rows(), a.cols()));
  pack_block(a.data(), a.outerStride(), a.rows(), a.cols(), nullptr, out.data());
  return out;
}

Panels packed_transposed(ConstMatRef a) {
  Panels out(packed_size(a.cols(), a.rows()));
  pack_transposed(a.data(), a.outerStride(), a.cols(), a.rows(), out.data());
  return out;
}

// c += x y', both (.., depth).
PanelProduct product_of(const Panels& x, const Panels& y, Index depth, MatRef c) {
  return {x.data(), c.rows(), depth, y.data(), c.cols(), depth, c.data(), c.outerStride()};
}

bool factor_in_place(MatRef a) {
  return Eigen::internal::llt_inplace<double, Eigen::Lower>::blocked(a) < 0 &&
         a.diagonal().allFinite();
}

// b <- b L^{-T} for a small L.
void solve_panel(ConstMatRef l, MatRef b) {
  const Index width = l.rows(), half = width / 8 * 4;
  if (width <= 16) {
    l.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(b);
    return;
  }
  auto left = b.leftCols(half), right = b.rightCols(width - half);
  solve_panel(l.topLeftCorner(half, half), left);
  const Panels x = packed_block(left), y = packed_block(l.bottomLeftCorner(width - half, half));
  PanelProduct of = product_of(x, y, half, right);
  of.sign = -1;
  kernels().product(of);
  solve_panel(l.bottomRightCorner(width - half, width - half), right);
}

}  // namespace

bool cholesky(MatRef a, Host& host) {
  const Index p = a.rows(), panel = panel_of(p);
  for (Index k = 0; k < p; k += panel) {
    check(p, host);
    const Index width = std::min(panel, p - k), rest = p - k - width;
    auto corner = a.block(k, k, width, width);
    auto below = a.block(k + width, k, rest, width);
    if (!factor_in_place(corner)) return false;
    if (rest == 0) break;
    solve_panel(corner, below);
    const Panels x = packed_block(below);
    PanelProduct of = product_of(x, x, width, a.bottomRightCorner(rest, rest));
    of.sign = -1;
    of.lower = true;
    kernels().product(of);
  }
  a.triangularView<Eigen::StrictlyUpper>().setZero();
  return true;
}

namespace {

// out <- M = L^{-1}, out zero before, a block of rows after the other:
// M_kj = -M_kk sum_{j <= i < k} L_ki M_ij.
void invert(ConstMatRef l, MatRef out, Index panel, Host& host) {
  const Index p = l.rows(), stride = out.outerStride();
  if (p <= kTiny) {
    out.diagonal().setOnes();
    return l.triangularView<Eigen::Lower>().solveInPlace(out);
  }
  for (Index k = 0; k < p; k += panel) {
    check(p, host);
    const Index width = std::min(panel, p - k);
    auto corner = out.block(k, k, width, width);
    invert(l.block(k, k, width, width), corner, kTiny, host);
    if (k == 0) continue;
    Mat sum = Mat::Zero(width, k);
    const Panels x = packed_block(l.block(k, 0, width, k)), left = packed_block(corner);
    PanelProduct of{x.data(), width, k, out.data(), k, stride, sum.data(), width};
    of.packed_y = false;
    of.y_from_row = true;
    kernels().product(of);
    of = {left.data(), width, width, sum.data(), k, width, out.data() + k, stride, -1};
    of.packed_y = false;
    kernels().product(of);
  }
}

}  // namespace

void inverse_lower(ConstMatRef l, Host& host, Mat& out) {
  const Index p = l.rows();
  out.setZero(p, p);
  invert(l, out, panel_of(p), host);
}

Mat inverse_lower(ConstMatRef l, Host& host) {
  Mat out;
  inverse_lower(l, host, out);
  return out;
}

void squared_transposed(ConstMatRef m, Host& host, Mat& out) {
  const Index p = m.rows(), panel = panel_of(p);
  out.setZero(p, p);
  for (Index k = 0; k < p; k += panel) {  // rows k .. of M are zero beyond their end
    check(p, host);
    const Index width = std::min(panel, p - k), used = k + width;
    const Panels x = packed_transposed(m.block(k, 0, width, used));
    PanelProduct of = product_of(x, x, width, out.topLeftCorner(used, used));
    of.lower = true;
    kernels().product(of);
  }
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
}

Mat squared_transposed(ConstMatRef m, Host& host) {
  Mat out;
  squared_transposed(m, host, out);
  return out;
}

Mat lower_times(ConstMatRef m, const Mat& x, Host& host) {
  const Index p = m.rows(), n = x.cols(), panel = panel_of(p);
  Mat out = Mat::Zero(p, n);
  for (Index k = 0; k < p; k += panel) {
    check(p, host);
    const Index width = std::min(panel, p - k), used = k + width;
    const Panels rows = packed_block(m.block(k, 0, width, used));
    PanelProduct of{rows.data(), width, used, x.data(), n, p, out.data() + k, p};
    of.packed_y = false;
    kernels().product(of);
  }
  return out;
}

Mat transposed_times(ConstMatRef m, const Mat& x, Host& host) {
  const Index p = m.rows(), n = x.cols(), panel = panel_of(p);
  Mat out = Mat::Zero(p, n);
  for (Index k = 0; k < p; k += panel) {  // columns k .. of M are zero above
    check(p, host);
    const Index width = std::min(panel, p - k), used = p - k;
    const Panels rows = packed_transposed(m.block(k, k, used, width));
    PanelProduct of{rows.data(), width, used, x.data() + k, n, p, out.data() + k, p};
    of.packed_y = false;
    kernels().product(of);
  }
  return out;
}

Mat lower_gram(const Mat& x, Host& host) {
  const Index p = x.rows(), n = x.cols();
  check(std::max(p, n), host);
  Mat out = Mat::Zero(n, n);
  const Panels rows = packed_transposed(x);
  kernels().gram(rows.data(), rows.data(), n, p, out.data());
  return out;
}

double log_distance(double x) {
  const double d = (x - 1) * (x + 1);  // x^2 - 1
  if (std::abs(d) > 1e-3) return d - std::log1p(d);
  return d * d * (1.0 / 2 - d * (1.0 / 3 - d * (1.0 / 4 - d * (1.0 / 5 - d / 6))));
}

namespace {

// The share of rows of M L that start at row k.
double divergence_of(const Mat& rows, Index k) {
  double sum = rows.leftCols(k).squaredNorm();
  for (Index j = 0; j < rows.rows(); ++j)
    sum += rows.col(k + j).tail(rows.rows() - j - 1).squaredNorm() +
           log_distance(rows(j, k + j));
  return sum;
}

}  // namespace

double divergence(ConstMatRef m, ConstMatRef l, Host& host) {
  const Index p = m.rows(), panel = panel_of(p);
  double sum = 0;
  for (Index k = 0; k < p; k += panel) {
    check(p, host);
    const Index width = std::min(panel, p - k), used = k + width;
    Mat rows = Mat::Zero(width, used);
    const Panels x = packed_block(m.block(k, 0, width, used));
    PanelProduct of{x.data(), width, used, l.data(), used, l.outerStride(), rows.data(), width};
    of.packed_y = false;
    of.y_from_row = true;
    kernels().product(of);
    sum += divergence_of(rows, k);
  }
  return sum;
}

}  // namespace bsvm
