// Moments of RowNewton's nodes by expectation propagation (Minka 2001), all rows at once: from
// sites exp(-w f^2/2 + lambda f), f less its offset, each row in turn is the only one that counts
// as it is, and its site given that row's moments. Where that comes to rest, which it need not, log
// p(y) is stationary in the sites.
//
// With g = lambda - w m the site's slope at m, f without the row is N(m - c g, c) with c = v / (1 -
// w v), and the row's share of log p(y), less what the bound's entropy and prior have of it, is
//
//   log E p - log(1 - w v)/2 + c g^2/2 - w v/2,
//
// as p - tr(D S) = sum w v for any sites.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "row_newton.hpp"

namespace bsvm {

namespace {

constexpr double kKnown = 1e-10;  // rows that are known almost exactly stay as they are
constexpr double kLeastLeft = 1e-8;
constexpr double kAtRest = 0.01;          // a change of the sites in standard deviations
constexpr double kTired = 0.7;            // of the change before: sites go less far
constexpr int kMostMomentRounds = 40;
constexpr double kFarther = 1.5;          // of the distance of two known places, on from them

}  // namespace

// What is known elsewhere, followed along a line through the two nearest places where theta is one
// number.
RowNewton::Sites RowNewton::sites_near(ConstVecRef theta, bool along) const {
  const auto far = [&](const Sites& of) { return (of.theta - theta).cwiseAbs().sum(); };
  const Sites *first = nullptr, *second = nullptr;
  for (const Sites& one : known_) {
    if (!first || far(one) < far(*first)) {
      second = first;
      first = &one;
    } else if (!second || far(one) < far(*second)) {
      second = &one;
    }
  }
  Sites out = *first;
  out.theta = theta;
  if (!along || theta.size() != 1 || !second) return out;
  const double between = first->theta[0] - second->theta[0], on = theta[0] - first->theta[0];
  if (!(std::abs(on) < kFarther * std::abs(between))) return out;
  out.weight += on / between * (first->weight - second->weight);
  out.linear += on / between * (first->linear - second->linear);
  return out;
}

// The sites that the rows' moments give, log p(y) with those before, and how far the new ones are.
// A row of weight k is k rows. False where a row has none.
bool RowNewton::renew(const Point& at, Sites& sites, Matched& out) const {
  double square = 0;
  out.log_density = at.state.prior_value();
  for (Index i = 0; i < at.m.size(); ++i) {
    const double k = row_weight_[i], v = at.v[i], m = at.m[i], w = sites.weight[i] / k;
    const double left = 1 - w * v, from = m - offset_[i];
    const double slope = sites.linear[i] / k - w * from;
    if (!(left > kLeastLeft)) return false;
    const double c = std::max(v / left, kKnown), shift = -c * slope;
    const Tilted of = problem_.likelihood->averaged(y_[i], m + shift, c, 1);
    out.log_density +=
        k * (of.value - 0.5 * std::log(left) + 0.5 * c * slope * slope - 0.5 * w * v);
    if (!(v > kKnown)) continue;
    const double weight = of.curvature / (1 - c * of.curvature), first = of.slope;
    const double next = weight * (shift + c * first) + first;
    square += 0.5 * std::pow(k * v * (weight - w), 2) + v * std::pow(k * (next - slope), 2);
    sites.weight[i] = k * weight;
    sites.linear[i] = k * (next + weight * from);
  }
  out.change = std::sqrt(square);
  return std::isfinite(out.log_density) && std::isfinite(out.change);
}

// q with these sites. False where they leave none.
bool RowNewton::take(const Sites& sites, Point& at) {
  if (host_.interrupted()) throw Interrupted();
  ++progress_.passes;
  at.weight = sites.weight;
  if (!settle(at)) return false;
  follow(sites.linear, at);
  at.m = (design_.transpose() * at.state.mean()).array() + offset_;
  at.pull.resize(at.theta.size());
  at.state.prior_value() = side_.value_at(at.state, Mat(), at.theta, at.pull);
  return at.m.allFinite() && std::isfinite(at.state.prior_value());
}

// From sites to where they rest; `at` is the last q.
bool RowNewton::rest(Sites sites, Point& at, double& log_density) {
  if (!take(sites, at)) return false;
  double share = 1, before = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kMostMomentRounds; ++round) {
    Sites next = sites;
    Matched now;
    if (!renew(at, next, now)) return false;
    log_density = now.log_density;
    if (now.change > kTired * before) share = std::max(0.5 * share, 0.1);
    before = now.change;
    if (now.change < kAtRest) share = 1;
    next.weight = sites.weight + share * (next.weight - sites.weight);
    next.linear = sites.linear + share * (next.linear - sites.linear);
    if (!take(next, at)) return false;
    sites = std::move(next);
    if (now.change < kAtRest) {
      known_.push_back(std::move(sites));
      return true;
    }
  }
  return false;
}

}  // namespace bsvm
