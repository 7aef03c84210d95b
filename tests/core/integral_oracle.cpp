#include "integral_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "densities.hpp"
#include "quadrature.hpp"

namespace bsvm_test {

namespace {

Real pseudo_log_p(Real y, Real f) { return -2 * std::max<Real>(0, 1 - y * f); }
Real pseudo_slope(Real y, Real f) { return y * f < 1 ? 2 * y : 0; }

// From the definition: the two pseudo-likelihoods, normalised.
Real normalised_log_p(Real y, Real f) {
  const Real gap = pseudo_log_p(-y, f) - pseudo_log_p(y, f);
  return gap > 0 ? -gap - std::log1p(std::exp(-gap)) : -std::log1p(std::exp(gap));
}
Real normalised_slope(Real y, Real f) {
  const Real gap = pseudo_log_p(-y, f) - pseudo_log_p(y, f);
  const Real other = 1 / (1 + std::exp(-gap));  // p(-y | f)
  return (pseudo_slope(y, f) - pseudo_slope(-y, f)) * other;
}

Real log_density(const RowLaw& law, const RowsData& data, Real s, Real u) {
  Real sum = log_normal(u, s * s);
  for (Index i = 0; i < data.y.size(); ++i)
    sum += data.w(i) * law.log_p(data.y[i], data.o[i] + static_cast<Real>(data.z[i]) * u);
  return sum;
}

// Kinks are breaks, and panels so short that a density that falls by exp(-120) to both ends of one
// has no mass in it.
std::vector<Node> nodes(const RowLaw& law, const RowsData& data, Real s,
                        const std::vector<double>& at, Real ratio) {
  std::vector<Real> breaks(at.begin(), at.end());
  Real steepest = 0.1L;
  for (Index i = 0; i < data.y.size(); ++i) steepest += law.steepest * data.w(i) * std::abs(data.z[i]);
  const Real finest = 0.05L * std::min(s, 1 / steepest);
  for (int k = -80; k <= 80; ++k) breaks.push_back(s * k / 2);
  for (Index i = 0; i < data.y.size(); ++i)
    for (Real kink : law.kinks) {
      if (data.z[i] == 0) continue;
      const Real t = (law.kink(data.y[i], kink) - data.o[i]) / data.z[i];
      breaks.push_back(t);
      for (Real step = finest; step < 60 * s; step *= ratio)
        breaks.insert(breaks.end(), {t - step, t + step});
    }
  std::sort(breaks.begin(), breaks.end());
  std::vector<Real> logs;
  for (Real each : breaks) logs.push_back(log_density(law, data, s, each));
  const Real least = *std::max_element(logs.begin(), logs.end()) - 120;
  std::vector<Node> out;
  for (size_t k = 1; k < breaks.size(); ++k) {
    if (breaks[k] <= breaks[k - 1] || std::max(logs[k - 1], logs[k]) < least) continue;
    const std::vector<Node> panel = gauss_nodes(breaks[k - 1], breaks[k]);
    out.insert(out.end(), panel.begin(), panel.end());
  }
  return out;
}

}  // namespace

const RowLaw kPseudo{pseudo_log_p, pseudo_slope, {1}};
const RowLaw kNormalised{normalised_log_p, normalised_slope, {-1, 1}};

EffectTruth brute_force(const RowLaw& law, const RowsData& data, Real s,
                        const std::vector<double>& at, Real ratio) {
  const Index d = data.c.rows(), r = data.y.size();
  const std::vector<Node> points = nodes(law, data, s, at, ratio);
  std::vector<Real> logs;
  Real largest = -std::numeric_limits<Real>::infinity();
  for (const Node& node : points) {
    logs.push_back(std::log(node.weight) + log_density(law, data, s, node.x));
    largest = std::max(largest, logs.back());
  }
  // Mean first, then what is centred at it.
  Real total = 0, mean = 0;
  for (size_t k = 0; k < points.size(); ++k) total += std::exp(logs[k] - largest);
  for (size_t k = 0; k < points.size(); ++k)
    mean += points[k].x * std::exp(logs[k] - largest) / total;
  EffectTruth out{largest + std::log(total), VecL::Zero(d + 1), mean, 0, VecL::Zero(d), {}};
  out.cdf.assign(at.size(), 0);
  for (size_t k = 0; k < points.size(); ++k) {
    const Real u = points[k].x, share = std::exp(logs[k] - largest) / total;
    if (share < 1e-24L) continue;
    VecL slope = VecL::Zero(d);
    for (Index i = 0; i < r; ++i)
      slope += data.w(i) * law.slope(data.y[i], data.o[i] + static_cast<Real>(data.z[i]) * u) *
               data.c.col(i).cast<Real>();
    out.gradient.head(d) += share * slope;
    out.gradient[d] += share * (u * u / (s * s) - 1);
    out.variance += share * (u - mean) * (u - mean);
    out.slope += share * (u - mean) * slope;
    for (size_t j = 0; j < at.size(); ++j)
      if (u <= at[j]) out.cdf[j] += share;
  }
  return out;
}

RowsData moved(const RowsData& data, const Vec& b) {
  RowsData out = data;
  out.o += data.c.transpose() * b;
  return out;
}

PairTruth brute_force_pair(const RowLaw& law, const RowsData& data, const Vec& second, Real f00,
                           Real f10, Real f11) {
  RowsData inner = data;
  inner.z = second;
  inner.c.resize(0, data.y.size());
  std::vector<Real> breaks, logs, means, spreads;
  const auto add = [&](Real e, std::vector<Real> around) {
    for (Real away : around)
      for (Real at : {e - away, e + away})
        if (std::abs(at) < 9) breaks.push_back(at);
  };
  for (int k = -18; k <= 18; ++k) breaks.push_back(0.5L * k);
  // Where two rows are steep, what they leave is as steep.
  std::vector<Real> crossing{0};
  for (Real away = 0.1L; law.steepest > 4 && away > 1e-5L; away /= 4) crossing.push_back(away);
  // Where a row is at its kink with e_1 = 0, and where two are at the same e_1.
  for (Index i = 0; i < data.y.size(); ++i)
    for (Real kink : law.kinks) {
      const Real t = law.kink(data.y[i], kink) - data.o[i], v = f00 * data.z[i] + f10 * second[i];
      add(t / v, {0, 1e-4L, 1e-3L, 0.01L, 0.1L, 0.3L});
      for (Index j = 0; j < i; ++j)
        for (Real other : law.kinks) {
          const Real tj = law.kink(data.y[j], other) - data.o[j], vj = f00 * data.z[j] + f10 * second[j];
          add((t * second[j] - tj * second[i]) / (v * second[j] - vj * second[i]), crossing);
        }
    }
  const std::vector<Node> points = panel_nodes(breaks);
  Real largest = -std::numeric_limits<Real>::infinity(), total = 0;
  for (const Node& node : points) {
    for (Index i = 0; i < data.y.size(); ++i)
      inner.o[i] = static_cast<double>(data.o[i] + (f00 * data.z[i] + f10 * second[i]) * node.x);
    const EffectTruth now = brute_force(law, inner, f11, {}, 4);
    logs.push_back(now.value + log_normal(node.x, 1) + std::log(node.weight));
    means.push_back(now.mean);
    spreads.push_back(now.variance);
    largest = std::max(largest, logs.back());
  }
  for (Real each : logs) total += std::exp(each - largest);
  PairTruth out{largest + std::log(total), VecL::Zero(2), MatL::Zero(2, 2)};
  for (size_t k = 0; k < points.size(); ++k) {
    const Real share = std::exp(logs[k] - largest) / total;
    VecL u(2);
    u << f00 * points[k].x, f10 * points[k].x + means[k];
    out.mean += share * u;
    out.covariance += share * u * u.transpose();
    out.covariance(1, 1) += share * spreads[k];
  }
  out.covariance -= out.mean * out.mean.transpose();
  return out;
}

Mat brute_force_hessian(const RowLaw& law, const RowsData& data, Real s, double step) {
  const Index d = data.c.rows();
  Mat out(d + 1, d + 1);
  for (Index j = 0; j <= d; ++j) {
    const auto at = [&](int side) {
      Vec b = Vec::Zero(d);
      if (j < d) b[j] = side * step;
      const Real scale = j < d ? s : s * std::exp(static_cast<Real>(side) * step);
      return brute_force(law, moved(data, b), scale).gradient;
    };
    out.col(j) = ((at(1) - at(-1)) / (2 * static_cast<Real>(step))).cast<double>();
  }
  return out;
}

}  // namespace bsvm_test
