// The hinge pseudo-likelihood exp{-2 (1 - y f)_+} (000, section 2.3).
//
// With the latent scale of the row averaged over, its share of the bound is
//   l(m, v) = y m - 1 - sqrt(chi),  chi = E u^2 = (1 - y m)^2 + v,  u = 1 - y f
// (the Bessel functions of 000 are K_{1/2}, which is elementary). It is jointly
// concave in m and the standard deviation.
//
// The expectation of the row itself is closed as well and larger (models.md, row 19): with
// a = 1 - y m and s = sqrt(v),
//   l(m, v) = -2 (a Phi(a/s) + s phi(a/s)),
// jointly concave in m and s too.
//
// Given f the latent precision w = 1/a of a row of weight omega is inverse Gaussian with
// mean 1/|u| and shape omega, and leaves -(omega w / 2) (f - y (1 + 1/w))^2 (000, App. A;
// models.md, section 1, with gamma = omega).
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "hazard.hpp"
#include "integral/one/hinge_integral.hpp"
#include "likelihood.hpp"
#include "linalg/kernels.hpp"
#include "matched_terms.hpp"
#include "pseudo_tilt.hpp"
#include "random/inverse_gaussian.hpp"
#include "special/functions.hpp"
#include "special/normal_law.hpp"

namespace bsvm {
namespace {

class Hinge : public Likelihood {
 public:
  explicit Hinge(const Params&) {}

  bool supports(Use use) const override { return use != Use::marginal; }
  void check(const double* y, Index n) const override { check_signs(y, n); }
  const char* offset_scale() const override { return kMarginScale; }

  Atoms atoms(double y) const override { return {1, {{y, -y, 2}}}; }

  void terms(Use use, const Eigen::Ref<const Arr>& y,
             const Eigen::Ref<const Arr>& m, const Eigen::Ref<const Arr>& v,
             RowTerms& out) const override {
    if (use == Use::augmented) return augmented(y, m, v, out);
    if (use == Use::expected) return expected(y, m, v, out);
    if (use == Use::matched) return matched(y, m, v, out);
    if (use == Use::point) return point(y, m, out);
    throw InvalidInput("likelihood", "The hinge likelihood has no such terms.");
  }

  void draw(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& f,
            const Eigen::Ref<const Arr>& weight, const RowDraws& random,
            RowTerms& out) const override {
    const Index r = y.size();
    for (Index i = 0; i < r; ++i) {
      const double u = 1 - y[i] * f[i], omega = weight[i];
      const double w =
          omega * inverse_gaussian(omega * std::abs(u), random.normal[i], random.uniform[i]);
      out.value[i] = -2 * omega * std::max(u, 0.0);
      out.slope[i] = omega * y[i] * (1 + w * u);
      out.weight[i] = out.curvature[i] = omega * w;
    }
  }

  double over(const LineRows& rows, double s, double t) const override {
    return -2 * kernels().positive_parts(rows, s, t);
  }

  Tilted averaged(double y, double mean, double v, double weight) const override {
    return turned(y, pseudo_tilt(y * mean, v, weight));
  }

  double draw_averaged(double y, double mean, double v, double weight,
                       Draws& random) const override {
    return y * draw_pseudo(y * mean, v, weight, random);
  }

  std::unique_ptr<EffectIntegral> integral() const override { return pseudo_hinge_integral(); }

 private:
  using Eight = Eigen::Array<double, 8, 1>;

  void augmented(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
                 const Eigen::Ref<const Arr>& v, RowTerms& out) const {
    out.slope = 1 - y * m;                                  // E u
    out.value = (out.slope.square() + v).sqrt();            // sqrt(chi)
    // A row exactly on its margin with no variance left keeps a finite weight.
    out.weight = out.value.max(1e-100).inverse();           // E 1/a
    out.curvature = v * out.weight.cube();
    out.value = -out.slope - out.value;
    out.slope = y * (1 + out.weight * out.slope);
  }

  // On the kink the slope is half way, as the limit of expected() is.
  void point(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m, RowTerms& out) const {
    const Arr u = 1 - y * m;
    out.value = -2 * u.max(0.0);
    out.slope = y * (1 + u.sign());
    out.weight.setZero();
    out.curvature.setZero();
  }

  void expected(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
                const Eigen::Ref<const Arr>& v, RowTerms& out) const {
    Eight u = Eight::Ones(), s = Eight::Ones(), value, tail, weight;
    for (Index from = 0; from < y.size(); from += 8) {
      const Index r = std::min<Index>(8, y.size() - from);
      u.head(r) = 1 - y.segment(from, r) * m.segment(from, r);
      s.head(r) = v.segment(from, r).sqrt();
      expected_eight(u, s, value, tail, weight);
      out.value.segment(from, r) = value.head(r);
      out.slope.segment(from, r) = 2 * y.segment(from, r) * tail.head(r);
      out.weight.segment(from, r) = weight.head(r);
    }
    out.curvature = out.weight;
  }

  void matched(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
               const Eigen::Ref<const Arr>& v, RowTerms& out) const {
    expected(y, m, v, out);
    match_moments(*this, y, m, v, out);
  }

  // From the half beyond |u|, which is small; `tail` is P(1 - y f > 0).
  static void expected_eight(const Eight& u, const Eight& s, Eight& value, Eight& tail,
                             Eight& weight) {
    const Eight least = s.max(1e-100), t = (u.abs() / least).min(1e150);
    const Eight excess = hazard_excess(t), density = normal_densities(t);
    const Eight beyond = density / (t + excess);
    value = -2 * (u.max(0.0) + s * excess * beyond);
    tail = (u > 0).select(1 - beyond, beyond);
    weight = 2 * density / least;
  }
};

const Register<Likelihood, Hinge> hinge_entry("hinge");

}  // namespace
}  // namespace bsvm
