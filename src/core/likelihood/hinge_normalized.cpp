// The normalised hinge likelihood (Sollich 2002; models.md, row 28): exp{-2 (1 - y f)_+} divided
// by its sum over both classes, which is
//   p(y | f) = 1 / (1 + exp(-h(y f))),   h(g) = 2g - 2 below -1, 4g from -1 to 1, 2g + 2 above.
//
// log p is smooth but for a kink at each end of the margin, and at y f = -1 its slope jumps up: it
// is not concave. Expectations of log p and of p itself under g = y f ~ N(mean, s^2), and their
// derivatives in the mean, which are expected derivatives (Price 1958), are put together from
//   beyond a kink    powers of exp(-h) times a normal law, each closed;
//   inside           a Gauss-Legendre rule with fixed nodes, unless s is small;
//   if s is small    a Gauss-Hermite rule for the inside's formula on the whole line, and beyond a
//                    kink the difference between the two formulas.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "hazard.hpp"
#include "integral/one/hinge_integral.hpp"
#include "likelihood.hpp"
#include "linalg/eigen_modules.hpp"
#include "matched_terms.hpp"
#include "normalised_tilt.hpp"
#include "pseudo_tilt.hpp"

namespace bsvm {
namespace {

// E of a function of g and of its first two derivatives.
struct Expected {
  double value = 0, slope = 0, second = 0;
};

// ---- beyond a kink

// With d the distance to the kink: powers of exp(-2 d), up to the seventh and twice these. What
// is left out is below 1e-13.
constexpr int kPowers = 12, kHighest = 7;
using Powers = Eigen::Array<double, kPowers, 1>;

Powers powers() {
  Powers k;
  k << 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14;
  return k;
}

// Of z = exp(-4 - rate d), rate 2 or 4: log(1 + z), or z / (1 + z).
Powers series(int rate, bool logarithm) {
  Powers out = Powers::Zero();
  for (int k = 1; k <= kHighest; ++k)
    out += (powers() == k * rate / 2).cast<double>() *
           ((k % 2 ? 1 : -1) * std::exp(-4.0 * k) / (logarithm ? k : 1));
  return out;
}
Powers log_series(int rate) { return series(rate, true); }
Powers odds_series(int rate) { return series(rate, false); }

Powers constant(double c) {
  return (powers() == 0).cast<double>() * c;
}

// A function of g beyond a kink: linear d + sum_j value_j exp(-2 d)^{k_j}. `outward` is dd/dg.
// The slope of log p jumps by `jump` at the kink.
struct Beyond {
  double outward, linear, jump;
  Powers value, slope, second;

  Beyond(double direction, double line, double jumps, const Powers& of)
      : outward(direction),
        linear(line),
        jump(jumps),
        value(of),
        slope(outward * (-2 * powers() * of + constant(line))),
        second(4 * powers().square() * of) {}
};

// P(Z > x) E[exp(-2 k s (Z - x)) | Z > x] of a standard normal Z, |x| <= 1e150, for all powers
// k; and E(Z - x)_+. For those with t = x + 2 k s < 0 it is exp(2 k s (x + k s)) P(Z > t).
struct Tail {
  double density, excess;
  Powers expected;

  Tail(double x, double s) {
    const Powers step = s * powers(), t = x + 2 * step, size = t.abs().min(1e150);
    const Powers over = hazard_excess(size);
    density = normal_density(x);
    expected = density / (size + over);
    excess = over[0] * expected[0] + std::max(-x, 0.0);
    if (x < 0)
      expected = (t < 0).select((2 * step * (x + step)).min(0.0).exp() - expected, expected);
  }

  static double normal_density(double x) {
    return std::abs(x) < 37 ? 0.39894228040143267794 * std::exp(-0.5 * x * x) : 0;
  }
};

void add(const Beyond& f, double mean, double s, Expected& out) {
  const double x = std::min(std::max((1 - f.outward * mean) / s, -1e150), 1e150);
  const Tail tail(x, s);
  out.value += f.linear * s * tail.excess + (f.value * tail.expected).sum();
  out.slope += (f.slope * tail.expected).sum();
  out.second += (f.second * tail.expected).sum() + f.jump * tail.density / s;
}

// ---- inside

// Nodes and weights from the recurrence of the orthogonal polynomials (Golub & Welsch 1969); the
// weights' sum is one.
template <int n>
struct Rule {
  using Nodes = Eigen::Array<double, n, 1>;
  Nodes node, weight;

