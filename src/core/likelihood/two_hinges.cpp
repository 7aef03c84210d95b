// With u1 = y - f - e1 and u2 = f - y - e2 the loss is a (u1)_+ + b (u2)_+. For f ~ N(m, v) let u_k
// be the means and s = sqrt(v). Then, with x_k = u_k / s (regression.md, section 1),
//
//   E (u_k)_+ = u_k Phi(x_k) + s phi(x_k),  in u_k its derivatives are Phi(x_k) and phi(x_k) / s;
//
// with a latent scale each, averaged over, the expectation's place is taken by
//
//   (u_k + s_k) / 2,  s_k = sqrt(E u_k^2) = sqrt(u_k^2 + v),
//
// that is (u_k)_+ + v / (s_k + |u_k|) / 2, in which nothing cancels. For draws let h = w a u_1 / 2
// (or w b u_2 / 2), w the row's weight. In
//
//   exp{-w a (u_1)_+} = exp(-h) exp(-|h|)
//
// exp(-|h|) is an average of exp(-tau h^2 / 2) over tau. Given h, tau is inverse Gaussian with mean
// 1 / |h| and shape 1, and leaves the quadratic -h - tau h^2 / 2 of f.
#include "two_hinges.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "hazard.hpp"
#include "linalg/kernels.hpp"
#include "matched_terms.hpp"
#include "random/inverse_gaussian.hpp"
#include "two_hinges_tilt.hpp"

namespace bsvm {

namespace {

using Eight = Eigen::Array<double, 8, 1>;

// E (u)_+, P(u > 0) and the density of u / s at zero, from the half beyond |u|, which is small.
struct PositivePart {
  Eight value, tail, density;

  PositivePart(const Eight& u, const Eight& s, const Eight& least) {
    const Eight t = (u.abs() / least).min(1e150), excess = hazard_excess(t);
    density = normal_densities(t);
    const Eight beyond = density / (t + excess);
    value = u.max(0.0) + s * excess * beyond;
    tail = (u > 0).select(1 - beyond, beyond);
  }
};

// u + root and its derivative, root = sqrt(u^2 + v), and 1 / root, whose cube times v is the second
// derivative. One division: it is what this costs.
struct ScaledPart {
  Eight value, slope, weight;

