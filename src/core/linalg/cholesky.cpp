#include "cholesky.hpp"

#include <Eigen/Cholesky>

#include "../error.hpp"

namespace bsvm {

namespace {

constexpr Index kPanel = 64;
constexpr Index kSmall = 768;  // below: a single call is over in no time

void check(Host& host) {
  if (host.interrupted()) throw Interrupted();
}

bool factor_in_place(MatRef a) {
  return Eigen::internal::llt_inplace<double, Eigen::Lower>::blocked(a) < 0 &&
         a.diagonal().allFinite();
}

}  // namespace

bool cholesky(MatRef a, Host& host) {
  const Index p = a.rows();
  const Index panel = p <= kSmall ? p : kPanel;
  for (Index k = 0; k < p; k += panel) {
    if (p > kSmall) check(host);
    const Index width = std::min(panel, p - k), rest = p - k - width;
    auto corner = a.block(k, k, width, width);
    auto below = a.block(k + width, k, rest, width);
    auto trailing = a.block(k + width, k + width, rest, rest);
    if (!factor_in_place(corner)) return false;
    if (rest == 0) break;
    corner.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(below);
    trailing.selfadjointView<Eigen::Lower>().rankUpdate(below, -1.0);
  }
  a.triangularView<Eigen::StrictlyUpper>().setZero();
  return true;
}

Mat inverse_lower(ConstMatRef l, Host& host) {
  const Index p = l.rows();
  const Index panel = p <= kSmall ? p : kPanel;
  Mat out = Mat::Identity(p, p);
  for (Index k = 0; k < p; k += panel) {
    if (p > kSmall) check(host);
    auto columns = out.block(k, k, p - k, std::min(panel, p - k));  // zero above
    l.bottomRightCorner(p - k, p - k).triangularView<Eigen::Lower>().solveInPlace(columns);
  }
  return out;
}

}  // namespace bsvm
