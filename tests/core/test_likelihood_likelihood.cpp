// What every registered likelihood must do, for every use it supports.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "components.hpp"
#include "likelihood/likelihood.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

constexpr Use kUses[] = {Use::augmented, Use::expected, Use::point, Use::marginal};

struct One {
  double value, slope, weight, curvature;
};

One at(const Likelihood& likelihood, Use use, double y, double m, double v) {
  RowTerms out;
  out.resize(1);
  likelihood.terms(use, Arr::Constant(1, y), Arr::Constant(1, m), Arr::Constant(1, v), out);
  return {out.value[0], out.slope[0], out.weight[0], out.curvature[0]};
}

// visit(likelihood, use)
template <class Visit>
void each_use(Visit visit, const std::string& without = "") {
  for (const std::string& name : Registry<Likelihood>::names()) {
    if (name == without) continue;
    CAPTURE(name);
    const auto likelihood = any_likelihood(name);
    for (Use use : kUses)
      if (likelihood->supports(use)) visit(*likelihood, use);
  }
}

// visit(y, m, v)
template <class Visit>
void each_point(Visit visit) {
  for (double y : {-1.0, 1.0})
    for (double m : {-3.0, -0.2, 0.9, 1.3, 5.0})
      for (double v : {0.05, 0.7, 6.0}) visit(y, m, v);
}

// Derivative at zero, to fourth order.
template <class F>
double slope_of(F f, double h) {
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

}  // namespace

TEST_CASE("likelihood: slope, weight and curvature are derivatives of value") {
  each_use([](const Likelihood& likelihood, Use use) {
    if (use == Use::point) return;  // has kinks and no v
    each_point([&](double y, double m, double v) {
      CAPTURE(y);
      CAPTURE(m);
      CAPTURE(v);
      const One here = at(likelihood, use, y, m, v);
      const auto in_m = [&](double h) { return at(likelihood, use, y, m + h, v); };
      const auto in_v = [&](double h) { return at(likelihood, use, y, m, v + h).value; };
      const double step = 2e-3 * std::sqrt(v);
      CHECK(std::abs(slope_of([&](double h) { return in_m(h).value; }, step) - here.slope) < 1e-8);
      CHECK(std::abs(slope_of([&](double h) { return in_m(h).slope; }, step) + here.curvature) <
            1e-8);
      CHECK(std::abs(-2 * slope_of(in_v, 2e-3 * v) - here.weight) < 1e-8);
    });
  });
}

TEST_CASE("likelihood: the bound is concave in the mean and the standard deviation") {
  each_use([](const Likelihood& likelihood, Use use) {
    if ((use != Use::augmented && use != Use::expected) || !likelihood.concave()) return;
    Noise draws(13);
    for (int k = 0; k < 500; ++k) {
      const double m[] = {4 * draws.normal(), 4 * draws.normal()};
      const double s[] = {5 * draws.uniform(), 5 * draws.uniform()};
      const auto value = [&](double mean, double sd) {
        return at(likelihood, use, 1, mean, sd * sd).value;
      };
      const double middle = value((m[0] + m[1]) / 2, (s[0] + s[1]) / 2);
      CHECK(middle >= (value(m[0], s[0]) + value(m[1], s[1])) / 2 - 1e-12);
    }
  });
}

TEST_CASE("likelihood: no weight is negative where it is concave, none below the curvature") {
  each_use([](const Likelihood& likelihood, Use use) {
    each_point([&](double y, double m, double v) {
      const One here = at(likelihood, use, y, m, v);
      if (use == Use::expected) CHECK(here.weight == here.curvature);
      if (!likelihood.concave()) return;
      CHECK(here.curvature >= 0);
      CHECK(here.weight >= 0);
      if (use == Use::augmented) CHECK(here.weight >= here.curvature);
    });
  });
}

TEST_CASE("likelihood: nothing is infinite on the margin, without variance, or far away") {
  each_use([](const Likelihood& likelihood, Use use) {
    for (double y : {-1.0, 1.0})
      for (double m : {0.0, 1.0, -1.0, 1e8, -1e8})
        for (double v : {0.0, 1e-300, 1.0, 1e16}) {
          const One here = at(likelihood, use, y, m, v);
          CAPTURE(m);
          CAPTURE(v);
          CHECK(std::isfinite(here.value));
          CHECK(std::isfinite(here.slope));
          CHECK(std::isfinite(here.weight));
          CHECK(std::isfinite(here.curvature));
        }
  });
}

