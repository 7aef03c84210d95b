// Likelihoods with numbers that are given or inferred: eps_insensitive, asymmetric_laplace, normal.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "likelihood/family.hpp"
#include "pair_law.hpp"

using namespace bsvm_test;

namespace {

using Numbers = std::map<std::string, double>;

std::unique_ptr<Likelihood> make(const std::string& name, Numbers numbers) {
  return Registry<Likelihood>::make(name, Params(name, std::move(numbers)));
}

std::unique_ptr<Likelihood> member(const std::string& name, Numbers numbers, const Vec& theta) {
  const auto family = make(name, std::move(numbers));
  REQUIRE(family->free_size() == theta.size());
  return family->with(theta);
}

double log_p(const Likelihood& likelihood, double off) {
  const double zero = 0;
  return likelihood.along({&off, &zero, nullptr, &zero, nullptr, 1}, 0);
}

Vec numbers(double one) { return Vec::Constant(1, one); }

PairLaw insensitive(double scale, double epsilon) {
  return {1 / Real(scale), 1 / Real(scale), epsilon, epsilon};
}

double expected(const Likelihood& likelihood, double off, double v) {
  RowTerms out;
  out.resize(1);
  likelihood.terms(Use::expected, Arr::Constant(1, off), Arr::Zero(1), Arr::Constant(1, v), out);
  return out.value[0];
}

void check_is(const Likelihood& found, const PairLaw& law) {
  CHECK(found.free_size() == 0);
  for (double off : {-7.0, -1.2, -0.3, 0.0, 0.4, 0.6, 3.0})
    CHECK(std::abs(log_p(found, off) - law.log_p(off)) < 1e-14L * (1 + std::abs(law.log_p(off))));
}

}  // namespace

TEST_CASE("eps_insensitive: what is not given is inferred, first the scale, then the shape") {
  const double s = 0.7, kappa = 0.8, epsilon = s * kappa;
  const PairLaw law = insensitive(s, epsilon);
  const double log_s = std::log(s), log_kappa = std::log(kappa);
  check_is(*make("eps_insensitive", {{"scale", s}, {"epsilon", epsilon}}), law);
  check_is(*make("eps_insensitive", {{"scale", s}, {"kappa", kappa}}), law);
  check_is(*member("eps_insensitive", {{"epsilon", epsilon}}, numbers(log_s)), law);
  check_is(*member("eps_insensitive", {{"kappa", kappa}}, numbers(log_s)), law);
  check_is(*member("eps_insensitive", {{"scale", s}}, numbers(log_kappa)), law);
  check_is(*member("eps_insensitive", {}, Eigen::Vector2d(log_s, log_kappa)), law);
}

TEST_CASE("eps_insensitive: without a tube it is the Laplace density") {
  for (const char* none : {"epsilon", "kappa"}) {
    check_is(*make("eps_insensitive", {{"scale", 1.3}, {none, 0}}), insensitive(1.3, 0));
    check_is(*member("eps_insensitive", {{none, 0}}, numbers(std::log(1.3))), insensitive(1.3, 0));
  }
}

// tau / (s/2) = 1 / s at tau = 1/2.
TEST_CASE("eps_insensitive: without a tube it is the asymmetric Laplace density at the median") {
  const double s = 0.7;
  const auto one = make("eps_insensitive", {{"kappa", 0}})->with(numbers(std::log(s))),
             other = make("asymmetric_laplace", {{"tau", 0.5}})->with(numbers(std::log(s / 2)));
  Arr y(9), m(9), v(9);
  y << -3, -0.1, 0, 0.2, 5, 1e6, -1e6, 0.4, 0;
  m << 0.5, 0, 0, 0.2, 1, 3, 0, 0.1, 1;
  v << 0.3, 1e-6, 1, 2, 50, 1, 0.1, 1e-4, 9;
  RowTerms a, b;
  a.resize(9);
  b.resize(9);
  const auto check_same = [&] {
    for (Arr RowTerms::*of : {&RowTerms::value, &RowTerms::slope, &RowTerms::weight,
                              &RowTerms::curvature})
      CHECK(gap((a.*of).matrix(), (b.*of).matrix()) < 3e-15);
  };
  for (const Use use : {Use::augmented, Use::expected, Use::point, Use::matched}) {
    one->terms(use, y, m, v, a);
    other->terms(use, y, m, v, b);
    check_same();
  }
  RowDraws random;
  random.draw({3, 0, 0}, 0, 9, 2);
  one->draw(y, m, v, random, a);
  other->draw(y, m, v, random, b);
  check_same();
  for (Index i = 0; i < 9; ++i)
    CHECK(gap(one->averaged(y[i], m[i], v[i], 0.7).value,
              other->averaged(y[i], m[i], v[i], 0.7).value) < 3e-15);
}

