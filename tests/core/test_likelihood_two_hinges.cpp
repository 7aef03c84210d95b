// The two-hinge density, each use against quadrature: tails, quantiles, tubes of any width.
#include <doctest/doctest.h>

#include <cmath>

#include "laws.hpp"
#include "likelihood/two_hinges.hpp"
#include "pair_law.hpp"
#include "random/draws.hpp"

using namespace bsvm_test;

namespace {

// Of numbers that are doubles.
const PairLaw kLaws[] = {
    {1, 1, 0.5, 0.5}, {2.5, 2.5, 0, 0}, {0.05, 0.95, 0, 0}, {0.95, 0.05, 0, 0},
    {1, 1, 1e-6, 1e-6}, {0.7, 0.7, 40, 40}, {1e4, 1e4, 1e-4, 1e-4},
    {2, 0.3, 0.2, 1.1}, {2, 1.5, -1, 1.4}};
constexpr double kOff[] = {-40, -3, -0.7, -0.1, 0, 0.3, 0.5, 1, 6, 60};
constexpr double kVariances[] = {1e-12, 1e-6, 0.02, 1, 9, 1e4};

TwoHinges make(const PairLaw& of) {
  return {double(of.a), double(of.b), double(of.e1), double(of.e2)};
}

// Named as tests see them: found at a residual's mean `off`, f being 0.4.
struct One {
  double value, slope, weight, curvature;
};
One at(const Likelihood& likelihood, Use use, double off, double v) {
  RowTerms out;
  out.resize(1);
  likelihood.terms(use, Arr::Constant(1, off), Arr::Zero(1), Arr::Constant(1, v), out);
  return {out.value[0], out.slope[0], out.weight[0], out.curvature[0]};
}

// visit(law, off, v), with means near the kinks too.
template <class Visit>
void each(Visit visit) {
  for (const PairLaw& law : kLaws)
    for (double v : kVariances) {
      std::vector<double> means(std::begin(kOff), std::end(kOff));
      for (double z : {-9.0, -1.0, 0.0, 0.3, 30.0})
        for (const Real kink : {law.e1, -law.e2})
          means.push_back(static_cast<double>(kink) + z * std::sqrt(v));
      for (double off : means) {
        INFO("a ", double(law.a), " b ", double(law.b), " e1 ", double(law.e1), " e2 ",
             double(law.e2), " off ", off, " v ", v);
        visit(law, off, v);
      }
    }
}

}  // namespace

TEST_CASE("two hinges: a density of the response") {
  for (const PairLaw& law : kLaws) {
    const TwoHinges likelihood = make(law);
    std::vector<long double> breaks;
    for (const Real kink : {law.e1, -law.e2})
      for (int k = -90; k <= 90; ++k)
        breaks.push_back(kink + 0.6L * k / (k > 0 ? law.a : law.b));
    for (int k = 0; k <= 20; ++k) breaks.push_back(-law.e2 + (law.e1 + law.e2) * k / 20);
    Real sum = 0;
    for (const Node& node : panel_nodes(breaks)) {
      const double y = static_cast<double>(node.x), f = 0, zero = 0;
      const double log_p = likelihood.along({&y, &f, nullptr, &zero, nullptr, 1}, 1);
      CHECK(std::abs(log_p - law.log_p(y)) < 1e-15L * (1 + std::abs(law.log_p(y))));
      sum += node.weight * std::exp(Real(log_p));
    }
    CHECK(std::abs(sum - 1) < 1e-12L);
  }
}

TEST_CASE("two hinges: expected terms are averages") {
  each([](const PairLaw& law, double off, double v) {
    const PairMoments truth = expected_pair(law, off, v);
    const One found = at(make(law), Use::expected, off, v);
    CHECK(std::abs(found.value - truth.value) < 1e-14L * (1 + std::abs(truth.value)));
    CHECK(std::abs(found.slope - truth.slope) < 1e-15L * std::max(law.a, law.b));
    CHECK(std::abs(found.weight - truth.weight) < 2e-13L * truth.weight + 1e-290L);
    CHECK(found.curvature == found.weight);
  });
}

