// The skewed hinge, each use against quadrature of its own formula -gamma (c |u| + u), and the
// hinge where it is that.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.hpp"
#include "integral_oracle.hpp"
#include "laws.hpp"
#include "likelihood/likelihood.hpp"
#include "pair_law.hpp"
#include "row_kinds.hpp"

using namespace bsvm_test;

namespace {

std::unique_ptr<Likelihood> skewed(double gamma, double gamma0) {
  return Registry<Likelihood>::make(
      "skewed_hinge", Params("skewed_hinge", {{"gamma", gamma}, {"gamma0", gamma0}}));
}

struct Skew {
  double gamma, gamma0;

  std::unique_ptr<Likelihood> make() const { return skewed(gamma, gamma0); }
  Real c() const { return std::sqrt(1 + 2 * Real(gamma0) / gamma); }
  Real log_p(Real u) const {
    return std::log(gamma0 / c()) - gamma * (c() * std::abs(u) + u);
  }
  // Of u as a residual: slopes on either side.
  PairLaw law() const { return {gamma * (c() + 1), gamma * (c() - 1), 0, 0}; }
};

const Skew kSkews[] = {{1, 1}, {0.7, 0.3}, {2.5, 0.1}, {0.05, 3}, {100, 0.01}, {100, 100}};
constexpr double kMeans[] = {-40, -3, -0.7, -0.1, 0.3, 0.98, 1, 1.2, 6, 60};
constexpr double kSpreads[] = {1e-12, 1e-6, 0.02, 1, 9, 1e4};

struct Four {
  double value, slope, weight, curvature;
};
Four terms_at(const Likelihood& likelihood, Use use, double y, double m, double v) {
  RowTerms out;
  out.resize(1);
  likelihood.terms(use, Arr::Constant(1, y), Arr::Constant(1, m), Arr::Constant(1, v), out);
  return {out.value[0], out.slope[0], out.weight[0], out.curvature[0]};
}

// visit(law, y, m, v)
template <class Visit>
void each_skew(Visit visit) {
  for (const Skew& of : kSkews)
    for (const double y : {-1.0, 1.0})
      for (const double m : kMeans)
        for (const double v : kSpreads) {
          INFO("gamma ", of.gamma, " gamma0 ", of.gamma0, " y ", y, " m ", m, " v ", v);
          visit(of, y, m, v);
        }
}

}  // namespace

TEST_CASE("skewed hinge: the paper's formula, and a density of u") {
  for (const Skew& of : kSkews) {
    std::vector<long double> breaks;
    for (int k = -160; k <= 160; ++k)
      breaks.push_back(0.4L * k / (k > 0 ? of.law().a : of.law().b));
    Real sum = 0;
    for (const Node& node : panel_nodes(breaks))
      for (const double y : {-1.0, 1.0}) {
        const double f = static_cast<double>((1 - node.x) * y), zero = 0;
        const double log_p = of.make()->along({&y, &f, nullptr, &zero, nullptr, 1}, 1);
        const Real truth = of.log_p(1 - Real(y) * f);
        CHECK(std::abs(log_p - truth) < 4e-15L * (1 + std::abs(truth)));
        sum += node.weight * std::exp(of.log_p(node.x)) / 2;
      }
    CHECK(std::abs(sum - 1) < 1e-12L);
  }
}

TEST_CASE("skewed hinge: expected terms are averages") {
  each_skew([](const Skew& of, double y, double m, double v) {
    const PairMoments truth = expected_pair(of.law(), 1 - Real(y) * m, v);
    const Four found = terms_at(*of.make(), Use::expected, y, m, v);
    CHECK(std::abs(found.value - truth.value) < 1e-14L * (1 + std::abs(truth.value)));
    CHECK(std::abs(found.slope - y * truth.slope) < 2e-15L * of.law().a);
    CHECK(std::abs(found.weight - truth.weight) < 3e-13L * truth.weight + 1e-290L);
    CHECK(found.curvature == found.weight);
  });
}

