// Likelihoods whose scale differs by row: each row is that of the family without such scales, at the
// scale of the row.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.hpp"
#include "likelihood/likelihood.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

constexpr Index kRows = 7;

struct Rows7 {
  Vec y = (Vec(kRows) << -3, -0.1, 0, 0.2, 5, 40, -0.4).finished();
  Mat z = (Mat(kRows, 2) << -1, 0.5, 0.3, 0, 2, -1, 0, 0, 1, 1, -2, 0.7, 0.1, -0.2).finished();
  Arr m = (Arr(kRows) << 0.5, 0, 0, 0.25, 1, 3, -0.1).finished();
  Arr v = (Arr(kRows) << 0.3, 1e-6, 1, 2, 50, 1, 0.1).finished();
  Arr weight = (Arr(kRows) << 1, 2, 0.5, 1, 3, 1, 0.2).finished();
  Vec gamma = Eigen::Vector2d(0.7, -1.3);
  // In another order, one of them twice.
  Arr code = (Arr(kRows) << 3, 0, 6, 2, 2, 5, 1).finished();

  Arr picked(const Arr& of) const {
    Arr out(kRows);
    for (Index i = 0; i < kRows; ++i) out[i] = of[static_cast<Index>(code[i])];
    return out;
  }
};

struct Case {
  const char* name;
  std::map<std::string, double> given;
  Vec theta;  // log scale first
};

std::vector<Case> cases() {
  return {{"eps_insensitive", {}, Eigen::Vector2d(-0.4, 0.3)},
          {"eps_insensitive", {{"kappa", 0.6}}, Vec::Constant(1, 0.9)},
          {"eps_insensitive", {{"epsilon", 0}}, Vec::Constant(1, -0.2)},
          {"asymmetric_laplace", {{"tau", 0.8}}, Vec::Constant(1, 0.1)},
          {"normal", {}, Vec::Constant(1, 0.3)}};
}

std::unique_ptr<Likelihood> scaled_family(const Case& of, const Rows7& rows) {
  return Registry<Likelihood>::make(
      of.name, Params(of.name, of.given,
                      {{"response", Params::Array(rows.y.data(), kRows, 1)},
                       {"scale_columns", Params::Array(rows.z.data(), kRows, 2)}}));
}

std::unique_ptr<Likelihood> scaled(const Case& of, const Rows7& rows) {
  const auto family = scaled_family(of, rows);
  Vec theta(of.theta.size() + 2);
  theta << of.theta, rows.gamma;
  REQUIRE(family->free_size() == theta.size());
  return family->with(theta);
}

std::unique_ptr<Likelihood> plain(const Case& of, const Rows7& rows, Index row) {
  Vec theta = of.theta;
  theta[0] += rows.z.row(row).dot(rows.gamma);
  return Registry<Likelihood>::make(of.name, Params(of.name, of.given))->with(theta);
}

// check(scaled likelihood, its code, the plain likelihood of the row, its response, place)
template <class Check>
void each_row(Check check) {
  const Rows7 rows;
  for (const Case& of : cases()) {
    CAPTURE(of.name);
    const auto likelihood = scaled(of, rows);
    for (Index i = 0; i < kRows; ++i) {
      const Index row = static_cast<Index>(rows.code[i]);
      check(*likelihood, rows.code[i], *plain(of, rows, row), rows.y[row], i);
    }
  }
}

constexpr double kTolerance = 4e-14;

void check_close(double found, double truth) {
  CHECK(std::abs(found - truth) <= kTolerance * (1 + std::abs(truth)));
}

void check_same(const RowTerms& found, Index i, const RowTerms& truth) {
  for (Arr RowTerms::*of : {&RowTerms::value, &RowTerms::slope, &RowTerms::weight,
                            &RowTerms::curvature})
    check_close((found.*of)[i], (truth.*of)[0]);
}

RowTerms sized(Index r) {
  RowTerms out;
  out.resize(r);
  return out;
}

}  // namespace

TEST_CASE("scaled rows: terms are those at the row's scale") {
  const Rows7 rows;
  for (const Use use : {Use::augmented, Use::expected, Use::point, Use::matched})
    for (const Case& of : cases()) {
      CAPTURE(of.name);
      RowTerms all = sized(kRows), one = sized(1);
      scaled(of, rows)->terms(use, rows.code, rows.m, rows.v, all);
      for (Index i = 0; i < kRows; ++i) {
        const Index row = static_cast<Index>(rows.code[i]);
        plain(of, rows, row)->terms(use, rows.y.segment(row, 1).array(), rows.m.segment(i, 1),
                                    rows.v.segment(i, 1), one);
        check_same(all, i, one);
      }
    }
}

TEST_CASE("scaled rows: latent scales are drawn as at the row's scale") {
  const Rows7 rows;
  for (const Case& of : cases()) {
    CAPTURE(of.name);
    const auto likelihood = scaled(of, rows);
    const int scales = likelihood->scales();
    RowDraws random;
    random.draw({3, 0, 0}, 0, kRows, scales);
    RowTerms all = sized(kRows), one = sized(1);
    likelihood->draw(rows.code, rows.m, rows.weight, random, all);
    for (Index i = 0; i < kRows; ++i) {
      const Index row = static_cast<Index>(rows.code[i]);
      RowDraws own{Arr(scales), Arr(scales)};
      for (int k = 0; k < scales; ++k) {
        own.normal[k] = random.normal[k * kRows + i];
        own.uniform[k] = random.uniform[k * kRows + i];
      }
      plain(of, rows, row)->draw(rows.y.segment(row, 1).array(), rows.m.segment(i, 1),
                                 rows.weight.segment(i, 1), own, one);
      check_same(all, i, one);
    }
  }
}

