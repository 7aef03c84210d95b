#include "penalties.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace bsvm {

double Penalties::value(ConstVecRef b) const {
  double sum = 0;
  for (Index j = 0; j < size(); ++j) {
    const double x = std::abs(b[j] / scale[j]);
    sum += power[j] == 2 ? x * x : power[j] == 1 ? x : std::pow(x, power[j]);
  }
  return sum;
}

double Penalties::slope(Index j, double size) const {
  const double x = size / scale[j];
  return power[j] / scale[j] *
         (power[j] == 2 ? x : power[j] == 1 ? 1 : std::pow(x, power[j] - 1));
}

Penalties Penalties::select(const std::vector<Index>& chosen) const {
  Penalties out{Vec(chosen.size()), Vec(chosen.size())};
  for (size_t f = 0; f < chosen.size(); ++f) {
    out.power[f] = power[chosen[f]];
    out.scale[f] = scale[chosen[f]];
  }
  return out;
}

Penalties Penalties::tangents(ConstVecRef b) const {
  Penalties out = *this;
  for (Index j = 0; j < b.size(); ++j)
    if (power[j] < 1) {
      out.scale[j] = 1 / slope(j, std::abs(b[j]));
      out.power[j] = 1;
    }
  return out;
}

double primal_objective(const Design& design, const Penalties& penalties, ConstVecRef b) {
  return design.cost.dot((design.kink - design.times(b)).cwiseMax(0)) + penalties.value(b);
}

namespace {

// D along t a, 0 <= t <= limit: t linear - sum_k t^exponent_k size_k.
struct Ray {
  double linear = 0, limit = std::numeric_limits<double>::infinity();
  std::map<double, double> sizes;  // exponent -> size

  double value(double t) const {
    double sum = t * linear;
    for (const auto& part : sizes) sum -= std::pow(t, part.first) * part.second;
    return sum;
  }
  double slope(double t) const {
    double sum = linear;
    for (const auto& part : sizes)
      sum -= part.first * std::pow(t, part.first - 1) * part.second;
    return sum;
  }
};

Ray ray_of(const Design& design, const Penalties& penalties, ConstVecRef a, ConstVecRef z) {
  Ray ray;
  ray.linear = a.dot(design.kink);
  for (Index i = 0; i < a.size(); ++i)
    if (a[i] > 0) ray.limit = std::min(ray.limit, design.cost[i] / a[i]);
  for (Index j = 0; j < z.size(); ++j) {
    const double alpha = penalties.power[j], x = std::abs(z[j]) * penalties.scale[j] / alpha;
    if (alpha == 1 && x > 0) ray.limit = std::min(ray.limit, 1 / x);
    if (alpha > 1) {
      const double exponent = alpha / (alpha - 1);
      ray.sizes[exponent] += (alpha - 1) * (exponent == 2 ? x * x : std::pow(x, exponent));
    }
  }
  return ray;
}

}  // namespace

// D is concave along the ray: its slope changes sign once.
double dual_objective(const Design& design, const Penalties& penalties, ConstVecRef a,
                      ConstVecRef z, double& stretch) {
  const Ray ray = ray_of(design, penalties, a, z);
  double low = 0, high = std::isfinite(ray.limit) ? ray.limit : 1;
  stretch = high;
  if (!(ray.slope(high) >= 0)) {
    for (int k = 0; k < 60; ++k) {
      const double middle = (low + high) / 2;
      (ray.slope(middle) >= 0 ? low : high) = middle;
    }
    stretch = low;
  }
  const double value = ray.value(stretch);
  return std::isfinite(value) ? value : -std::numeric_limits<double>::infinity();
}

double gap_scale(const Design& design, double primal) {
  return std::max({std::abs(primal), 1e-8 * design.cost.dot(design.kink.cwiseMax(0)), 1e-300});
}

double relative_gap(const Design& design, double primal, double dual) {
  return (primal - dual) / gap_scale(design, primal);
}

}  // namespace bsvm