// -gamma (c |u| + u) averaged over one latent scale: E |u| gives way to sqrt(E u^2).
TEST_CASE("skewed hinge: augmented terms are the paper's bound, of one latent scale") {
  each_skew([](const Skew& of, double y, double m, double v) {
    const Real u = 1 - Real(y) * m, root = std::sqrt(u * u + v), gc = of.gamma * of.c();
    const Four found = terms_at(*of.make(), Use::augmented, y, m, v);
    const Real value = std::log(of.gamma0 / of.c()) - of.gamma * (u + of.c() * root);
    CHECK(std::abs(found.value - value) < 2e-15L * (1 + std::abs(value) + gc * root));
    CHECK(std::abs(found.slope - y * (of.gamma + gc * u / root)) < 2e-15L * gc);
    CHECK(gap(found.weight, gc / root) < 1e-14);
    CHECK(gap(found.curvature, gc * v / (root * root * root)) < 1e-14);
    CHECK(found.value <= terms_at(*of.make(), Use::expected, y, m, v).value +
                             1e-14L * (1 + std::abs(value) + gc * root));
  });
}

TEST_CASE("skewed hinge: at a point, the density and its slope, half way on the kink") {
  each_skew([](const Skew& of, double y, double m, double) {
    const Real u = 1 - Real(y) * m;
    const Four found = terms_at(*of.make(), Use::point, y, m, 0);
    CHECK(std::abs(found.value - of.log_p(u)) < 4e-15L * (1 + std::abs(of.log_p(u))));
    const Real side = u > 0 ? 1 : u < 0 ? -1 : 0;
    CHECK(std::abs(found.slope - y * of.gamma * (1 + of.c() * side)) < 1e-14L * of.law().a);
    CHECK(found.weight == 0);
    CHECK(found.curvature == 0);
  });
}

TEST_CASE("skewed hinge: log E p^weight and its derivatives") {
  for (const Real weight : {1.0L, 0.3L, 60.0L})
    each_skew([&](const Skew& of, double y, double m, double v) {
      const TiltedPair truth = tilted_pair(of.law(), 1 - Real(y) * m, v, weight);
      const Tilted found = of.make()->averaged(y, m, v, double(weight));
      CHECK(std::abs(found.value - truth.value) < 2e-14L * (1 + std::abs(truth.value)));
      const Real s = std::sqrt(Real(v)), unit = std::min(weight * of.law().a, 1 / s);
      CHECK(std::abs(found.slope - y * truth.slope) < 1e-13L * (unit + std::abs(truth.slope)));
      CHECK(std::abs(found.curvature - truth.curvature) < 3e-13L * unit / s);
    });
}

TEST_CASE("skewed hinge: draws of what is averaged out have its mean and variance") {
  Draws random({17, 0, 0}, Purpose::unknown, 0);
  for (const Skew& of : kSkews)
    for (const double y : {-1.0, 1.0})
      for (const double v : {0.1, 4.0}) {
        const double m = 0.4, n = 8000;
        const auto likelihood = of.make();
        const TiltedPair truth = tilted_pair(of.law(), 1 - Real(y) * m, v, 2);
        const double s = std::sqrt(v), sd = std::sqrt(double(truth.variance));
        double sum = 0, square = 0, fourth = 0;
        for (int k = 0; k < n; ++k) {
          const double u = 1 - y * likelihood->draw_averaged(y, m, v, 2, random);
          const double z = ((u - (1 - y * m)) / s - double(truth.mean)) / sd;
          sum += z;
          square += z * z;
          fourth += z * z * z * z;
        }
        CHECK(std::abs(sum) < 5 * std::sqrt(n));
        CHECK(std::abs(square - n) < 5 * std::sqrt(n * std::max(1.0, fourth / n - 1)));
      }
}

// ---- drawn

namespace {

RowTerms drawn_at(const Likelihood& likelihood, double y, const Arr& f, double weight,
                  std::uint64_t sweep) {
  const Index n = f.size();
  RowDraws random;
  random.draw({5, 0, sweep}, 0, n, likelihood.scales());
  RowTerms out;
  out.resize(n);
  likelihood.draw(Arr::Constant(n, y), f, Arr::Constant(n, weight), random, out);
  return out;
}

}  // namespace

