#include "row_sites.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bsvm {

namespace {

constexpr double kKnown = 1e-10;  // rows that are known almost exactly stay as they are
constexpr double kLeastLeft = 1e-8;
constexpr double kAtRest = 0.01;          // a change of the sites in standard deviations
constexpr double kAlready = 1e-8;         // sites that are no function of moments
constexpr double kLeastGain = 0.3;        // of the change before, for each whole step; else less far
constexpr int kMostMomentRounds = 40;
constexpr double kFarther = 1.5;          // of the distance of two known places, on from them

// The sites that the rows' moments give, the rows' share of log p(y) with those before, and how far
// the new ones are. False where a row has none.
bool renew(const SiteRows& rows, const Arr& m, const Arr& v, double others, RowSites& sites,
           double& log_density, double& change) {
  double square = 0;
  log_density = others;
  for (Index i = 0; i < m.size(); ++i) {
    const double k = rows.weight[i], w = sites.weight[i] / k;
    const double left = 1 - w * v[i], from = m[i] - rows.offset[i];
    const double slope = sites.linear[i] / k - w * from;
    if (!(left > kLeastLeft)) return false;
    const double c = std::max(v[i] / left, kKnown), shift = -c * slope;
    const Tilted of = rows.likelihood.averaged(rows.y[i], m[i] + shift, c, 1);
    log_density += k * (of.value - 0.5 * std::log(left) + 0.5 * c * slope * slope - 0.5 * w * v[i]);
    if (!(v[i] > kKnown)) continue;
    const double weight = of.curvature / (1 - c * of.curvature), first = of.slope;
    const double next = weight * (shift + c * first) + first;
    square += 0.5 * std::pow(k * v[i] * (weight - w), 2) + v[i] * std::pow(k * (next - slope), 2);
    sites.weight[i] = k * weight;
    sites.linear[i] = k * (next + weight * from);
  }
  change = std::sqrt(square);
  return std::isfinite(log_density) && std::isfinite(change);
}

}  // namespace

bool rest_sites(const SiteRows& rows, const std::function<bool(const RowSites&)>& take,
                const std::function<double()>& others, const Arr& m, const Arr& v,
                RowSites& sites, double& log_density) {
  if (!take(sites)) return false;
  double share = 1, before = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kMostMomentRounds; ++round) {
    RowSites next = sites;
    double change = 0;
    if (!renew(rows, m, v, others(), next, log_density, change)) return false;
    if (change < kAlready) return true;
    if (change > (1 - kLeastGain * share) * before) share = std::max(0.5 * share, 0.1);
    before = change;
    if (change < kAtRest) share = 1;
    next.weight = sites.weight + share * (next.weight - sites.weight);
    next.linear = sites.linear + share * (next.linear - sites.linear);
    if (!take(next)) return false;
    sites = std::move(next);
    if (change < kAtRest) return true;
  }
  return false;
}

RowSites sites_near(const std::vector<RowSites>& known, ConstVecRef theta, bool along) {
  const auto far = [&](const RowSites& of) { return (of.theta - theta).cwiseAbs().sum(); };
  const RowSites *first = nullptr, *second = nullptr;
  for (const RowSites& one : known) {
    if (!first || far(one) < far(*first)) {
      second = first;
      first = &one;
    } else if (!second || far(one) < far(*second)) {
      second = &one;
    }
  }
  RowSites out = *first;
  out.theta = theta;
  if (!along || theta.size() != 1 || !second) return out;
  const double between = first->theta[0] - second->theta[0], on = theta[0] - first->theta[0];
  if (!(std::abs(on) < kFarther * std::abs(between))) return out;
  const double by = on / between;
  const auto along_ratio = [by](double a, double b) {
    return a * b > 0 ? a * std::clamp(std::pow(a / b, by), 0.2, 5.0) : a;
  };
  out.weight = first->weight.binaryExpr(second->weight, along_ratio);
  out.linear = first->linear.binaryExpr(second->linear, along_ratio);
  return out;
}

}  // namespace bsvm