TEST_CASE("eps_insensitive: kappa says how many residuals are outside the tube") {
  for (double kappa : {0.05, 1.0, 9.0}) {
    const PairLaw law = insensitive(0.7, 0.7 * kappa);
    CHECK(double(law.cdf(-law.e2) + 1 - law.cdf(law.e1)) ==
          doctest::Approx(1 / (1 + kappa)).epsilon(1e-14));
  }
}

TEST_CASE("eps_insensitive: derivatives in log scale and log kappa are those of its normaliser and "
          "of what lies outside") {
  const auto family = make("eps_insensitive", {});
  for (double log_s : {-2.0, 0.3})
    for (double log_kappa : {-6.0, -0.4, 2.0})
      for (double off : {-3.0, 0.1, 0.8})
        for (double v : {1e-4, 0.7}) {
          const auto value = [&](double a, double b) {
            return expected(*family->with(Eigen::Vector2d(log_s + a, log_kappa + b)), off, v);
          };
          const double h = 1e-3;
          const auto slope = [&](double a, double b) {
            return (8 * (value(a, b) - value(-a, -b)) - value(2 * a, 2 * b) +
                    value(-2 * a, -2 * b)) / (12 * h);
          };
          const Real s = std::exp(Real(log_s)), kappa = std::exp(Real(log_kappa)), eps = s * kappa,
                     sd = std::sqrt(Real(v));
          // E |r|_eps and P(|r| > eps).
          const PairLaw law{1 / s, 1 / s, eps, eps};
          const Real cost = law.constant() - expected_pair(law, off, v).value;
          const Real out = upper_tail((eps - off) / sd) + upper_tail((eps + off) / sd);
          CHECK(std::abs(slope(h, 0) - (-1 + cost + kappa * out)) < 1e-8 * double(1 + cost));
          CHECK(std::abs(slope(0, h) - (kappa * out - kappa / (1 + kappa))) <
                1e-8 * double(1 + cost));
        }
}

TEST_CASE("eps_insensitive: invariant to the unit of y, but for the density's") {
  const double c = 1e3;
  const auto one = make("eps_insensitive", {{"scale", 0.7}, {"kappa", 0.8}}),
             other = make("eps_insensitive", {{"scale", 0.7 * c}, {"kappa", 0.8}});
  for (double off : {-2.0, 0.1, 5.0})
    CHECK(expected(*other, c * off, c * c * 0.3) ==
          doctest::Approx(expected(*one, off, 0.3) - std::log(c)).epsilon(1e-14));
}

TEST_CASE("eps_insensitive: numbers that can't be") {
  CHECK_THROWS_AS(make("eps_insensitive", {{"epsilon", 1}, {"kappa", 1}}), InvalidInput);
  CHECK_THROWS_AS(make("eps_insensitive", {{"epsilon", -1}}), InvalidInput);
  CHECK_THROWS_AS(make("eps_insensitive", {{"kappa", -1}}), InvalidInput);
  CHECK_THROWS_AS(make("eps_insensitive", {{"scale", 0}}), InvalidInput);
  CHECK_THROWS_AS(make("eps_insensitive", {{"scale", kInfinite}}), InvalidInput);
  CHECK_THROWS_AS(make("asymmetric_laplace", {}), InvalidInput);
  CHECK_THROWS_AS(make("asymmetric_laplace", {{"tau", 0}}), InvalidInput);
  CHECK_THROWS_AS(make("asymmetric_laplace", {{"tau", 1}}), InvalidInput);
  CHECK_THROWS_AS(make("normal", {{"sd", -1}}), InvalidInput);
}

TEST_CASE("family: an offset is measured by the scale, where that is known") {
  CHECK(make("eps_insensitive", {{"scale", 1e3}, {"epsilon", 1}})->most_offset() ==
        doctest::Approx(1e9));
  CHECK(make("normal", {{"sd", 1e-2}})->most_offset() == doctest::Approx(1e4));
  for (const char* name : {"eps_insensitive", "normal"})
    CHECK(make(name, {})->most_offset() == 1e6);
}