// The paper's: 1/lambda inverse Gaussian of mean c / |u| and shape gamma + 2 gamma0, the precision
// gamma / lambda, the linear term gamma y (1 + 1 / lambda).
TEST_CASE("skewed hinge: latent scales have the paper's law and leave its quadratic") {
  for (const Skew& of : kSkews)
    for (const double y : {-1.0, 1.0})
      for (const double f : {-0.7, 0.9, 4.0}) {
        const Real u = 1 - Real(y) * f;
        const RowTerms found = drawn_at(*of.make(), y, Arr::Constant(20000, f), 1, 1);
        CHECK(of.make()->scales() == 1);
        const Real shape = of.gamma + 2 * Real(of.gamma0), mean = of.c() / std::abs(u);
        std::vector<double> sample(20000);
        Real error = 0;
        for (Index i = 0; i < 20000; ++i) {
          const Real inverse = found.weight[i] / Real(of.gamma);  // 1 / lambda
          sample[i] = static_cast<double>(inverse / shape);
          const Real slope = of.gamma * y * (1 + inverse) - found.weight[i] * Real(f);
          error = std::max(error, std::abs(found.slope[i] - slope) / (of.gamma + found.weight[i]));
          CHECK(found.curvature[i] == found.weight[i]);
        }
        CHECK(error < 1e-14L * (1 + std::abs(f)));
        CHECK(gap(found.value[0], of.log_p(u)) < 1e-13);
        CHECK(kolmogorov(sample, [&](double x) {
          return inverse_gaussian_cdf(x, shape / mean);
        }) < kKolmogorov);
      }
}

// Under a flat prior the density of u = 1 - y f is p^weight's, and stays it.
TEST_CASE("skewed hinge: a Gibbs step of one row leaves its density, whatever its weight") {
  const Index n = 20000;
  for (const Skew& of : kSkews)
    for (const double weight : {1.0, 0.3, 2.0}) {
      INFO("gamma ", of.gamma, " gamma0 ", of.gamma0, " weight ", weight);
      const PairLaw own = of.law().times(weight);
      Draws random({8, 0, 0}, Purpose::unknown, 0);
      Arr f(n);
      for (Index i = 0; i < n; ++i) {
        const Real at = random.uniform(), below = own.a / (own.a + own.b);
        const Real u = at < below ? std::log(at / below) / own.b
                                  : -std::log((1 - at) / (1 - below)) / own.a;
        f[i] = static_cast<double>(u - 1);
      }
      std::vector<double> sample(n);
      for (int sweep = 0; sweep < 3; ++sweep) {
        const RowTerms found = drawn_at(*of.make(), -1, f, weight, sweep);
        for (Index i = 0; i < n; ++i) {
          f[i] += found.slope[i] / found.weight[i] + random.normal() / std::sqrt(found.weight[i]);
          sample[i] = 1 + f[i];
        }
      }
      CHECK(kolmogorov(sample, [&](double u) { return own.cdf(u); }) < kKolmogorov);
    }
}

// ---- along lines, effects, atoms

TEST_CASE("skewed hinge: sums at points, along lines and in planes") {
  Noise noise(3);
  for (const Skew& of : kSkews)
    for (const Index r : {1, 7, 256, 257, 700}) {
      const Vec f = noise.normals(r), a = noise.normals(r), b = noise.normals(r);
      Vec y(r), w(r);
      for (Index i = 0; i < r; ++i) {
        y[i] = noise.uniform() < 0.5 ? -1 : 1;
        w[i] = 3 * noise.uniform();
      }
      for (const bool plane : {false, true})
        for (const bool weighted : {false, true}) {
          const double s = 0.7, t = -1.3;
          Real truth = 0, size = 1;
          for (Index i = 0; i < r; ++i) {
            const Real at = f[i] + (plane ? s * Real(a[i]) : 0) + t * Real(b[i]);
            const Real own = (weighted ? w[i] : 1) * of.log_p(1 - y[i] * at);
            truth += own;
            size += std::abs(own);
          }
          const double found = of.make()->over(
              {y.data(), f.data(), plane ? a.data() : nullptr, b.data(),
               weighted ? w.data() : nullptr, r}, s, t);
          CHECK(std::abs(found - truth) < 2e-15L * size);
        }
    }
}

