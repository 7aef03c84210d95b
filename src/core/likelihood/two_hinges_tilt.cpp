// Under r ~ N(off, v), s = sqrt(v), the density is a mixture of three truncated normal ones
// (regression.md, section 1): r above e1, between the kinks, and below -e2. In units of s, with
// z = (off - r) / s, x1 = (off - e1) / s and x2 = (-off - e2) / s, these are z < x1, x1 < z < -x2
// and z > -x2.
//
//   above   exp(-a s (x1 - z)) phi(z): mass phi(x1) R(a s - x1), R Mills' ratio, which is
//           exp(a^2 v / 2 - a s x1) Phi(x1 - a s) where that is large; with t = x1 - z > 0 its
//           density is proportional to exp(-(a s - x1) t - t^2 / 2). `below` mirrors it.
//   within  phi(z): from its end nearer to zero, at distance x from it, with t the distance from
//           there, it is proportional to exp(-x t - t^2 / 2), 0 < t < (e1 + e2) / s.
//
// With p_k their shares and S the sum, the first derivatives of log S are
//
//   slope a p1 - b p2,   curvature  J - p0 (a^2 p1 + b^2 p2) - (a + b)^2 p1 p2,
//   J = (a phi(x1) + b phi(x2)) / (s S),
//
// which have the digits of a and b; if these are large next to 1/s, the mean z and the variance V
// of the mixture have more: slope z / s, curvature (1 - V) / v.
#include "two_hinges_tilt.hpp"

#include <algorithm>
#include <cmath>

#include "integral/rules/legendre.hpp"
#include "random/truncated_normal.hpp"
#include "special/functions.hpp"
#include "special/normal_law.hpp"
#include "special/normal_tail.hpp"

namespace bsvm {

namespace {

constexpr double kFarthestKink = 1e300;  // in standard deviations

double log_normal_density(double x) { return -0.5 * (x * x + kLog2Pi); }

// Mass in logarithms, mean of z and its variance.
struct Piece {
  double log_mass = kNothing, mean = 0, variance = 0;
};

// Beyond a kink at x, where each unit of z costs `cost`; z < x.
Piece outer_piece(double x, double cost) {
  const double end = cost - x;
  if (end < 0) {
    const double hazard = 1 / mills(end), tail = normal_cdf(end);
    return {cost * (0.5 * cost - x) + std::log1p(-tail), cost - hazard,
            1 - hazard * (hazard - end)};
  }
  double t[3];
  tail_moments<2>(end, t);
  const double mean = t[1] / t[0];
  return {log_normal_density(x) + std::log(t[0]), x - mean,
          std::max(0.0, t[2] / t[0] - mean * mean)};
}

// A standard normal number between low and low + width, whose middle is not below zero.
class InnerPiece {
 public:
  InnerPiece(double low, double width) : low_(low), width_(width) {}

  Piece piece() const {
    if (!(width_ > 0)) return {};
    if (width_ * (std::max(low_, 0.0) + width_) < 9) return by_rule();
    return low_ < 0 ? about_zero() : in_tail();
  }

 private:
  static Piece of_moments(double low, double m0, double m1, double m2) {
    const double mean = m1 / m0;
    return {log_normal_density(low) + std::log(m0), low + mean, m2 / m0 - mean * mean};
  }

  Piece by_rule() const {
    const Legendre& rule = kLegendre[5];
    double m[3] = {0, 0, 0};
    for (int k = 0; k < rule.order / 2; ++k)
      for (int side = -1; side <= 1; side += 2) {
        const double part = 0.5 * (1 + side * rule.x[k]), t = width_ * part;
        const double share = 0.5 * rule.w[k] * std::exp(-t * (low_ + 0.5 * t));
        m[0] += share;
        m[1] += share * part;
        m[2] += share * part * part;
      }
    return of_moments(low_, width_ * m[0], width_ * width_ * m[1], width_ * width_ * width_ * m[2]);
  }