TEST_CASE("two hinges: in a tail every digit of a slope is right") {
  for (double t : {1.0, 4.0, 12.0, 30.0}) {
    const TwoHinges likelihood(2, 3, 0.5, 1e4);
    const double off = 0.5 - 0.1 * t;
    const One found = at(likelihood, Use::expected, off, 0.01);
    const Real expected = 2 * upper_tail((0.5L - off) / std::sqrt(Real(0.01)));
    CHECK(std::abs(found.slope / expected - 1) < 1e-12L);
  }
}

TEST_CASE("two hinges: augmented terms are a bound with a latent scale each, at their best") {
  each([](const PairLaw& law, double off, double v) {
    // -cost (u)_+ >= -cost u/2 - w E u^2/2 - cost^2 / (8 w)
    const auto bound = [&](Real cost, Real u, Real by) {
      const Real w = by * cost / (2 * std::sqrt(u * u + v));
      return -cost * u / 2 - w * (u * u + v) / 2 - cost * cost / (8 * w);
    };
    const auto total = [&](Real by) {
      return law.constant() + bound(law.a, off - law.e1, by) + bound(law.b, -off - law.e2, by);
    };
    const One found = at(make(law), Use::augmented, off, v);
    const Real size = 1 + std::abs(total(1));
    CHECK(std::abs(found.value - total(1)) < 1e-15L * size);
    for (const Real by : {0.5L, 0.95L, 1.05L, 2.0L}) CHECK(found.value > total(by));
    CHECK(found.value <= at(make(law), Use::expected, off, v).value + 1e-15L * size);
    const Real above = off - law.e1, below = -off - law.e2,
               x1 = std::hypot(above, std::sqrt(Real(v))),
               x2 = std::hypot(below, std::sqrt(Real(v)));
    const Real slope = 0.5L * (law.a * (1 + above / x1) - law.b * (1 + below / x2));
    CHECK(std::abs(found.slope - slope) < 1e-15L * std::max(law.a, law.b));
    CHECK(gap(found.weight, 0.5L * (law.a / x1 + law.b / x2)) < 1e-14);
    CHECK(gap(found.curvature,
              0.5L * v * (law.a / (x1 * x1 * x1) + law.b / (x2 * x2 * x2))) < 1e-14);
  });
}

TEST_CASE("two hinges: within a wide tube an augmented value keeps its digits") {
  const TwoHinges likelihood(1, 1, 1e9, 1e9);
  // (u + sqrt(u^2 + v)) / 2 for u = -1e9, twice.
  const Real excess = 1 / (2 * std::sqrt(1e18L + 1));
  const double log_c = -std::log(2 + 2e9);
  CHECK(std::abs(at(likelihood, Use::augmented, 0, 1).value - log_c + excess) < 1e-14);
}

TEST_CASE("two hinges: at a point, the density and its slope, half way on a kink") {
  each([](const PairLaw& law, double off, double) {
    const One found = at(make(law), Use::point, off, 0);
    CHECK(std::abs(found.value - law.log_p(off)) < 1e-14L * (1 + std::abs(law.log_p(off))));
    if (off == law.e1 || off == -law.e2) return;
    CHECK(found.slope == (off > law.e1 ? double(law.a) : off < -law.e2 ? -double(law.b) : 0));
    CHECK(found.weight == 0);
    CHECK(found.curvature == 0);
  });
  CHECK(at(TwoHinges(3, 2, 0.5, 0.25), Use::point, 0.5, 0).slope == 1.5);
  CHECK(at(TwoHinges(3, 2, 0.5, 0.25), Use::point, -0.25, 0).slope == -1);
  CHECK(at(TwoHinges(3, 2, 0, 0), Use::point, 0, 0).slope == 0.5);
}

// ---- averaged

