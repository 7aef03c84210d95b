// How the distributions of the effects an IntegratedSource integrates out differ from normal ones.
//
// A standardised variable x with distribution function F is a function of a standard normal z,
//   x = F^{-1}(Phi(z)) = sum_k a_k He_k(z),   a_k = E[x He_k(z)] / k!,   z = Phi^{-1}(F(x)),
// He_k Hermite's polynomials. A normal x has a_1 = 1 and no others. The hinge is piecewise
// linear, so the distributions are pieces of normal ones, and up to the seventh order they are met
// to a per cent of probabilities of 0.002 and more.
#include <algorithm>
#include <cmath>

#include "../random/normal.hpp"
#include "integrated_worker.hpp"

namespace bsvm {

namespace {

constexpr Index kOrders = IntegratedSource::kShapeLast;
constexpr Index kLine = 129, kPlane = 41;  // points an axis
constexpr double kLineReach = 6.4, kPlaneReach = 6;  // standard deviations
constexpr double kBin = 0.1;               // likewise, of projections of the plane
constexpr double kPi = 3.14159265358979323846;

// a_2 .. a_kOrders of masses at increasing x; zeros where there is no distribution.
void find_shape(const Vec& x, const Vec& mass, VecRef out) {
  out.setZero();
  const double total = mass.sum(), mean = x.dot(mass) / total;
  const double variance = (x.array() - mean).square().matrix().dot(mass) / total;
  if (!(variance > 0) || !std::isfinite(variance)) return;
  double below = 0;
  for (Index j = 0; j < x.size(); ++j) {
    const double share = mass[j] / total;
    if (share > 0) {
      const double middle = std::min(std::max(below + 0.5 * share, 1e-15), 1 - 1e-15);
      const double z = normal_quantile(middle);
      double before = 1, now = z, factor = share * (x[j] - mean) / std::sqrt(variance);
      for (Index k = 2; k <= kOrders; ++k) {
        const double next = z * now - static_cast<double>(k - 1) * before;
        before = now;
        now = next;
        factor /= static_cast<double>(k);
        out[k - 2] += factor * now;
      }
    }
    below += share;
  }
}

// Exponentials relative to the largest.
void to_masses(Vec& log) {
  log = (log.array() - log.maxCoeff()).exp();
}

// Adds mass between two neighbouring bins, in proportion.
void deposit(double at, double mass, Vec& bins) {
  const double place = at / kBin + 0.5 * static_cast<double>(bins.size() - 1);
  const auto low = static_cast<Index>(place);
  const double part = place - static_cast<double>(low);
  bins[low] += (1 - part) * mass;
  bins[low + 1] += part * mass;
}

}  // namespace

// Of one effect, on a grid about its mean.
void IntegratedSource::line_shape(const EffectRows& of, double s, Worker& worker,
                                  VecRef out) const {
  worker.single->law(of, s, worker.law);
  const double mean = worker.law.mean, sd = std::sqrt(worker.law.variance);
  const Eigen::Map<const Arr> y(of.y, of.r);
  const Arr margin = y * Eigen::Map<const Arr>(of.o, of.r);
  const Arr slope = y * Eigen::Map<const Arr>(of.z, of.r);
  const Vec x = Vec::LinSpaced(kLine, -kLineReach, kLineReach);
  Vec log(kLine);
  for (Index j = 0; j < kLine; ++j) {
    const double u = mean + sd * x[j];
    log[j] = likelihood_.along(margin.data(), slope.data(), of.weight, u, of.r) -
             0.5 * (u / s) * (u / s);
  }
  to_masses(log);
  find_shape(x, log, out);
}

// Of two effects u = mean + L x, L L' their covariance, on a grid of x: of its projections
// x_0 cos + x_1 sin in kDirections directions over the half circle.
void IntegratedSource::plane_shape(Index unit, const PairRows& of, const PairScale& scale,
                                   Worker& worker, VecRef out) {
  if (frames_.empty()) worker.pair->law(of, scale, worker.pair_law);
  else worker.grid->law(of, scale, frames_[unit], worker.pair_law);
  const Eigen::Vector2d mean = worker.pair_law.mean;
  const Eigen::Matrix2d& c = worker.pair_law.covariance;
  Eigen::Matrix2d root;
  root << std::sqrt(c(0, 0)), 0, c(1, 0) / std::sqrt(c(0, 0)),
      std::sqrt(c(1, 1) - c(1, 0) * c(1, 0) / c(0, 0));
  const Eigen::Map<const Arr> y(of.rows.y, of.rows.r);
  const Eigen::Map<const Arr> z0(of.rows.z, of.rows.r), z1(of.second, of.rows.r);
  const Arr margin =
      y * (Eigen::Map<const Arr>(of.rows.o, of.rows.r) + mean[0] * z0 + mean[1] * z1);
  const Arr first = y * (root(0, 0) * z0 + root(1, 0) * z1), second = y * root(1, 1) * z1;
  const Vec axis = Vec::LinSpaced(kPlane, -kPlaneReach, kPlaneReach);
  Vec log(kPlane * kPlane);
  for (Index i = 0; i < kPlane; ++i)
    for (Index j = 0; j < kPlane; ++j) {
      const Eigen::Vector2d u = mean + root * Eigen::Vector2d(axis[i], axis[j]);
      const double e0 = u[0] / scale.f00, e1 = (u[1] - scale.f10 * e0) / scale.f11;
      log[i * kPlane + j] = likelihood_.over(margin.data(), first.data(), second.data(),
                                             of.rows.weight, axis[i], axis[j], of.rows.r) -
                            0.5 * (e0 * e0 + e1 * e1);
    }
  to_masses(log);
  const auto bins = 2 * static_cast<Index>(kPlaneReach * std::sqrt(2.0) / kBin + 2) + 1;
  const double end = 0.5 * static_cast<double>(bins - 1) * kBin;
  const Vec x = Vec::LinSpaced(bins, -end, end);
  Vec mass(bins);
  for (Index k = 0; k < kDirections; ++k) {
    const double angle = kPi * static_cast<double>(k) / kDirections;
    mass.setZero();
    for (Index i = 0; i < kPlane; ++i)
      for (Index j = 0; j < kPlane; ++j)
        deposit(axis[i] * std::cos(angle) + axis[j] * std::sin(angle), log[i * kPlane + j], mass);
    find_shape(x, mass, out.segment(k * (kOrders - 1), kOrders - 1));
  }
}

Mat IntegratedSource::shapes(ConstMatRef points, Host& host) {
  const Index size = (kOrders - 1) * (rows_.effects() == 2 ? kDirections : 1);
  Mat out = Mat::Zero(size, rows_.groups() * points.cols());
  for (Index k = 0; k < points.cols(); ++k) {
    const Scale scale = scale_at(points.col(k).tail(free_));
    each_group(points.col(k), host, [&](Index unit, const PairRows& of, Worker& worker, Index) {
      auto own = out.col(k * rows_.groups() + unit);
      if (of.rows.r == 0) return;
      if (of.second) plane_shape(unit, of, scale.f, worker, own);
      else line_shape(of.rows, scale.f.f00, worker, own);
    });
  }
  return out;
}

}  // namespace bsvm
