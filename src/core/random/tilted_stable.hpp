#pragma once
#include <algorithm>
#include <cmath>

#include "special/functions.hpp"

namespace bsvm {

// The positive stable law of index a in (0, 1), E exp(-s T) = exp(-s^a), tilted: density
// proportional to exp(-tilt t) f(t) (Devroye 2009 has another sampler for it).
//
// By Kanter's (1975) representation, with U uniform on (0, pi), E exponential, b = (1 - a)/a,
//
//   T = {A(U)/E}^b,   A(u)^(1-a) = sin(a u)^a sin((1-a) u)^(1-a) / sin(u)
//
// so that U and y = log E have to be drawn from the density
//
//   exp{y - e^y - tilt A(u)^b e^(-b y)},   0 < u < pi.
//
// log A is convex, since x^2 / sin(x)^2 increases, so this is log-concave in (u, y). At given u its
// mode has e^y = 1 + x, where x e^(b y) = b tilt A(u)^b, and the value exp P(u), P(u) = log(1 + x)
// - 1 - x/(1-a). With t = y - log(1 + x) the density is exp{P(u) + l(t; x)},
//
//   l(t; x) = t - (1 + x) (e^t - 1) - x (e^(-bt) - 1)/b,
//
// P'(u) = -x (log A)'(u) and (log A)'' >= a, where x increases with u; l falls with x. So with
// x_0 = x(0)
//
//   P(u) <= P(0) - x_0 a u^2/2,   l(t; x) <= l(t; x_0) <= 0 and its tangents
//
// and at least a fifth of the pairs (u, t) from these bounds is kept, whatever the tilt, if the
// index is 0.005 or more; with smaller ones fewer are.
// Beyond x_0 = 1e10 t is normal and u zero to working accuracy.
class TiltedStable {
 public:
  TiltedStable(double index, double log_tilt)  // log_tilt may be -inf
      : a_(index), b_((1 - index) / index), log_tilt_(log_tilt),
        x0_(excess(log_power_at_zero())), curvature_(x0_ * a_) {
    const double width = std::min(spread(), 300 / b_);
    left_ = tangent(-width);
    right_ = tangent(width);
  }

  // log T. Random: has uniform() and normal(), as Draws.
  template <class Random>
  double draw(Random& random) const {
    for (int k = 0; k < 1000 && x0_ < 1e10; ++k) {
      const double u = draw_angle(random);
      if (!(u < kPi)) continue;
      double log_bound = 0;
      const double t = draw_shift(random, log_bound), log_a = log_power(u), x = excess(log_a);
      const double angle = peak(x) - peak(x0_) + (is_narrow() ? 0.5 * curvature_ * u * u : 0);
      if (std::log(random.uniform()) < angle + shape(t, x) - log_bound)
        return log_a - b_ * (std::log1p(x) + t);
    }
    return log_power_at_zero() - b_ * (std::log1p(x0_) + spread() * random.normal());
  }

 private:
  static constexpr double kPi = 3.14159265358979323846;

  // A line above l(t; x_0), from where it is zero.
  struct Tangent {
    double start, slope;
  };

  bool is_narrow() const { return curvature_ > 0.3; }

  template <class Random>
  double draw_angle(Random& random) const {
    return is_narrow() ? std::abs(random.normal()) / std::sqrt(curvature_)
                       : kPi * random.uniform();
  }

  // From min(0, the tangents), in logarithms.
  template <class Random>
  double draw_shift(Random& random, double& log_bound) const {
    const double below = 1 / left_.slope, middle = right_.start - left_.start,
                 above = -1 / right_.slope;
    const double at = random.uniform() * (below + middle + above);
    if (at >= below && at <= below + middle) return left_.start + (at - below);
    log_bound = std::log(random.uniform());
    const Tangent& side = at < below ? left_ : right_;
    return side.start + log_bound / side.slope;
  }

  Tangent tangent(double t) const {
    const double slope = 1 - (1 + x0_) * std::exp(t) + tilted(std::exp(-b_ * t), x0_);
    return {t - shape(t, x0_) / slope, slope};
  }

  double spread() const { return 1 / std::sqrt(1 + x0_ + b_ * x0_); }  // (-l''(0; x_0))^{-1/2}

  // b log A(u).
  double log_power(double u) const {
    return (a_ * std::log(std::sin(a_ * u)) + (1 - a_) * std::log(std::sin((1 - a_) * u)) -
            std::log(std::sin(u))) / a_;
  }
  double log_power_at_zero() const { return b_ * std::log1p(-a_) + std::log(a_); }

  // x of log x + b log(1 + x) = log(b tilt) + b log A =: g. In log x the left side is convex and
  // increases, and Newton's steps from above do not overshoot.
  double excess(double log_a) const {
    const double g = std::log(b_) + log_tilt_ + log_a;
    if (!(g > -700)) return 0;
    double z = g > 0 ? g / (1 + b_) : g;
    for (int k = 0; k < 100; ++k) {
      const double step = (z + b_ * log1p_exp(z) - g) / (1 + b_ / (1 + std::exp(-z)));
      z -= step;
      if (std::abs(step) < 1e-15 * (1 + std::abs(z))) break;
    }
    return std::exp(std::min(z, 700.0));
  }

  double peak(double x) const { return std::log1p(x) - x / (1 - a_); }  // P(u) + 1

  double shape(double t, double x) const {  // l(t; x)
    return t - (1 + x) * std::expm1(t) - tilted(std::expm1(-b_ * t), x) / b_;
  }

  static double tilted(double factor, double x) { return x > 0 ? x * factor : 0; }  // 0 inf = 0

  double a_, b_, log_tilt_, x0_, curvature_;
  Tangent left_, right_;
};

}  // namespace bsvm
