// Moments of KernelNewton's q by expectation propagation, as row_moments.cpp has them for RowNewton:
// the same sites, and the same log p(y).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "kernel_newton.hpp"

namespace bsvm {

namespace {

constexpr double kCertain = 1e-10;     // rows that are known almost exactly stay as they are
constexpr double kLeastLeftOver = 1e-8;
constexpr double kRests = 0.01;        // a change of the sites in standard deviations
constexpr double kSlower = 0.7;        // of the change before: sites go less far
constexpr int kMostEpRounds = 40;

}  // namespace

// The sites that the rows' moments give, the rows' log p(y) with those before, and how far the new
// ones are. A row of weight k is k rows. False where a row has none.
bool KernelNewton::renew(const Point& at, Sites& sites, double& log_density,
                         double& change) const {
  Arr &weight = sites.weight, &linear = sites.linear;
  double square = 0;
  log_density = -divergence(at);
  for (Index i = 0; i < at.m.size(); ++i) {
    const double k = row_weight_[i], v = at.v[i], m = at.m[i], w = weight[i] / k;
    const double left = 1 - w * v, from = m - offset_[i];
    const double slope = linear[i] / k - w * from;
    if (!(left > kLeastLeftOver)) return false;
    const double c = std::max(v / left, kCertain), shift = -c * slope;
    const Tilted of = problem_.likelihood->averaged(y_[i], m + shift, c, 1);
    log_density += k * (of.value - 0.5 * std::log(left) + 0.5 * c * slope * slope - 0.5 * w * v);
    if (!(v > kCertain)) continue;
    const double own = of.curvature / (1 - c * of.curvature), first = of.slope;
    const double next = own * (shift + c * first) + first;
    square += 0.5 * std::pow(k * v * (own - w), 2) + v * std::pow(k * (next - slope), 2);
    weight[i] = k * own;
    linear[i] = k * (next + own * from);
  }
  change = std::sqrt(square);
  return std::isfinite(log_density) && std::isfinite(change);
}

// q with these sites. False where they leave none.
bool KernelNewton::take(const Sites& sites, Point& at) {
  if (host_.interrupted()) throw Interrupted();
  ++passes_;
  at.weight = sites.weight;
  if (!settle(at)) return false;
  const Arr mean = (at.covariance * sites.linear.matrix()).array();
  at.m = mean + offset_;
  at.alpha = sites.linear - sites.weight * mean;
  return at.m.allFinite();
}

bool KernelNewton::match(Sites& sites, Point& at, double& log_density) {
  if (!take(sites, at)) return false;
  double share = 1, before = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kMostEpRounds; ++round) {
    Sites next = sites;
    double change = 0;
    if (!renew(at, next, log_density, change)) return false;
    if (change > kSlower * before) share = std::max(0.5 * share, 0.1);
    before = change;
    if (change < kRests) share = 1;
    sites.weight += share * (next.weight - sites.weight);
    sites.linear += share * (next.linear - sites.linear);
    if (!take(sites, at)) return false;
    if (change < kRests) return true;
  }
  return false;
}

}  // namespace bsvm