  template <class Recurrence>
  explicit Rule(Recurrence below) {
    Vec off_diagonal(n - 1);
    for (int k = 1; k < n; ++k) off_diagonal[k - 1] = below(static_cast<double>(k));
    Eigen::SelfAdjointEigenSolver<Mat> eigen;
    eigen.computeFromTridiagonal(Vec::Zero(n), off_diagonal);
    node = eigen.eigenvalues().array();
    weight = eigen.eigenvectors().row(0).transpose().array().square();
  }
};

// A function on the margin and its derivatives, from the probability of the other class.
template <class Nodes>
struct Inside {
  Nodes value, slope, second;
};

// The two functions: what they are inside, and beyond the lower and the upper kink; `correction` is
// how much more that is than the inside's formula.
struct LogProbability {
  template <class Nodes>
  static Inside<Nodes> inside(const Nodes& g) {
    const Nodes e = (-4 * g).exp(), other = e / (1 + e);
    return {-(1 + e).log(), 4 * other, -16 * other * (1 - other)};
  }
  const double below = 2 / (1 + std::exp(-4.0)), above = -2 / (1 + std::exp(4.0));  // jumps
  const Beyond outer[2] = {{-1, -2, below, constant(-4) - log_series(2)},
                           {1, 0, above, -log_series(2)}};
  const Beyond correction[2] = {{-1, 2, below, log_series(4) - log_series(2)},
                                {1, 0, above, log_series(4) - log_series(2)}};
};

struct Probability {
  template <class Nodes>
  static Inside<Nodes> inside(const Nodes& g) {
    const Nodes p = 1 / (1 + (-4 * g).exp()), change = 4 * p * (1 - p);
    return {p, change, 4 * change * (1 - 2 * p)};
  }
  const double jump = 2 / ((1 + std::exp(4.0)) * (1 + std::exp(-4.0)));
  const Beyond outer[2] = {{-1, 0, jump, odds_series(2)},
                           {1, 0, -jump, constant(1) - odds_series(2)}};
  const Beyond correction[2] = {{-1, 0, jump, odds_series(2) - odds_series(4)},
                                {1, 0, -jump, odds_series(4) - odds_series(2)}};
};

double hermite(double k) {
  return std::sqrt(k);
}
double legendre(double k) {
  return k / std::sqrt(4 * k * k - 1);
}

constexpr double kReach = 8.5;    // standard deviations, beyond which there is nothing
constexpr double kNarrow = 0.12;  // where the two rules are equally good, about 1e-13
constexpr double kLeast = 1e-200;  // of E p, which would underflow soon

// E of one of these.
template <class Function>
class Expectation {
  using Line = Rule<16>;
  using Margin = Rule<40>;

 public:
  Expectation() : line_(hermite), margin_(legendre), inside_(Function::inside(margin_.node)) {}

  Expected operator()(double mean, double s) const {
    Expected out;
    s = std::max(s, 1e-100);
    const double reach = s < 1 ? kReach * s : std::numeric_limits<double>::infinity();
    if (std::abs(mean) - 1 > reach) {
      add(of_.outer[mean > 0], mean, s, out);
      return out;
    }
    const bool narrow = s < kNarrow;
    if (narrow)
      add_line(mean, s, out);
    else
      add_margin(mean, s, out);
    for (const Beyond& f : narrow ? of_.correction : of_.outer)
      if (1 - f.outward * mean < reach) add(f, mean, s, out);
    return out;
  }

 private:
  void add_line(double mean, double s, Expected& out) const {
    const auto f = Function::inside(Line::Nodes(mean + s * line_.node));
    out.value += (line_.weight * f.value).sum();
    out.slope += (line_.weight * f.slope).sum();
    out.second += (line_.weight * f.second).sum();
  }