TEST_CASE("scaled rows: sums over lines and ellipses, more rows than are near at a time") {
  const Rows7 rows;
  constexpr Index kMany = 600;
  const auto repeated = [&](const Arr& of) { return Arr(of.replicate(kMany / kRows + 1, 1)); };
  const Arr code = repeated(rows.code), f = repeated(rows.m), a = repeated(0.3 * rows.v),
            b = repeated(1 - rows.m), weight = repeated(rows.weight);
  for (const Case& of : cases()) {
    CAPTURE(of.name);
    const auto likelihood = scaled(of, rows);
    for (bool ellipse : {false, true})
      for (bool weighted : {false, true}) {
        const double s = 0.8, t = -1.7;
        Real truth = 0;
        for (Index i = 0; i < kMany; ++i) {
          const Index row = static_cast<Index>(code[i]);
          const double at = f[i] + t * b[i] + (ellipse ? s * a[i] : 0), still = 0;
          truth += Real(weighted ? weight[i] : 1) *
                   plain(of, rows, row)->along({&rows.y[row], &at, nullptr, &still, nullptr, 1}, 0);
        }
        check_close(likelihood->over({code.data(), f.data(), ellipse ? a.data() : nullptr, b.data(),
                                      weighted ? weight.data() : nullptr, kMany},
                                     s, t),
                    static_cast<double>(truth));
      }
  }
}

TEST_CASE("scaled rows: averages over f and draws of it are those at the row's scale") {
  const Rows7 rows;
  each_row([&](const Likelihood& of, double code, const Likelihood& truth, double y, Index i) {
    const Tilted found = of.averaged(code, rows.m[i], rows.v[i], 0.7),
                 expected = truth.averaged(y, rows.m[i], rows.v[i], 0.7);
    check_close(found.value, expected.value);
    check_close(found.slope, expected.slope);
    check_close(found.curvature, expected.curvature);
    Draws one({5, 1, 2}, Purpose::rows, 0), other({5, 1, 2}, Purpose::rows, 0);
    check_close(of.draw_averaged(code, rows.m[i], rows.v[i], 0.7, one),
                truth.draw_averaged(y, rows.m[i], rows.v[i], 0.7, other));
  });
}

TEST_CASE("scaled rows: atoms lie and cost as at the row's scale") {
  each_row([&](const Likelihood& of, double code, const Likelihood& truth, double y, Index) {
    const Atoms found = of.atoms(code), expected = truth.atoms(y);
    REQUIRE(found.count == expected.count);
    for (int k = 0; k < found.count; ++k) {
      check_close(found.atom[k].place, expected.atom[k].place);
      CHECK(found.atom[k].sign == expected.atom[k].sign);
      check_close(found.atom[k].cost, expected.atom[k].cost);
    }
  });
}

TEST_CASE("scaled rows: what is kept within bounds is a row's whole scale") {
  Rows7 rows;
  rows.gamma = Eigen::Vector2d(15, -10);
  for (Case of : cases())
    for (double far : {-155.0, 155.0}) {
      CAPTURE(of.name);
      of.theta[0] = far;
      RowTerms all = sized(kRows), one = sized(1);
      scaled(of, rows)->terms(Use::expected, rows.code, rows.m, rows.v, all);
      for (Index i = 0; i < kRows; ++i) {
        const Index row = static_cast<Index>(rows.code[i]);
        plain(of, rows, row)->terms(Use::expected, rows.y.segment(row, 1).array(),
                                    rows.m.segment(i, 1), rows.v.segment(i, 1), one);
        CHECK(std::abs(all.value[i] - one.value[0]) <= 3e-13 * std::abs(one.value[0]));
      }
    }
}

TEST_CASE("scaled rows: far parameters leave numbers") {
  const Rows7 rows;
  const Case of = cases()[0];
  const auto family = scaled_family(of, rows);
  for (double far : {-1e300, 1e300}) {
    const auto likelihood = family->with(Eigen::Vector4d(0, 0, far, far));
    RowTerms out = sized(kRows);
    likelihood->terms(Use::expected, rows.code, rows.m, rows.v, out);
    CHECK_FALSE(out.value.isNaN().any());
    CHECK_FALSE(out.slope.isNaN().any());
    CHECK_FALSE(out.weight.isNaN().any());
  }
}

TEST_CASE("scaled rows: codes are numbers of rows, and columns are for all of them") {
  const Rows7 rows;
  const Case of = cases()[0];
  const auto family = scaled_family(of, rows);
  CHECK_NOTHROW(family->check(rows.code.data(), kRows));
  for (double odd : {-1.0, 0.5, 7.0, std::nan("")})
    CHECK_THROWS_AS(family->check(&odd, 1), InvalidInput);
  CHECK_THROWS_AS(Registry<Likelihood>::make(
                      of.name, Params(of.name, {},
                                      {{"response", Params::Array(rows.y.data(), 5, 1)},
                                       {"scale_columns", Params::Array(rows.z.data(), kRows, 2)}})),
                  InvalidInput);
}