TEST_CASE("family: far away its members are numbers") {
  for (const auto& family : {make("eps_insensitive", {}), make("normal", {}),
                             make("asymmetric_laplace", {{"tau", 0.3}})})
    for (double one : {-1e4, -100.0, 100.0, 1e4})
      for (double other : {-1e4, 0.0, 1e4}) {
        Vec theta = numbers(one);
        if (family->free_size() == 2) theta = Eigen::Vector2d(one, other);
        const auto likelihood = family->with(theta);
        for (const Use use : {Use::augmented, Use::expected, Use::matched}) {
          RowTerms out;
          out.resize(3);
          likelihood->terms(use, Eigen::Array3d(-3, 0, 5), Eigen::Array3d(0, 0, 1e3),
                            Eigen::Array3d(0, 1, 1e4), out);
          for (const Arr* a : {&out.value, &out.slope, &out.weight, &out.curvature})
            CHECK(a->allFinite());
        }
        CHECK(std::isfinite(likelihood->averaged(1, 0, 2, 1).value));
      }
}

TEST_CASE("asymmetric_laplace: the mode is the quantile tau") {
  for (double tau : {0.05, 0.5, 0.95}) {
    const double s = 0.6;
    const PairLaw law{tau / Real(s), (1 - Real(tau)) / s, 0, 0};
    check_is(*make("asymmetric_laplace", {{"tau", tau}, {"scale", s}}), law);
    check_is(*member("asymmetric_laplace", {{"tau", tau}}, numbers(std::log(s))), law);
    CHECK(gap(law.cdf(0), tau) < 1e-15);
    CHECK(gap(std::exp(law.constant()), tau * (1 - Real(tau)) / s) < 1e-15);
  }
}

TEST_CASE("asymmetric_laplace: turned round it is that of 1 - tau") {
  const auto one = make("asymmetric_laplace", {{"tau", 0.25}, {"scale", 0.6}}),
             other = make("asymmetric_laplace", {{"tau", 0.75}, {"scale", 0.6}});
  for (double off : {-3.0, -0.1, 0.0, 2.0})
    for (double v : {0.01, 4.0})
      for (const Use use : {Use::augmented, Use::expected, Use::point, Use::matched}) {
        RowTerms a, b;
        a.resize(1);
        b.resize(1);
        const Arr zero = Arr::Zero(1), var = Arr::Constant(1, v);
        one->terms(use, Arr::Constant(1, off), zero, var, a);
        other->terms(use, Arr::Constant(1, -off), zero, var, b);
        CHECK(a.value[0] == b.value[0]);
        CHECK(a.slope[0] == -b.slope[0]);
        CHECK(a.weight[0] == b.weight[0]);
      }
}

// ---- normal

TEST_CASE("normal: a density, given its standard deviation or inferred") {
  for (double sd : {0.03, 1.7, 200.0}) {
    const auto known = make("normal", {{"sd", sd}});
    const auto free = member("normal", {}, numbers(std::log(sd)));
    for (double z : {-30.0, -1.0, 0.0, 0.4, 9.0}) {
      const Real truth = log_normal(Real(z) * sd, Real(sd) * sd);
      CHECK(std::abs(log_p(*known, z * sd) - truth) < 1e-14L * (1 + std::abs(truth)));
      CHECK(std::abs(log_p(*free, z * sd) - truth) < 3e-14L * (1 + std::abs(truth)));
    }
  }
}

TEST_CASE("normal: expected terms are averages, and every other bound is the same") {
  const double sd = 0.6;
  const auto likelihood = make("normal", {{"sd", sd}});
  for (double off : {-40.0, -0.2, 0.0, 3.0})
    for (double v : {0.0, 1e-8, 0.3, 50.0}) {
      const Real s = std::sqrt(Real(v));
      const Real truth = trapezoid([&](Real z) {
        return std::exp(log_normal(z, 1)) * log_normal(off + s * z, Real(sd) * sd);
      }, -14, 14);
      for (const Use use : {Use::expected, Use::augmented, Use::matched}) {
        RowTerms out;
        out.resize(1);
        likelihood->terms(use, Arr::Constant(1, off), Arr::Zero(1), Arr::Constant(1, v), out);
        CHECK(std::abs(out.value[0] - truth) < 1e-14L * (1 + std::abs(truth)));
        CHECK(gap(out.slope[0], off / (Real(sd) * sd)) < 1e-15);
        CHECK(gap(out.weight[0], 1 / (Real(sd) * sd)) < 1e-15);
        CHECK(out.curvature[0] == out.weight[0]);
      }
    }
}

