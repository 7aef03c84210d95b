#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "densities.hpp"
#include "oracle.hpp"
#include "quadrature.hpp"

// The density c exp{-a (r - e1)_+ - b (-r - e2)_+} of a residual r, by brute force in long double.
namespace bsvm_test {

struct PairLaw {
  Real a, b, e1, e2;

  Real constant() const { return -std::log(1 / a + 1 / b + e1 + e2); }
  Real log_p(Real r) const {
    return constant() - a * std::max(Real(0), r - e1) - b * std::max(Real(0), -r - e2);
  }
  // P(r <= x).
  Real cdf(Real x) const {
    const Real below = std::exp(constant()) / b * std::exp(-b * std::max(Real(0), -e2 - x));
    if (x <= -e2) return below;
    if (x <= e1) return below + std::exp(constant()) * (x + e2);
    return 1 - std::exp(constant()) / a * std::exp(-a * (x - e1));
  }
  // The loss raised to a power, which is a loss again, less its constant.
  PairLaw times(Real weight) const { return {a * weight, b * weight, e1, e2}; }
};

// E log p and its derivatives, with r ~ N(off, v): expectations of the slopes and kinks.
struct PairMoments {
  Real value, slope, weight;
};
inline PairMoments expected_pair(const PairLaw& law, Real off, Real v) {
  const Real s = std::sqrt(v);
  std::vector<long double> breaks;
  for (Real z = -16; z <= 16; z += 0.5L) breaks.push_back(z);
  for (const Real kink : {law.e1, -law.e2})
    if (std::abs(kink - off) < 16 * s) breaks.push_back((kink - off) / s);
  Real value = 0;
  for (const Node& z : panel_nodes(breaks))
    value += z.weight * std::exp(log_normal(z.x, 1)) * law.log_p(off + s * z.x);
  return {value, law.a * upper_tail((law.e1 - off) / s) - law.b * upper_tail((law.e2 + off) / s),
          law.a * std::exp(log_normal(off - law.e1, v)) +
              law.b * std::exp(log_normal(off + law.e2, v))};
}

// log E p^weight under r ~ N(off, v), the mean and variance of z = (r - off) / s under what is
// averaged, and the derivatives in f's mean: by these or, as the expected derivatives of p, where s
// is small. Panels from the integrand's top outwards, short where it is steep.
struct TiltedPair {
  Real value, mean, variance, slope, curvature;
};
inline TiltedPair tilted_pair(const PairLaw& of, Real off, Real v, Real weight) {
  const Real s = std::sqrt(v), kinks[] = {(-of.e2 - off) / s, (of.e1 - off) / s};
  const Real up = of.b * weight * s, down = of.a * weight * s;  // slopes in z beyond the kinks
  const auto slope = [&](Real z) { return (z < kinks[0] ? up : z > kinks[1] ? -down : 0) - z; };
  const auto loss = [&](Real z) {
    return up * std::max(Real(0), kinks[0] - z) + down * std::max(Real(0), z - kinks[1]);
  };
  Real top = std::min(up, kinks[0]);
  if (kinks[0] < up) top = std::min(std::max(Real(0), kinks[0]), kinks[1]);
  if (kinks[1] < -down) top = -down;
  const Real highest = -loss(top) - top * top / 2;
  std::vector<long double> breaks{top};
  for (const int side : {-1, 1})
    for (Real z = top; -loss(z) - z * z / 2 > highest - 70;) {
      Real next = z + side * 0.6L / (1 + std::abs(slope(z + side * 1e-15L)));
      for (const Real kink : kinks)
        if (side * (kink - z) > 0 && side * (next - kink) > 0) next = kink;
      breaks.push_back(z = next);
    }
  Real zero = 0, one = 0, two = 0, above = 0, below = 0;
  for (const Node& node : panel_nodes(breaks)) {
    const Real share =
        node.weight * std::exp(-loss(node.x) - node.x * node.x / 2 - highest), z = node.x - top;
    zero += share;
    one += share * z;
    two += share * z * z;
    if (node.x > kinks[1]) above += share;
    if (node.x < kinks[0]) below += share;
  }
  TiltedPair out{weight * of.constant() + highest + std::log(zero) - 0.5L * std::log(2 * kPi),
                 top + one / zero, two / zero - one / zero * one / zero, 0, 0};
  out.slope = -out.mean / s;
  out.curvature = (1 - out.variance) / v;
  if (std::max(up, down) > 1) return out;
  const auto kink = [&](Real z) { return std::exp(-z * z / 2 - highest) / zero; };
  out.slope = (down * above - up * below) / zero / s;
  out.curvature = out.slope * out.slope +
                  (down * kink(kinks[1]) + up * kink(kinks[0]) -
                   (down * down * above + up * up * below) / zero) / v;
  return out;
}

}  // namespace bsvm_test