  Piece in_tail() const {
    double near[3], far[3];
    tail_moments<2>(low_, near);
    tail_moments<2>(low_ + width_, far);
    const double share = std::exp(-width_ * (low_ + 0.5 * width_));
    if (!(share > 0)) return of_moments(low_, near[0], near[1], near[2]);
    return of_moments(low_, near[0] - share * far[0],
                      near[1] - share * (width_ * far[0] + far[1]),
                      near[2] - share * (width_ * (width_ * far[0] + 2 * far[1]) + far[2]));
  }

  Piece about_zero() const {
    const double high = low_ + width_, below = normal_density(low_), above = normal_density(high);
    const double out = normal_cdf(low_) + normal_cdf(-high), mass = 1 - out;
    const double mean = (below - above) / mass;
    const double moved = low_ * below - (above > 0 ? high * above : 0);
    return {std::log1p(-out), mean, 1 + moved / mass - mean * mean};
  }

  double low_, width_;
};

Piece mirrored(Piece of) {
  of.mean = -of.mean;
  return of;
}

double kink_place(double x) { return std::clamp(x, -kFarthestKink, kFarthestKink); }

struct Mixture {
  double s, x1, x2, width;
  Piece above, within, below;
  double value, p1, p0, p2;

  Mixture(const HingePair& of, double off, double v)
      : s(std::sqrt(v)), x1(kink_place((off - of.e1) / s)), x2(kink_place((-off - of.e2) / s)),
        width(kink_place((of.e1 + of.e2) / s)),
        above(outer_piece(x1, of.a * s)),
        within(x1 >= x2 ? InnerPiece(x1, width).piece() : mirrored(InnerPiece(x2, width).piece())),
        below(mirrored(outer_piece(x2, of.b * s))) {
    const double top = std::max({above.log_mass, within.log_mass, below.log_mass});
    p1 = std::exp(above.log_mass - top);
    p0 = std::exp(within.log_mass - top);
    p2 = std::exp(below.log_mass - top);
    const double sum = p1 + p0 + p2;
    p1 /= sum;
    p0 /= sum;
    p2 /= sum;
    value = top + std::log(sum);
  }

  double mean() const { return p1 * above.mean + p0 * within.mean + p2 * below.mean; }
  double variance() const {
    const double centre = mean();
    const auto part = [&](double share, const Piece& of) {
      return share > 0 ? share * (of.variance + (of.mean - centre) * (of.mean - centre)) : 0;
    };
    return part(p1, above) + part(p0, within) + part(p2, below);
  }
  // The density at a kink over the mixture's mass.
  double at(double x) const { return std::exp(log_normal_density(x) - value); }
};

}  // namespace

Tilted two_hinges_tilt(const HingePair& of, double off, double v) {
  const Mixture is(of, off, v);
  const double a = of.a, b = of.b, value = of.log_c + is.value;
  if (std::max(a, b) * is.s > 1)
    return {value, is.mean() / is.s, (1 - is.variance()) / is.s / is.s};
  const double jump = (a * is.at(is.x1) + b * is.at(is.x2)) / is.s;
  const double inner = is.p0 * (a * a * is.p1 + b * b * is.p2);
  return {value, a * is.p1 - b * is.p2, jump - inner - (a + b) * (a + b) * is.p1 * is.p2};
}

// From the kink that the piece lies at: far from off + s z no digits are lost.
double draw_two_hinges(const HingePair& of, double off, double v, Draws& random) {
  const Mixture is(of, off, v);
  const double which = random.uniform();
  if (which < is.p1) return of.e1 + is.s * excess_above(of.a * is.s - is.x1, random);
  if (which > is.p1 + is.p0) return -of.e2 - is.s * excess_above(of.b * is.s - is.x2, random);
  const double t = is.s * excess_within(std::max(is.x1, is.x2), is.width, random);
  return is.x1 >= is.x2 ? of.e1 - t : t - of.e2;
}

}  // namespace bsvm