TEST_CASE("likelihood: flipping responses and linear predictors changes signs alone") {
  each_use([](const Likelihood& likelihood, Use use) {
    each_point([&](double y, double m, double v) {
      const One one = at(likelihood, use, y, m, v), other = at(likelihood, use, -y, -m, v);
      CHECK(one.value == other.value);
      CHECK(one.slope == -other.slope);
      CHECK(one.weight == other.weight);
      CHECK(one.curvature == other.curvature);
    });
  }, "asymmetric_laplace");  // which becomes another
}

TEST_CASE("likelihood: a use that is not supported is refused") {
  for (const std::string& name : Registry<Likelihood>::names())
    for (const auto& likelihood : {any_likelihood(name), make_any<Likelihood>(name)})
      for (Use use : kUses)
        if (!likelihood->supports(use))
          CHECK_THROWS_AS(at(*likelihood, use, 1, 0, 1), InvalidInput);
}

TEST_CASE("likelihood: a family supports what its members do, and no terms without a member") {
  for (const std::string& name : Registry<Likelihood>::names()) {
    const auto family = make_any<Likelihood>(name);
    if (family->free_size() == 0) continue;
    CAPTURE(name);
    for (double theta : {-1e4, -2.0, 0.0, 3.0, 1e4}) {
      const auto member = family->with(Vec::Constant(family->free_size(), theta));
      CHECK(member->free_size() == 0);
      CHECK(member->scales() == family->scales());
      CHECK(member->concave() == family->concave());
      for (Use use : {Use::augmented, Use::expected, Use::value, Use::drawn, Use::matched})
        CHECK(member->supports(use) == family->supports(use));
    }
    CHECK_FALSE(family->supports(Use::point));
    CHECK_FALSE(family->supports(Use::marginal));
    CHECK(family->atoms(1).count == 0);
    CHECK_THROWS_AS(at(*family, Use::expected, 1, 0, 1), InvalidInput);
  }
}

TEST_CASE("likelihood: without variance an expectation is the point's value and slope") {
  each_use([](const Likelihood& likelihood, Use use) {
    if (use != Use::expected || !likelihood.supports(Use::point)) return;
    for (double y : {-1.0, 1.0})
      for (double m : {-1e8, -40.0, -1.0, -0.3, 0.0, 0.999, 1.0, 1.001, 3.0, 1e8})
        for (double v : {0.0, 1e-300, 1e-40}) {
          const One point = at(likelihood, Use::point, y, m, 0);
          const One here = at(likelihood, use, y, m, v);
          CAPTURE(m);
          CHECK(point.weight == 0);
          CHECK(here.value == doctest::Approx(point.value).epsilon(1e-14));
          CHECK(here.slope == doctest::Approx(point.slope).epsilon(1e-13));
        }
  });
}

TEST_CASE("likelihood: along a line it is the sum of the points' values") {
  each_use([](const Likelihood& likelihood, Use use) {
    if (use != Use::point || !likelihood.supports(Use::value)) return;
    const Vec f = 2 * Noise(15).normals(37), slope = Noise(16).normals(37);
    const Vec weight = Noise(17).normals(37).cwiseAbs();
    const Arr y = Noise(19).normals(37).array().sign();
    for (double t : {0.0, -0.7, 30.0}) {
      RowTerms out;
      out.resize(37);
      likelihood.terms(use, y, (f + t * slope).array(), Arr::Zero(37), out);
      const auto along = [&](const double* w) {
        return likelihood.along({y.data(), f.data(), nullptr, slope.data(), w, 37}, t);
      };
      CHECK(along(nullptr) == doctest::Approx(out.value.sum()).epsilon(1e-13));
      CHECK(along(weight.data()) ==
            doctest::Approx((weight.array() * out.value).sum()).epsilon(1e-13));
    }
  });
}

