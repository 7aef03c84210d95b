#include "integrated_groups.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "densities.hpp"

namespace bsvm_test {

namespace {

constexpr Real kInfinite = std::numeric_limits<Real>::infinity();

Real positive_part(Real x) { return x > 0 ? x : 0; }
Real sign(Real x) { return x > 0 ? 1 : -1; }

// log(sinh k / k), k >= 0.
Real log_sinh_ratio(Real k) {
  if (k < 1e-4L) return k * k / 6;
  return k - std::log(2 * k) + std::log(-std::expm1(-2 * k));
}

// The normal's mean lies below the segment: everything relative to its lower end.
Real log_tail_segment(Real a, Real b, Real low, Real high, Real s2) {
  const Real s = std::sqrt(s2), at_low = log_mills((low - b * s2) / s);
  Real out = a + b * low - low * low / (2 * s2) - 0.5L * std::log(2 * kPi) + at_low;
  if (high == kInfinite) return out;
  const Real d = (high - low) * ((high + low) / (2 * s2) - b);
  return out + std::log(-std::expm1(-d + log_mills((high - b * s2) / s) - at_low));
}

}  // namespace

Real log_mills(Real x) {
  if (x < 8)
    return std::log(upper_tail(x)) + 0.5L * x * x + 0.5L * std::log(2 * kPi);
  Real fraction = x;
  for (int k = 80; k > 0; --k) fraction = x + k / fraction;
  return -std::log(fraction);
}

Real log_segment(Real a, Real b, Real low, Real high, Real s2) {
  const Real s = std::sqrt(s2);
  if (!(high > low)) return -kInfinite;
  if (high - low < 1e-6L * s) {
    const Real c = 0.5L * (low + high), k = 0.5L * std::abs(b - c / s2) * (high - low);
    return a + b * c - c * c / (2 * s2) - 0.5L * std::log(2 * kPi * s2) + std::log(high - low) +
           log_sinh_ratio(k);
  }
  const Real alpha = (low - b * s2) / s, beta = (high - b * s2) / s;
  if (alpha >= 0) return log_tail_segment(a, b, low, high, s2);
  if (beta <= 0) return log_tail_segment(a, -b, -high, -low, s2);
  return a + b * b * s2 / 2 + std::log1p(-upper_tail(beta) - upper_tail(-alpha));
}

IntegratedGroups::IntegratedGroups(const Problem& problem)
    : c_(inside(problem)), z_(inside(*problem.multipliers, problem.n).transpose()),
      y_(Eigen::Map<const Vec>(problem.y, problem.n)), weight_(Vec::Ones(problem.n)),
      offset_(Vec::Zero(problem.n)), groups_(problem.groups) {
  if (problem.weight) weight_ = Eigen::Map<const Vec>(problem.weight, problem.n);
  if (problem.offset) offset_ = Eigen::Map<const Vec>(problem.offset, problem.n);
  for (Index i = 0; i < problem.n; ++i) groups_[problem.group[i] - 1].push_back(i);
}

void IntegratedGroups::sums(const State& state, RowSums& out, Host& host) {
  const Index p = c_.rows();
  const VecL o = (offset_ + c_.transpose() * state.mean().head(p)).cast<Real>();
  const Real s2 = std::exp(static_cast<Real>(state.mean()[p]));
  out.clear();
  out.rows() = static_cast<double>(y_.size());
  for (const std::vector<Index>& rows : groups_) {
    if (host.interrupted()) throw Interrupted();
    add_flat_rows(rows, o, out);
    add_group(rows, o, s2, out);
  }
}

// Rows that do not see the effect are a factor outside the integral.
void IntegratedGroups::add_flat_rows(const std::vector<Index>& rows, const VecL& o,
                                     RowSums& out) const {
  for (Index i : rows) {
    const double short_of = static_cast<double>(positive_part(1 - y_[i] * o[i]));
    if (z_[i] != 0 || short_of == 0) continue;
    out.value() -= 2 * weight_[i] * short_of;
    out.linear().head(c_.rows()) += 2 * weight_[i] * y_[i] * c_.col(i);
  }
}

// Kinks in order; a row enters its margin or leaves it at its own.
void IntegratedGroups::cut(const std::vector<Index>& rows, const VecL& o, Line& out) const {
  Segment now{-kInfinite, kInfinite, 0, 0, VecL::Zero(c_.rows()), 0, 0, 0};
  const auto move = [&](Index i, Real by) {
    const Real scale = by * 2 * weight_[i];
    now.a += scale * (y_[i] * o[i] - 1);
    now.b += scale * y_[i] * z_[i];
    now.slope += scale * y_[i] * c_.col(i).cast<Real>();
  };
  for (Index i : rows) {
    if (z_[i] == 0) continue;
    out.kinks.push_back({(y_[i] - o[i]) / z_[i], i});
    if (y_[i] * z_[i] > 0) move(i, 1);
  }
  std::sort(out.kinks.begin(), out.kinks.end(),
            [](const Kink& one, const Kink& other) { return one.at < other.at; });
  for (const Kink& kink : out.kinks) {
    now.high = kink.at;
    out.segments.push_back(now);
    now.low = kink.at;
    move(kink.row, -sign(y_[kink.row] * z_[kink.row]));
  }
  now.high = kInfinite;
  out.segments.push_back(now);
}

// The segments' shares of the integral, and their moments of u.
void IntegratedGroups::weigh(Real s2, Line& out) {
  Real largest = -kInfinite, sum = 0;
  for (Segment& k : out.segments) {
    k.mass = log_segment(k.a, k.b, k.low, k.high, s2);
    largest = std::max(largest, k.mass);
  }
  for (const Segment& k : out.segments) sum += std::exp(k.mass - largest);
  out.log_total = largest + std::log(sum);
  out.density.resize(static_cast<Index>(out.kinks.size()));
  for (size_t k = 0; k < out.kinks.size(); ++k) {
    const Real t = out.kinks[k].at;
    out.density[k] = std::exp(out.segments[k].a + out.segments[k].b * t + log_normal(t, s2) -
                              out.log_total);
  }
  for (size_t k = 0; k < out.segments.size(); ++k) {
    Segment& own = out.segments[k];
    const Real low = k > 0 ? out.density[k - 1] : 0;
    const Real high = k < out.kinks.size() ? out.density[k] : 0;
    own.mass = std::exp(own.mass - out.log_total);
    own.first = own.b * s2 * own.mass + s2 * (low - high);
    own.second = own.b * s2 * own.first + s2 * own.mass;
    if (low > 0) own.second += s2 * own.low * low;
    if (high > 0) own.second -= s2 * own.high * high;
  }
}

IntegratedGroups::Line IntegratedGroups::line(const std::vector<Index>& rows, const VecL& o,
                                              Real s2) const {
  Line out;
  cut(rows, o, out);
  weigh(s2, out);
  out.gradient = VecL::Zero(c_.rows());
  for (const Segment& k : out.segments) out.gradient += k.mass * k.slope;
  return out;
}

IntegratedGroups::ScaleTerms IntegratedGroups::scale_terms(const Line& line) const {
  ScaleTerms out{0, 0, VecL::Zero(c_.rows())};
  for (const Segment& k : line.segments) {
    out.slope += k.b * k.first;
    out.curvature += k.b * k.b * k.second;
    out.cross += k.b * k.first * k.slope;
  }
  out.curvature += out.slope - out.slope * out.slope;
  out.cross -= out.slope * line.gradient;
  for (size_t k = 0; k < line.kinks.size(); ++k) {
    const auto [t, i] = line.kinks[k];
    const Real at_kink = 2 * weight_[i] * line.density[k] * t;
    out.curvature -= at_kink * t * std::abs(z_[i]);
    out.cross -= at_kink * sign(z_[i]) * c_.col(i).cast<Real>();
  }
  return out;
}

// To fourth order, for large variances, where the moments of u cancel.
IntegratedGroups::ScaleTerms IntegratedGroups::scale_differences(const std::vector<Index>& rows,
                                                                 const VecL& o, Real s2) const {
  const Real h = 0.01L;
  const auto at = [&](int steps) { return line(rows, o, s2 * std::exp(2 * h * steps)); };
  const Line far[] = {at(-2), at(-1), at(0), at(1), at(2)};
  const auto value = [&](int k) { return far[k + 2].log_total; };
  const auto gradient = [&](int k) -> const VecL& { return far[k + 2].gradient; };
  return {(8 * (value(1) - value(-1)) - (value(2) - value(-2))) / (12 * h),
          (16 * (value(1) + value(-1)) - (value(2) + value(-2)) - 30 * value(0)) / (12 * h * h),
          (8 * (gradient(1) - gradient(-1)) - (gradient(2) - gradient(-2))) / (12 * h)};
}

void IntegratedGroups::add_group(const std::vector<Index>& rows, const VecL& o, Real s2,
                                 RowSums& out) const {
  const Index p = c_.rows();
  const Line own = line(rows, o, s2);
  const ScaleTerms scale = s2 < 1e3L ? scale_terms(own) : scale_differences(rows, o, s2);
  MatL hessian = -own.gradient * own.gradient.transpose();
  for (const Segment& k : own.segments) hessian += k.mass * k.slope * k.slope.transpose();
  for (size_t k = 0; k < own.kinks.size(); ++k) {
    const Index i = own.kinks[k].row;
    const VecL x = c_.col(i).cast<Real>();
    hessian -= 2 * weight_[i] * own.density[k] / std::abs(z_[i]) * x * x.transpose();
  }
  out.value() += static_cast<double>(own.log_total);
  out.linear().head(p) += own.gradient.cast<double>();
  out.linear()[p] += static_cast<double>(scale.slope / 2);  // log s2 = 2 log s
  out.curvature().topLeftCorner(p, p) -= hessian.cast<double>();
  out.curvature().bottomLeftCorner(1, p) -= (scale.cross / 2).transpose().cast<double>();
  out.curvature()(p, p) -= static_cast<double>(scale.curvature / 4);
}

}  // namespace bsvm_test