TEST_CASE("two hinges: log E p^weight and its derivatives") {
  for (const Real weight : {1.0L, 0.3L, 2.0L, 60.0L})
    each([&](const PairLaw& law, double off, double v) {
      CAPTURE(double(weight));
      const TiltedPair truth = tilted_pair(law, off, v, weight);
      const Tilted found = make(law).averaged(off, 0, v, double(weight));
      CHECK(std::abs(found.value - truth.value) < 2e-14L * (1 + std::abs(truth.value)));
      const Real s = std::sqrt(Real(v)), steep = weight * std::max(law.a, law.b);
      const Real unit = std::min(steep, 1 / s);
      CHECK(std::abs(found.slope - truth.slope) < 4e-14L * (unit + std::abs(truth.slope)));
      CHECK(std::abs(found.curvature - truth.curvature) < 3e-13L * unit / s);
      CHECK(found.curvature > -1e-15 / v);
      CHECK(found.curvature < (1 + 1e-15) / v);
    });
}

// The factor exp(slope f - w f^2/2) is taken out of q = N(0, v) and p put in its place; `value` is
// E log of the factor, scaled so that it has the mass of p where it is not.
TEST_CASE("two hinges: matched terms are what p makes of the rest of q") {
  int seen = 0;
  each([&](const PairLaw& law, double off, double v) {
    const PairMoments before = expected_pair(law, off, v);
    const Real w = before.weight, slope = before.slope;
    if (v < 1e-8 || w * v > 0.97L) return;
    const Real c = v / (1 - w * v), centre = -c * slope, sd = std::sqrt(Real(v));
    const TiltedPair with = tilted_pair(law, off - centre, c, 1);
    const Real top = log_normal(centre, c);
    const Real log_plain = top + std::log(sd * trapezoid([&](Real z) {
      const Real f = z * sd;
      return std::exp(log_normal(f - centre, c) - top + slope * f - w * f * f / 2);
    }, -14, 14, 600));
    const Real variance = c * with.variance, mean = centre - std::sqrt(c) * with.mean;
    const Real weight = 1 / variance - 1 / c;
    const One found = at(make(law), Use::matched, off, v);
    CHECK(std::abs(found.value - (with.value - log_plain - w * v / 2)) <
          1e-12L * (1 + std::abs(with.value)));
    const Real unit = std::max(std::abs(slope), 1 / sd);
    CHECK(std::abs(found.weight - weight) < 1e-10L * unit / sd);
    CHECK(std::abs(found.slope - (mean / variance - centre / c)) < 1e-10L * unit);
    CHECK(found.curvature == found.weight);
    ++seen;
  });
  CHECK(seen > 300);
}

TEST_CASE("two hinges: averages are between the bounds and the top of the density") {
  each([](const PairLaw& law, double off, double v) {
    const TwoHinges likelihood = make(law);
    const double value = likelihood.averaged(off, 0, v, 1).value;
    const double slack = 1e-13 * (1 + std::abs(value));
    CHECK(value >= at(likelihood, Use::expected, off, v).value - slack);
    CHECK(value <= double(law.constant()) + slack);
  });
}

TEST_CASE("two hinges: without weight an average is one, with little variance the density") {
  each([](const PairLaw& law, double off, double v) {
    const Tilted none = make(law).averaged(off, 0, v, 0);
    CHECK(std::abs(none.value) < 1e-14);
    CHECK(none.slope == 0);
    CHECK(none.curvature == 0);
    const Real log_p = law.log_p(off);
    const double tight = 1e-40;
    CHECK(std::abs(make(law).averaged(off, 0, tight, 1).value - log_p) <
          1e-14L * (1 + std::abs(log_p)));
  });
}

TEST_CASE("two hinges: an average's derivative in the variance is the heat equation's") {
  for (const PairLaw& law : kLaws)
    for (double off : {-2.0, 0.1, 0.9})
      for (double v : {0.02, 0.5, 7.0}) {
        const double h = 1e-3 * v;
        const auto value = [&](double by) { return make(law).averaged(off, 0, v + by, 1).value; };
        const Tilted here = make(law).averaged(off, 0, v, 1);
        const double slope = (8 * (value(h) - value(-h)) - value(2 * h) + value(-2 * h)) / (12 * h);
        CHECK(slope == doctest::Approx(0.5 * (here.slope * here.slope - here.curvature))
                           .epsilon(1e-8));
      }
}

