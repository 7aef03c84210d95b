// How the distributions of the effects an IntegratedSource integrates out differ from normal ones.
//
// With rows f_i = x_i'b + z_i'u of a group, and C such that x_i'b is about z_i'C b, they depend on
// v = u + C b alone. Given w = C(b - E b), v has the density L(v) N(v - w; 0, Sigma) / G(w), L the
// rows' likelihood at b = E b and G the integral. If w is N(0, W), v is a mixture of these. Where
// rows bound v from one side, the other side moves with w and this one does not: u given b has not
// one shape for all b, and v is what probabilities need.
//
// A variable x with distribution function F is a function of a standard normal e,
//   x = F^{-1}(Phi(e)) = sum_k a_k He_k(e),   a_k = E[x He_k(e)] / k!,   e = Phi^{-1}(F(x)),
// He_k Hermite's polynomials. It is v in standard deviations by linear theory,
//   V + V Sigma^{-1} W Sigma^{-1} V,   V the variance of u given E b,
// from its mean at E b. A normal x has a_1 only.
#include <algorithm>
#include <cmath>

#include "integrated_worker.hpp"
#include "linalg/eigen_modules.hpp"
#include "random/normal.hpp"

namespace bsvm {

namespace {

constexpr Index kOrders = IntegratedSource::kShapeLast + 1;
constexpr Index kLine = 193, kPlane = 61;  // points an axis
constexpr double kLineReach = 5.5, kPlaneReach = 5;  // standard deviations
constexpr double kBin = 2 * kPlaneReach / (kPlane - 1);  // likewise, of projections of the plane
constexpr double kPi = 3.14159265358979323846;

// Of a normal variable (Gauss and Hermite's rule).
const double kNode[] = {-1.7320508075688772, 0, 1.7320508075688772};
const double kNodeWeight[] = {1.0 / 6, 2.0 / 3, 1.0 / 6};

// The coefficients of masses at increasing x. The distribution function is a sum by the trapezoid
// rule, with the next term of Euler and Maclaurin's formula where this leaves it increasing: x at
// equal steps, of a smooth density.
void find_shape(const Vec& x, const Vec& mass, VecRef out) {
  out.setZero();
  const double total = mass.sum();
  double below = 0;
  for (Index j = 0; j < x.size(); ++j) {
    const double share = mass[j] / total;
    if (share > 0) {
      const double before_it = j > 0 ? mass[j - 1] : 0;
      const double after_it = j + 1 < x.size() ? mass[j + 1] : 0;
      const double rise = (after_it - before_it) / (24 * total);
      const double p = below + (std::abs(rise) < 0.5 * share ? 0.5 * share - rise : 0.5 * share);
      const double e = normal_quantile(std::min(std::max(p, 1e-15), 1 - 1e-15));
      double before = 0, now = 1, factor = share * x[j];
      for (Index k = 0; k < kOrders; ++k) {
        out[k] += factor * now;
        const double next = e * now - static_cast<double>(k) * before;
        before = now;
        now = next;
        factor /= static_cast<double>(k + 1);
      }
    }
    below += share;
  }
}

// Adds mass between two neighbouring bins, in proportion.
void deposit(double at, double mass, Vec& bins) {
  const double last = static_cast<double>(bins.size() - 2);
  const double place = std::clamp(at / kBin + 0.5 * (last + 1), 0.0, last);
  const auto low = static_cast<Index>(place);
  const double part = place - static_cast<double>(low);
  bins[low] += (1 - part) * mass;
  bins[low + 1] += part * mass;
}

Eigen::Matrix2d root_of(const Eigen::Matrix2d& c) {
  const double first = std::sqrt(c(0, 0)), below = c(1, 0) / first;
  Eigen::Matrix2d root;
  root << first, 0, below, std::sqrt(std::max(c(1, 1) - below * below, 1e-14 * c(1, 1)));
  return root;
}

}  // namespace

// Of one effect, on a grid about its mean; `w2` is W.
void IntegratedSource::line_shape(const EffectRows& of, double s, double w2, Worker& worker,
                                  VecRef out) const {
  worker.single->law(of, s, worker.law);
  const double mean = worker.law.mean, own = worker.law.variance, ratio = own / (s * s);
  const double sd = std::sqrt(own + ratio * ratio * w2), grid = std::sqrt(own + w2);
  const LineRows line{of.y, of.o, nullptr, of.z, of.weight, of.r};
  const Arr v = mean + grid * Arr::LinSpaced(kLine, -kLineReach, kLineReach);
  Arr rows(kLine), mass = Arr::Zero(kLine);
  for (Index j = 0; j < kLine; ++j)
    rows[j] = likelihood_->along(line, v[j]);
  rows -= (rows - 0.5 * (v / s).square()).maxCoeff();
  for (Index k = 0; k < 3; ++k) {
    const Arr given = (rows - 0.5 * ((v - kNode[k] * std::sqrt(w2)) / s).square()).exp();
    mass += kNodeWeight[k] / given.sum() * given;
  }
  find_shape((v - mean) / sd, mass, out);
}

// Masses of two effects on a grid of v = mean + axes t, at t from `axis`.
//   f, first, second        f + first t_0 + second t_1 of a row
//   rows                    log L
//   e0, e1; m0, m1          F^{-1} v and F^{-1} w, F F' = Sigma
void IntegratedSource::plane_masses(const PairRows& of, const PairScale& scale,
                                    const Eigen::Vector2d& mean, const Eigen::Matrix2d& axes,
                                    const Eigen::Matrix2d& w, const Vec& axis, Arr& mass) const {
  const Eigen::Map<const Arr> z0(of.rows.z, of.rows.r), z1(of.second, of.rows.r);
  const Arr f = Eigen::Map<const Arr>(of.rows.o, of.rows.r) + mean[0] * z0 + mean[1] * z1;
  const Arr first = axes(0, 0) * z0 + axes(1, 0) * z1, second = axes(1, 1) * z1;
  const LineRows plane{of.rows.y, f.data(), first.data(), second.data(), of.rows.weight, of.rows.r};
  const Index points = axis.size();
  Arr rows(points * points), e0(points * points), e1(points * points);
  for (Index i = 0; i < points; ++i)
    for (Index j = 0; j < points; ++j) {
      const Index at = i * points + j;
      const Eigen::Vector2d v = mean + axes * Eigen::Vector2d(axis[i], axis[j]);
      e0[at] = v[0] / scale.f00;
      e1[at] = (v[1] - scale.f10 * e0[at]) / scale.f11;
      rows[at] = likelihood_->over(plane, axis[i], axis[j]);
    }
  rows -= (rows - 0.5 * (e0.square() + e1.square())).maxCoeff();
  const Eigen::Matrix2d root = root_of(w);
  mass.setZero(points * points);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j) {
      const Eigen::Vector2d move = root * Eigen::Vector2d(kNode[i], kNode[j]);
      const double m0 = move[0] / scale.f00, m1 = (move[1] - scale.f10 * m0) / scale.f11;
      const Arr given = (rows - 0.5 * ((e0 - m0).square() + (e1 - m1).square())).exp();
      mass += kNodeWeight[i] * kNodeWeight[j] / given.sum() * given;
    }
}