TEST_CASE("skewed hinge: its atoms are its loss") {
  for (const Skew& of : kSkews)
    for (const double y : {-1.0, 1.0})
      for (const double f : kMeans) {
        const Atoms atoms = of.make()->atoms(y);
        REQUIRE(atoms.count == 2);
        Real sum = 0;
        for (int k = 0; k < 2; ++k)
          sum -= atoms.atom[k].cost *
                 std::max(Real(0), Real(atoms.atom[k].sign) * (f - atoms.atom[k].place));
        const Real truth = of.log_p(1 - Real(y) * f) - of.log_p(0);
        CHECK(std::abs(sum - truth) < 1e-14L * (1 + std::abs(truth)));
      }
}

TEST_CASE("skewed hinge: an effect integrated out of rows of both classes is brute force's") {
  Noise noise(5);
  for (const Skew& of : {Skew{0.7, 0.3}, Skew{2.5, 0.1}, Skew{0.05, 3}}) {
    const RowLaw law{[of](Real y, Real f) { return of.log_p(1 - y * f); },
                     [of](Real y, Real f) {
                       const Real u = 1 - y * f;
                       return y * of.gamma * (1 + of.c() * (u > 0 ? 1 : u < 0 ? -1 : 0));
                     },
                     {1}, false, of.law().a};
    const auto likelihood = of.make();
    const auto integral = likelihood->integral();
    for (const Index r : {1, 2, 9})
      for (const Kind kind : {Kind::plain, Kind::weights, Kind::flat})
        for (const double s : {0.05, 1.0, 40.0}) {
          RowsData data;
          for (Vec* each : {&data.y, &data.o, &data.z}) *each = noise.normals(r);
          for (Index i = 0; i < r; ++i) data.y[i] = data.y[i] > 0 ? 1 : -1;
          data.c = Mat::Ones(2, r);
          data.c.row(1) = noise.normals(r);
          vary(data, kind, noise);
          const EffectTruth truth = brute_force(law, data, s);
          EffectSums sums;
          integral->integrate(data.rows(), s, Depth::gradient, sums);
          CHECK(std::abs(sums.value - truth.value) < 1e-12L * (1 + std::abs(truth.value)));
          for (Index j = 0; j < sums.gradient.size(); ++j)
            CHECK(std::abs(sums.gradient[j] - truth.gradient[j]) <
                  1e-11L * (1 + of.law().a + std::abs(truth.gradient[j])));
        }
  }
}

// ---- limits

// Without gamma0 the hinge to the power gamma.
TEST_CASE("skewed hinge: without gamma0 the hinge as often as gamma says") {
  const auto hinge = Registry<Likelihood>::make("hinge", Params());
  for (const double gamma : {1.0, 0.3, 7.0}) {
    const auto likelihood = skewed(gamma, 0);
    CHECK(likelihood->atoms(-1).count == 1);
    CHECK(likelihood->atoms(-1).atom[0].cost == 2 * gamma);
    for (const double y : {-1.0, 1.0})
      for (const double m : kMeans)
        for (const double v : kSpreads) {
          INFO("gamma ", gamma, " y ", y, " m ", m, " v ", v);
          for (const Use use : {Use::augmented, Use::expected, Use::point}) {
            const Four found = terms_at(*likelihood, use, y, m, v),
                       truth = terms_at(*hinge, use, y, m, v);
            const double size = 1 + std::abs(m) + std::sqrt(v);
            CHECK(std::abs(found.value - gamma * truth.value) < 4e-15 * gamma * size);
            CHECK(std::abs(found.slope - gamma * truth.slope) < 2e-15 * gamma);
            CHECK(gap(found.weight, gamma * truth.weight) < 1e-14);
            CHECK(gap(found.curvature, gamma * truth.curvature) < 1e-14);
          }
          const Tilted found = likelihood->averaged(y, m, v, 1),
                       truth = hinge->averaged(y, m, v, gamma);
          CHECK(std::abs(found.value - truth.value) < 1e-13 * (1 + std::abs(truth.value)));
          CHECK(std::abs(found.slope - truth.slope) < 1e-12 * gamma);
          CHECK(std::abs(found.curvature - truth.curvature) < 1e-12 * gamma / std::sqrt(v));
        }
    for (const double y : {-1.0, 1.0})
      for (const double weight : {1.0, 2.5}) {
        const Arr f = Arr::LinSpaced(50, -3, 3);
        const RowTerms found = drawn_at(*likelihood, y, f, weight, 2),
                       truth = drawn_at(*hinge, y, f, gamma * weight, 2);
        CHECK((found.value - truth.value).abs().maxCoeff() < 1e-14 * gamma);
        CHECK(((found.slope - truth.slope) / truth.weight).abs().maxCoeff() < 1e-13);
        CHECK((found.weight / truth.weight - 1).abs().maxCoeff() < 1e-13);
      }
  }
}