TEST_CASE("two hinges: an average is a number, whatever mean and variance") {
  for (const PairLaw& law : kLaws)
    for (double weight : {1.0, 0.3, 7.0})
      for (double off : {-1e150, -1e20, -1e8, 0.0, 1e8, 1e20, 1e150})
        for (double v : {1e-300, 1e-20, 1.0, 1e8, 1e34, 1e100, 1e300}) {
          const Tilted found = make(law).averaged(off, 0, v, weight);
          INFO("a ", double(law.a), " weight ", weight, " off ", off, " v ", v);
          CHECK(found.value <= weight * double(law.constant()) + 1e-9);
          CHECK(std::isfinite(found.slope));
          CHECK(std::isfinite(found.curvature));
        }
}

// Against the distribution by quadrature up to the point, and its moments.
TEST_CASE("two hinges: draws of what is averaged out, for any weight") {
  Draws random({7, 0, 0}, Purpose::unknown, 0);
  for (const PairLaw& law : kLaws)
    for (double weight : {1.0, 0.3, 2.0})
      for (double off : {-2.0, 0.1, 3.0})
        for (double v : {1e-6, 0.1, 4.0, 1e4}) {
          INFO("a ", double(law.a), " b ", double(law.b), " e1 ", double(law.e1), " weight ",
               weight, " off ", off, " v ", v);
          const TwoHinges likelihood = make(law);
          const TiltedPair truth = tilted_pair(law, off, v, weight);
          const double s = std::sqrt(v), centre = double(truth.mean),
                       sd = std::sqrt(double(truth.variance));
          std::vector<double> sample(8000);
          double sum = 0, square = 0, fourth = 0;
          for (double& z : sample) {
            z = -likelihood.draw_averaged(off, 0, v, weight, random) / s;  // r = y - f
            z = ((z + off / s) - off / s - centre) / sd;
            sum += z;
            square += z * z;
            fourth += z * z * z * z;
          }
          const double n = static_cast<double>(sample.size());
          CHECK(std::abs(sum) / std::sqrt(n) < 5);
          const double spread = std::sqrt(std::max(1.0, fourth / n - square * square / n / n));
          CHECK(std::abs(square - n) / (spread * std::sqrt(n)) < 5);
          // Masses below some points.
          const double low = centre - 12 * sd;
          std::vector<Real> below{0};
          const int steps = 4000;
          const double step = 40 * sd / steps;
          for (int k = 0; k < steps; ++k) {
            const Real z = low + (k + 0.5) * step;
            below.push_back(below.back() +
                            std::exp(Real(weight) * law.log_p(off + s * z) - 0.5L * z * z -
                                     truth.value));
          }
          CHECK(kolmogorov(sample, [&](double z) {
            const double place =
                std::min(std::max((z * sd + centre - low) / step, 0.0), double(steps));
            const size_t k = std::min<size_t>(size_t(place), steps - 1);
            return (below[k] + (place - double(k)) * (below[k + 1] - below[k])) / below.back();
          }) < kKolmogorov);
        }
}

// ---- drawn

namespace {

// Terms drawn for n equal rows at residuals `off`.
RowTerms drawn(const Likelihood& likelihood, const Arr& off, double weight, std::uint64_t sweep) {
  const Index n = off.size();
  RowDraws random;
  random.draw({5, 0, sweep}, 0, n, likelihood.scales());
  RowTerms out;
  out.resize(n);
  likelihood.draw(off, Arr::Zero(n), Arr::Constant(n, weight), random, out);
  return out;
}

}  // namespace