TEST_CASE("likelihood: over a plane, of any number of rows, on either kind of processor's way") {
  for (const std::string& name : Registry<Likelihood>::names()) {
    const auto likelihood = any_likelihood(name);
    if (!likelihood->supports(Use::value)) continue;
    for (Index r : {0, 1, 3, 7, 8, 9, 16, 23, 40, 3000}) {
      const Arr y = Noise(19).normals(r).array().sign();
      const Vec f = 3 * Noise(15).normals(r), a = Noise(16).normals(r),
                b = Noise(18).normals(r);
      const Vec weight = Noise(17).normals(r).cwiseAbs();
      const Vec there = f + 0.4 * a - 1.3 * b;
      for (const double* w : {static_cast<const double*>(nullptr), weight.data()}) {
        double sum = 0;
        for (Index i = 0; i < r; ++i)
          sum += likelihood->along({&y[i], &there[i], nullptr, &there[i], w ? w + i : w, 1}, 0);
        CHECK(likelihood->over({y.data(), f.data(), a.data(), b.data(), w, r}, 0.4, -1.3) ==
              doctest::Approx(sum).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("likelihood: rows of a block do not know of each other") {
  each_use([](const Likelihood& likelihood, Use use) {
    const Vec draws = Noise(14).normals(40);
    const Arr y = draws.array().sign(), m = draws.reverse().array(), v = draws.array().square();
    RowTerms out;
    out.resize(40);
    likelihood.terms(use, y, m, v, out);
    for (Index i = 0; i < 40; ++i) {
      const One alone = at(likelihood, use, y[i], m[i], v[i]);
      CHECK(out.value[i] == doctest::Approx(alone.value).epsilon(1e-14));
      CHECK(out.curvature[i] == doctest::Approx(alone.curvature).epsilon(1e-14));
    }
  });
}

TEST_CASE("likelihood: its atoms are log p up to a constant, and make the augmented terms") {
  for (const std::string& name : Registry<Likelihood>::names()) {
    const auto likelihood = any_likelihood(name);
    const Index r = 200;
    const Arr y = Noise(19).normals(r).array().sign(), f = 2 * Noise(20).normals(r).array(),
              v = Noise(21).normals(r).array().square();
    const int count = likelihood->atoms(1).count;
    if (count == 0) continue;
    CAPTURE(name);
    REQUIRE(likelihood->supports(Use::point));
    REQUIRE(likelihood->supports(Use::augmented));
    RowTerms point, zero, augmented;
    for (RowTerms* terms : {&point, &zero, &augmented}) terms->resize(r);
    likelihood->terms(Use::point, y, f, Arr::Zero(r), point);
    likelihood->terms(Use::point, y, Arr::Zero(r), Arr::Zero(r), zero);
    likelihood->terms(Use::augmented, y, f, v, augmented);
    for (Index i = 0; i < r; ++i) {
      const Atoms of = likelihood->atoms(y[i]);
      REQUIRE(of.count == count);
      double change = 0, weight = 0, slope = 0;
      for (int k = 0; k < count; ++k) {
        const Atom& atom = of.atom[k];
        CHECK(atom.cost > 0);
        CHECK(std::abs(atom.sign) == 1);
        const double off = f[i] - atom.place;
        change -= atom.cost * (std::max(0.0, atom.sign * off) -
                               std::max(0.0, -atom.sign * atom.place));
        const double w = 0.5 * atom.cost / std::sqrt(off * off + v[i]);
        weight += w;
        slope -= w * off + 0.5 * atom.cost * atom.sign;
      }
      CHECK(std::abs(change - (point.value[i] - zero.value[i])) < 1e-13 * (1 + std::abs(change)));
      CHECK(weight == doctest::Approx(augmented.weight[i]).epsilon(1e-14));
      CHECK(slope == doctest::Approx(augmented.slope[i]).epsilon(1e-13));
    }
  }
}

// The latent precision w leaves weight w of the quadratic -(f - y (1 + 1/w))^2 / 2, whatever the
// row's weight: slope and curvature are its derivatives.
TEST_CASE("likelihood contract: drawn terms are those of a row's quadratic") {
  const auto hinge = Registry<Likelihood>::make("hinge", Params());
  Noise noise(15);
  const Index r = 40;
  Arr y(r), f(r), weight(r);
  RowDraws random;
  random.normal.resize(r);
  random.uniform.resize(r);
  for (Index i = 0; i < r; ++i) {
    y[i] = i % 2 ? 1 : -1;
    f[i] = 2 * noise.normal();
    weight[i] = 0.2 + 3 * noise.uniform();
    random.normal[i] = noise.normal();
    random.uniform[i] = noise.uniform();
  }
  RowTerms out;
  out.resize(r);
  hinge->draw(y, f, weight, random, out);
  for (Index i = 0; i < r; ++i) {
    const double w = out.weight[i] / weight[i], h = 1e-3;
    const auto quadratic = [&](double at) {
      const double off = at - y[i] * (1 + 1 / w);
      return -0.5 * weight[i] * w * off * off;
    };
    CHECK(w > 0);
    CHECK(out.curvature[i] == out.weight[i]);
    CHECK(out.slope[i] == doctest::Approx((quadratic(f[i] + h) - quadratic(f[i] - h)) / (2 * h))
                              .epsilon(1e-8));
    CHECK(out.value[i] == doctest::Approx(-2 * weight[i] * std::max(0.0, 1 - y[i] * f[i])));
  }
}