// Against a row whose factor is taken out of q and put in again.
TEST_CASE("normal: moments are matched as they are") {
  struct AsOthers : Likelihood {
    std::unique_ptr<Likelihood> normal = make("normal", {{"sd", 0.6}});
    bool supports(Use) const override { return true; }
    void terms(Use, const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
               const Eigen::Ref<const Arr>& v, RowTerms& out) const override {
      normal->terms(Use::expected, y, m, v, out);
      const double w = out.weight[0], left = 1 - w * v[0], c = v[0] / left;
      const Tilted of = normal->averaged(y[0], m[0] - c * out.slope[0], c, 1);
      out.weight[0] = of.curvature / (1 - c * of.curvature);
      out.value[0] = of.value - 0.5 * std::log(left) + 0.5 * c * out.slope[0] * out.slope[0] -
                     0.5 * w * v[0];
    }
  } others;
  for (double off : {-3.0, 0.1})
    for (double v : {0.01, 0.3}) {
      RowTerms a, b;
      a.resize(1);
      b.resize(1);
      const Arr y = Arr::Constant(1, off), zero = Arr::Zero(1), var = Arr::Constant(1, v);
      others.terms(Use::matched, y, zero, var, a);
      others.normal->terms(Use::matched, y, zero, var, b);
      CHECK(a.value[0] == doctest::Approx(b.value[0]).epsilon(1e-13));
      CHECK(a.weight[0] == doctest::Approx(b.weight[0]).epsilon(1e-13));
    }
}

TEST_CASE("normal: drawn terms are the density itself, and need no latent scale") {
  const auto likelihood = make("normal", {{"sd", 0.6}});
  CHECK(likelihood->scales() == 0);
  const Arr y = Eigen::Array3d(-1, 0, 4), f = Eigen::Array3d(0.5, 0, 1),
            weight = Eigen::Array3d(1, 0.3, 2);
  RowTerms out;
  out.resize(3);
  likelihood->draw(y, f, weight, RowDraws(), out);
  for (Index i = 0; i < 3; ++i) {
    CHECK(gap(out.value[i], weight[i] * log_normal(y[i] - Real(f[i]), Real(0.6) * 0.6)) < 1e-15);
    CHECK(gap(out.slope[i], weight[i] * (y[i] - Real(f[i])) / (Real(0.6) * 0.6)) < 1e-15);
    CHECK(gap(out.weight[i], weight[i] / (Real(0.6) * 0.6)) < 1e-15);
    CHECK(out.curvature[i] == out.weight[i]);
  }
}

TEST_CASE("normal: averages of a power and draws of what is averaged out") {
  const Real sd = 0.6;
  const auto likelihood = make("normal", {{"sd", 0.6}});
  Draws random({7, 1, 0}, Purpose::unknown, 0);
  for (double weight : {1.0, 0.3, 2.0})
    for (double off : {-2.0, 0.1, 30.0})
      for (double v : {1e-9, 0.2, 40.0}) {
        // Of f = s z, mean 0: z is normal with precision 1 + weight v / sd^2.
        const Real s = std::sqrt(Real(v)), precision = 1 + weight * v / (sd * sd),
                   top = weight * s * off / (sd * sd) / precision;
        const auto share = [&](Real z) {
          return std::exp(weight * log_normal(off - s * z, sd * sd) + log_normal(z, 1) -
                          weight * log_normal(off - s * top, sd * sd) - log_normal(top, 1));
        };
        const Real width = 13 / std::sqrt(precision);
        const auto moment = [&](int k) {
          return trapezoid([&](Real z) { return std::pow(z - top, Real(k)) * share(z); },
                           top - width, top + width);
        };
        const Real mass = moment(0), mean = top + moment(1) / mass, variance = moment(2) / mass;
        const Real value = std::log(mass) + weight * log_normal(off - s * top, sd * sd) +
                           log_normal(top, 1);
        const Tilted found = likelihood->averaged(off, 0, v, weight);
        CHECK(std::abs(found.value - value) < 1e-13L * (1 + std::abs(value)));
        CHECK(gap(found.slope, mean / s) < 1e-12);
        CHECK(std::abs(found.curvature - (1 - variance) / v) <
              1e-13L * found.curvature + 1e-15L / v);
        const int n = 20000;
        double sum = 0, square = 0;
        for (int k = 0; k < n; ++k) {
          const double z = (likelihood->draw_averaged(off, 0, v, weight, random) / double(s) -
                            double(mean)) / std::sqrt(double(variance));
          sum += z;
          square += z * z;
        }
        CHECK(std::abs(sum) / std::sqrt(n) < 5);
        CHECK(std::abs(square - n) / std::sqrt(2.0 * n) < 5);
      }
  CHECK(likelihood->averaged(1, 0, 3, 0).value == 0);
}