// Of two effects: of L^{-1} v in kDirections directions over the half circle, L L' the variance of
// v by linear theory.
//   own, ratio   V, V Sigma^{-1}
//   axes, turn   a root of V + W, along which the grid is; L^{-1} axes
void IntegratedSource::plane_shape(Index group, const PairRows& of, const PairScale& scale,
                                   const Eigen::Matrix2d& w, Worker& worker, VecRef out) {
  if (frames_.empty()) worker.pair->law(of, scale, worker.pair_law);
  else worker.grid->law(of, scale, frames_[group], worker.pair_law);
  const Eigen::Matrix2d& own = worker.pair_law.covariance;
  Eigen::Matrix2d f;
  f << scale.f00, 0, scale.f10, scale.f11;
  const Eigen::Matrix2d inverse = f.inverse(), ratio = own * (inverse.transpose() * inverse);
  const Eigen::Matrix2d axes = root_of(own + w);
  const Eigen::Matrix2d turn =
      root_of(own + ratio * w * ratio.transpose()).inverse() * axes;
  const Vec axis = Vec::LinSpaced(kPlane, -kPlaneReach, kPlaneReach);
  Arr mass;
  plane_masses(of, scale, worker.pair_law.mean, axes, w, axis, mass);
  const double reach = kPlaneReach * turn.cwiseAbs().sum();
  const Index bins = 2 * static_cast<Index>(std::min(reach, 100.0) / kBin + 2) + 1;
  const double end = 0.5 * static_cast<double>(bins - 1) * kBin;
  const Vec x = Vec::LinSpaced(bins, -end, end);
  Vec binned(bins);
  for (Index k = 0; k < kDirections; ++k) {
    const double angle = kPi * static_cast<double>(k) / kDirections;
    const Eigen::RowVector2d to = Eigen::RowVector2d(std::cos(angle), std::sin(angle)) * turn;
    binned.setZero();
    for (Index i = 0; i < kPlane; ++i)
      for (Index j = 0; j < kPlane; ++j)
        deposit(to[0] * axis[i] + to[1] * axis[j], mass[i * kPlane + j], binned);
    find_shape(x, binned, out.segment(k * kOrders, kOrders));
  }
}

// `moved` has W (q q), a column a group and point as the result.
Mat IntegratedSource::shapes(ConstMatRef points, ConstMatRef moved, Host& host) {
  const Index q = rows_.effects(), m = rows_.groups();
  Mat out = Mat::Zero(kOrders * (q == 2 ? kDirections : 1), m * points.cols());
  const Vec inverse = rows_.unit().cwiseInverse();
  for (Index k = 0; k < points.cols(); ++k) {
    const Scale scale = scale_at(points.col(k).tail(free_));
    follow(points.col(k));
    each_group(points.col(k), host, [&](Index group, const PairRows& of, Worker& worker, Index) {
      const Index at = k * m + group;
      auto own = out.col(at);
      const double w2 = moved(0, at) * inverse[0] * inverse[0];
      if (q == 1) return line_shape(of.rows, scale.f.f00, w2, worker, own);
      const Eigen::Map<const Eigen::Matrix2d> outside(moved.data() + at * 4);
      const Eigen::Matrix2d w = inverse.asDiagonal() * outside * inverse.asDiagonal();
      plane_shape(group, of, scale.f, w, worker, own);
    });
  }
  return out;
}

}  // namespace bsvm