// u the distance to the nearer kink, w the row's weight:
// E exp(-w a u) = exp(-w a u + (w a)^2 v / 2).
TEST_CASE("two hinges: a row a million scales out has the terms of its one line") {
  for (const PairLaw& law : kLaws)
    for (const double side : {-1.0, 1.0}) {
      const Real cost = side > 0 ? law.a : law.b, steep = std::max(law.a, law.b);
      const double off = side * double(1e6L / cost + std::max(std::abs(law.e1), std::abs(law.e2)));
      const Real u = side > 0 ? off - law.e1 : -off - law.e2;
      const TwoHinges likelihood = make(law);
      for (const double sd : {1e-3, 1.0, 30.0}) {
        const double v = sd * sd / double(steep * steep);
        INFO("a ", double(law.a), " b ", double(law.b), " off ", off, " v ", v);
        const Real value = law.constant() - cost * u;
        for (const Use use : {Use::augmented, Use::expected, Use::point, Use::matched}) {
          const One found = at(likelihood, use, off, v);
          CHECK(std::abs(found.value - value) < (use == Use::augmented ? 1e-3L : 1e-8L));
          CHECK(std::abs(found.slope - side * cost) < 1e-9L * cost);
          CHECK(found.weight >= 0);
          CHECK(found.weight * v < 1e-3 * sd);
          CHECK(found.curvature >= 0);
        }
        for (const Real weight : {1.0L, 0.3L, 2.0L}) {
          const Tilted found = likelihood.averaged(off, 0, v, double(weight));
          const Real expected = weight * value + weight * weight * cost * cost * v / 2;
          CHECK(gap(found.value, expected) < 1e-14);
          CHECK(gap(found.slope, side * weight * cost) < 1e-12);
          CHECK(std::abs(found.curvature) * v < 1e-9 * (1 + sd));
        }
      }
      RowTerms out = drawn(likelihood, Arr::Constant(500, off), 2, 1);
      for (const Arr* a : {&out.value, &out.slope, &out.weight, &out.curvature})
        CHECK(a->allFinite());
      CHECK(out.weight.minCoeff() > 0);
      CHECK(gap(out.value[0], 2 * (law.constant() - cost * u)) < 1e-14);
    }
}

// With both kinks in one place the two precisions add up to one inverse Gaussian number of mean
// A / |r| and shape A^2, A = w (a + b) / 2.
TEST_CASE("two hinges: without a tube the drawn precision is inverse Gaussian") {
  for (const PairLaw& law : {PairLaw{2.5L, 2.5L, 0, 0}, PairLaw{0.05, 0.95, 0, 0}})
    for (double weight : {1.0, 0.3, 2.0})
      for (double off : {-1.7, 1e-3, 4.0}) {
        const RowTerms found = drawn(make(law), Arr::Constant(20000, off), weight, 1);
        const double a = weight * double(law.a + law.b) / 2;
        std::vector<double> sample(20000);
        for (Index i = 0; i < 20000; ++i) sample[i] = found.weight[i] / (a * a);
        CHECK(kolmogorov(sample, [&](double x) {
          return inverse_gaussian_cdf(x, a * std::abs(off));
        }) < kKolmogorov);
      }
}

// Under a flat prior of f its density given y is that of a residual. Latent scales given f and then
// f given these, N(f + slope / weight, 1 / weight), leave it so.
TEST_CASE("two hinges: a Gibbs step of one residual leaves its density, whatever its weight") {
  const Index n = 20000;
  for (const PairLaw& law : kLaws)
    for (double weight : {1.0, 0.3, 2.0}) {
      if (law.e1 < 0) continue;
      INFO("a ", double(law.a), " b ", double(law.b), " e1 ", double(law.e1), " weight ", weight);
      const PairLaw own = law.times(weight);
      Draws random({8, 0, 0}, Purpose::unknown, 0);
      Arr off(n);
      for (Index i = 0; i < n; ++i) {
        Real low = -own.e2 - 60 / own.b, high = own.e1 + 60 / own.a;
        const double at = random.uniform();
        for (int k = 0; k < 60; ++k) {
          const Real middle = (low + high) / 2;
          (own.cdf(middle) < at ? low : high) = middle;
        }
        off[i] = static_cast<double>(low);
      }
      std::vector<double> sample(n);
      for (int sweep = 0; sweep < 3; ++sweep) {
        const RowTerms found = drawn(make(law), off, weight, sweep);
        CHECK((found.curvature == found.weight).all());
        Real error = 0;
        for (Index i = 0; i < n; ++i) {
          const Real value = law.log_p(off[i]);
          error = std::max(error, std::abs(found.value[i] / weight - value) / (1 + std::abs(value)));
          off[i] -= found.slope[i] / found.weight[i] + random.normal() / std::sqrt(found.weight[i]);
          sample[i] = off[i];
        }
        CHECK(error < 1e-13L);
      }
      CHECK(kolmogorov(sample, [&](double x) { return own.cdf(x); }) < kKolmogorov);
    }
}