TEST_CASE("skewed hinge: as gamma0 goes to zero only the constant is left of it") {
  const auto limit = skewed(0.6, 0), near = skewed(0.6, 1e-14);
  for (const double m : {-3.0, 0.4, 5.0})
    for (const Use use : {Use::augmented, Use::expected}) {
      const Four found = terms_at(*near, use, 1, m, 0.8), truth = terms_at(*limit, use, 1, m, 0.8);
      CHECK(std::abs(found.value - std::log(1e-14) - truth.value) < 1e-12);
      CHECK(std::abs(found.slope - truth.slope) < 1e-13);
    }
}

// ---- numbers that are inferred

TEST_CASE("skewed hinge: inferred numbers come in the order gamma, gamma0, as logarithms") {
  const auto make = [](std::map<std::string, double> given) {
    return Registry<Likelihood>::make("skewed_hinge", Params("skewed_hinge", given));
  };
  const auto value = [](const Likelihood& likelihood) {
    return terms_at(likelihood, Use::expected, -1, 0.3, 0.5).value;
  };
  const double truth = value(*skewed(0.7, 0.3));
  const auto of_gamma = make({{"gamma0", 0.3}}), of_gamma0 = make({{"gamma", 0.7}}),
             of_both = make({});
  CHECK(of_gamma->free_size() == 1);
  CHECK(of_gamma0->free_size() == 1);
  REQUIRE(of_both->free_size() == 2);
  CHECK(value(*of_gamma->with(Vec::Constant(1, std::log(0.7)))) ==
        doctest::Approx(truth).epsilon(1e-15));
  CHECK(value(*of_gamma0->with(Vec::Constant(1, std::log(0.3)))) ==
        doctest::Approx(truth).epsilon(1e-15));
  Vec theta(2);
  theta << std::log(0.7), std::log(0.3);
  CHECK(value(*of_both->with(theta)) == doctest::Approx(truth).epsilon(1e-15));
  for (const double far : {-1e4, 1e4}) {
    theta << far, -far;
    CHECK(std::isfinite(value(*of_both->with(theta))));
    CHECK(std::isfinite(value(*of_both->with(Vec::Constant(2, far)))));
  }
  for (const auto& likelihood : {&of_gamma, &of_gamma0, &of_both}) {
    CHECK_FALSE((*likelihood)->supports(Use::point));
    CHECK((*likelihood)->supports(Use::drawn));
    CHECK((*likelihood)->scales() == 1);
  }
}

TEST_CASE("skewed hinge: an open gamma without gamma0, and numbers out of range, are refused") {
  const auto make = [](std::map<std::string, double> given) {
    return Registry<Likelihood>::make("skewed_hinge", Params("skewed_hinge", given));
  };
  CHECK_THROWS_AS(make({{"gamma0", 0}}), InvalidInput);
  CHECK_THROWS_AS(make({{"gamma", 0}, {"gamma0", 1}}), InvalidInput);
  CHECK_THROWS_AS(make({{"gamma", 1}, {"gamma0", -1}}), InvalidInput);
  const double wrong[] = {1, 0.5};
  CHECK_THROWS_AS(skewed(1, 1)->check(wrong, 2), InvalidInput);
  CHECK_NOTHROW(skewed(1, 1)->check(wrong, 1));
}