  void add_margin(double mean, double s, Expected& out) const {
    const Margin::Nodes density =
        margin_.weight * (-0.5 * ((margin_.node - mean) / s).square()).exp();
    const double scale = 2 * Tail::normal_density(0) / s;  // the rule's weights add up to one
    out.value += scale * (density * inside_.value).sum();
    out.slope += scale * (density * inside_.slope).sum();
    out.second += scale * (density * inside_.second).sum();
  }

  Line line_;
  Margin margin_;
  Inside<Margin::Nodes> inside_;
  Function of_;
};

class HingeNormalized : public Likelihood {
 public:
  explicit HingeNormalized(const Params&) {}

  bool supports(Use use) const override {
    return use == Use::expected || use == Use::matched || use == Use::point || use == Use::value;
  }
  bool concave() const override { return false; }
  void check(const double* y, Index n) const override { check_signs(y, n); }
  const char* offset_scale() const override { return kMarginScale; }

  void terms(Use use, const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
             const Eigen::Ref<const Arr>& v, RowTerms& out) const override {
    if (!supports(use) || use == Use::value)
      throw InvalidInput("likelihood", "The normalised hinge likelihood has no such terms.");
    for (Index i = 0; i < y.size(); ++i) {
      const double g = y[i] * m[i];
      const Expected row = use == Use::point ? at(g) : log_p_(g, std::sqrt(v[i]));
      out.value[i] = row.value;
      out.slope[i] = y[i] * row.slope;
      out.weight[i] = use == Use::point ? 0 : -row.second;
      out.curvature[i] = -row.second;
    }
    if (use == Use::matched)
      match_moments(*this, y, m, v, out);
  }

  double over(const LineRows& rows, double s, double t) const override {
    return hinge_kernels().log_p(rows, s, t);
  }

  Tilted averaged(double y, double mean, double v, double weight) const override {
    return turned(y, averaged_margin(y * mean, v, weight));
  }

  // The sum over the classes, by which the pseudo-likelihood is divided, is 2 exp(-2) at least.
  double draw_averaged(double y, double mean, double v, double weight,
                       Draws& random) const override {
    for (;;) {
      const double g = draw_pseudo(y * mean, v, weight, random);
      if (!std::isfinite(g)) return g;
      const double sum =
          std::exp(-2 * std::max(0.0, 1 - g)) + std::exp(-2 * std::max(0.0, 1 + g));
      if (std::log(random.uniform()) <= weight * std::log(2 * std::exp(-2.0) / sum)) return y * g;
    }
  }

  std::unique_ptr<EffectIntegral> integral() const override { return normalised_hinge_integral(); }

 private:
  // Of g = y f.
  Tilted averaged_margin(double mean, double v, double weight) const {
    if (weight != 1) return normalised_tilt(mean, v, weight);
    const Expected p = p_(mean, std::sqrt(v));
    if (!(p.value > kLeast)) return normalised_tilt(mean, v, weight);
    const double slope = p.slope / p.value;
    return {std::log(p.value), slope, slope * slope - p.second / p.value};
  }

  static double log_odds(double g) { return 2 * g + 2 * std::min(std::max(g, -1.0), 1.0); }

  static double log_probability(double g) {
    const double h = log_odds(g);
    return std::min(h, 0.0) - std::log1p(std::exp(-std::abs(h)));
  }

  // At a kink the slope is half way, as the limit of expected() is.
  static Expected at(double g) {
    const double h = log_odds(g), other = 1 / (1 + std::exp(h));
    const double rate = std::abs(g) < 1 ? 4 : std::abs(g) > 1 ? 2 : 3;
    return {log_probability(g), rate * other, -rate * rate * other * (1 - other)};
  }

  Expectation<LogProbability> log_p_;
  Expectation<Probability> p_;
};

const Register<Likelihood, HingeNormalized> hinge_normalized_entry("hinge_normalized");

}  // namespace
}  // namespace bsvm