// ---- limits

TEST_CASE("two hinges: with the lower one gone it is the hinge, by its own label or by f - y") {
  const auto hinge = Registry<Likelihood>::make("hinge", Params());
  const double least = 1e-300;
  const TwoHinges of_label(2, least, 0, 0), shifted(2, least, -1, 1);
  const double log_c = -std::log(1 / least);
  for (double m : {-30.0, -2.0, 0.3, 1.0, 1.5, 4.0, 40.0})
    for (double v : {1e-12, 0.02, 1.0, 9.0})
      for (const Use use : {Use::augmented, Use::expected, Use::point}) {
        RowTerms truth;
        truth.resize(1);
        const Arr one = Arr::Ones(1), at_m = Arr::Constant(1, m), at_v = Arr::Constant(1, v);
        hinge->terms(use, one, at_m, at_v, truth);
        for (const One& found : {at(of_label, use, 1 - m, v), at(shifted, use, -m, v)}) {
          CHECK(std::abs(found.value - log_c - truth.value[0]) <
                3e-13 * (1 + std::abs(truth.value[0])));
          CHECK(found.slope == doctest::Approx(truth.slope[0]).epsilon(1e-13));
          CHECK(found.weight == doctest::Approx(truth.weight[0]).epsilon(1e-13));
          CHECK(found.curvature == doctest::Approx(truth.curvature[0]).epsilon(1e-13));
        }
        const Tilted of = hinge->averaged(1, m, v, 1), found = of_label.averaged(1, m, v, 1);
        CHECK(std::abs(found.value - log_c - of.value) < 3e-13 * (1 + std::abs(of.value)));
        CHECK(std::abs(found.slope - of.slope) < 1e-13);
        CHECK(std::abs(found.curvature - of.curvature) < 1e-13 * (1 + 1 / std::sqrt(v)));
      }
}

TEST_CASE("two hinges: a tube that closes, and one that outgrows the scale") {
  const TwoHinges laplace(1.5, 1.5, 0, 0), thin(1.5, 1.5, 1e-12, 1e-12);
  const TwoHinges wide(1e9, 1e9, 2, 2);
  for (double off : {-2.5, 0.0, 0.1, 1.3})
    for (double v : {0.02, 3.0}) {
      CHECK(at(thin, Use::expected, off, v).value ==
            doctest::Approx(at(laplace, Use::expected, off, v).value).epsilon(1e-11));
      CHECK(thin.averaged(off, 0, v, 1).curvature ==
            doctest::Approx(laplace.averaged(off, 0, v, 1).curvature).epsilon(1e-10));
      // Uniform on (-2, 2).
      const Real s = std::sqrt(Real(v)),
                 inside = upper_tail((-2 - off) / s) - upper_tail((2 - off) / s);
      const Tilted found = wide.averaged(off, 0, v, 1);
      if (inside > 1e-3L)
        CHECK(found.value == doctest::Approx(double(std::log(inside / 4))).epsilon(1e-6));
    }
}

TEST_CASE("two hinges: kinks in the wrong order and slopes of the wrong sign are refused") {
  CHECK_THROWS_AS(TwoHinges(1, 1, 0.5, -0.6), InvalidInput);
  CHECK_THROWS_AS(TwoHinges(0, 1, 0.5, 0.6), InvalidInput);
  CHECK_THROWS_AS(TwoHinges(1, -1, 0.5, 0.6), InvalidInput);
  CHECK_THROWS_AS(TwoHinges(1, 1, std::nan(""), 0.6), InvalidInput);
  CHECK_THROWS_AS(TwoHinges(1, kInfinite, 0, 0.6), InvalidInput);
}

TEST_CASE("two hinges: other terms are refused") {
  const TwoHinges likelihood(1, 1, 0.5, 0.5);
  for (const Use use : {Use::value, Use::drawn, Use::marginal})
    CHECK_THROWS_AS(at(likelihood, use, 0, 1), InvalidInput);
}