  ScaledPart(const Eight& u, const Eight& v) {
    const Eight root = (u.square() + v).sqrt().max(1e-100).min(1e150), sum = root + u.abs(),
                inverse = (root * sum).inverse();
    weight = sum * inverse;
    value = 2 * u.max(0.0) + v * (root * inverse);
    slope = 1 + u * weight;
  }
};

// Eight rows at a time, of the last ones what there is: residuals' means and variances in, four
// numbers of each out.
template <class Rows>
void by_eights(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
               const Eigen::Ref<const Arr>& v, const Rows& rows, RowTerms& out) {
  Eight off, var, value, slope, weight, curvature;
  Index from = 0;
  for (; from + 8 <= y.size(); from += 8) {
    off = y.segment<8>(from) - m.segment<8>(from);
    var = v.segment<8>(from);
    rows(off, var, value, slope, weight, curvature);
    out.value.segment<8>(from) = value;
    out.slope.segment<8>(from) = slope;
    out.weight.segment<8>(from) = weight;
    out.curvature.segment<8>(from) = curvature;
  }
  const Index r = y.size() - from;
  if (r == 0) return;
  off.setZero();
  var.setOnes();
  off.head(r) = y.tail(r) - m.tail(r);
  var.head(r) = v.tail(r);
  rows(off, var, value, slope, weight, curvature);
  out.value.tail(r) = value.head(r);
  out.slope.tail(r) = slope.head(r);
  out.weight.tail(r) = weight.head(r);
  out.curvature.tail(r) = curvature.head(r);
}

}  // namespace

TwoHinges::TwoHinges(double a, double b, double e1, double e2) : pair_{a, b, e1, e2, 0} {
  if (!(a > 0 && b >= 0 && e1 + e2 >= 0 && std::isfinite(a + b + e1 + e2)))
    throw InvalidInput("likelihood", "Two hinges need positive slopes, and the kink of the upper "
                                     "one must not be below that of the lower one.");
  if (b > 0) pair_.log_c = -std::log(1 / a + 1 / b + e1 + e2);
}

double TwoHinges::most_offset() const { return kUnitsOfOffset / std::max(pair_.a, pair_.b); }

Atoms TwoHinges::atoms(double y) const {
  return {2, {{y - pair_.e1, -1, pair_.a}, {y + pair_.e2, 1, pair_.b}}};
}

void TwoHinges::terms(Use use, const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
                      const Eigen::Ref<const Arr>& v, RowTerms& out) const {
  switch (use) {
    case Use::augmented: return augmented(y, m, v, out);
    case Use::expected: return expected(y, m, v, out);
    case Use::point: return point(y, m, out);
    case Use::matched:
      expected(y, m, v, out);
      return match_moments(*this, y, m, v, out);
    default: throw InvalidInput("likelihood", "This likelihood has no such terms.");
  }
}

void TwoHinges::augmented(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
                          const Eigen::Ref<const Arr>& v, RowTerms& out) const {
  const double a = 0.5 * pair_.a, b = 0.5 * pair_.b;
  by_eights(y, m, v, [&](const Eight& off, const Eight& var, Eight& value, Eight& slope,
                         Eight& weight, Eight& curvature) {
    const ScaledPart above(off - pair_.e1, var), below(-off - pair_.e2, var);
    value = pair_.log_c - (a * above.value + b * below.value);
    slope = a * above.slope - b * below.slope;
    weight = a * above.weight + b * below.weight;
    curvature = var * (a * above.weight.cube() + b * below.weight.cube());
  }, out);
}

void TwoHinges::expected(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
                         const Eigen::Ref<const Arr>& v, RowTerms& out) const {
  const double a = pair_.a, b = pair_.b;
  by_eights(y, m, v, [&](const Eight& off, const Eight& var, Eight& value, Eight& slope,
                         Eight& weight, Eight& curvature) {
    const Eight s = var.sqrt(), least = s.max(1e-100);
    const PositivePart above(off - pair_.e1, s, least), below(-off - pair_.e2, s, least);
    value = pair_.log_c - (a * above.value + b * below.value);
    slope = a * above.tail - b * below.tail;
    weight = curvature = (a * above.density + b * below.density) / least;
  }, out);
}

// On a kink the slope is half way, as the limit of expected() is.
void TwoHinges::point(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
                      RowTerms& out) const {
  const Arr above = (y - m) - pair_.e1, below = -(y - m) - pair_.e2;
  out.value = pair_.log_c - (pair_.a * above.max(0.0) + pair_.b * below.max(0.0));
  out.slope = 0.5 * (pair_.a * (1 + above.sign()) - pair_.b * (1 + below.sign()));
  out.weight.setZero();
  out.curvature.setZero();
}

void TwoHinges::draw(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& f,
                     const Eigen::Ref<const Arr>& weight, const RowDraws& random,
                     RowTerms& out) const {
  const Index r = y.size();
  for (Index i = 0; i < r; ++i) {
    const double off = y[i] - f[i], a = 0.5 * weight[i] * pair_.a, b = 0.5 * weight[i] * pair_.b;
    const double above = a * (off - pair_.e1), below = b * (-off - pair_.e2);
    const double first = inverse_gaussian(std::abs(above), random.normal[i], random.uniform[i]),
                 second =
                     inverse_gaussian(std::abs(below), random.normal[i + r], random.uniform[i + r]);
    out.value[i] =
        weight[i] * pair_.log_c - 2 * (std::max(above, 0.0) + std::max(below, 0.0));
    out.slope[i] = a * (1 + first * above) - b * (1 + second * below);
    out.weight[i] = out.curvature[i] = a * a * first + b * b * second;
  }
}

double TwoHinges::over(const LineRows& rows, double s, double t) const {
  return kernels().hinge_pairs(rows, s, t, pair_);
}

HingePair TwoHinges::times(double weight) const {
  return {weight * pair_.a, weight * pair_.b, pair_.e1, pair_.e2, weight * pair_.log_c};
}

Tilted TwoHinges::averaged(double y, double mean, double v, double weight) const {
  return two_hinges_tilt(times(weight), y - mean, v);
}

double TwoHinges::draw_averaged(double y, double mean, double v, double weight,
                                Draws& random) const {
  return y - draw_two_hinges(times(weight), y - mean, v, random);
}

}  // namespace bsvm
