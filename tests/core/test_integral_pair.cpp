#include <doctest/doctest.h>

#include <cmath>

#include "integral/one/hinge_integral.hpp"
#include "pair_data.hpp"

using namespace bsvm_test;

namespace {

const PairScale kScales[] = {{1, 0.5, 0.7}, {3, -1, 2}, {0.01, 0.02, 0.01}, {1, 0, 1e-4},
                             {1e-3, 0.3, 2}, {30, 10, 20}};

PairIntegral pair_of(const RowLaw& law) {
  return PairIntegral(&law == &kPseudo ? pseudo_hinge_integral() : normalised_hinge_integral());
}

}  // namespace

TEST_CASE("two integrated effects: value and moments are those of quadrature in two dimensions") {
  for (const RowLaw* law : {&kPseudo, &kNormalised}) {
    PairIntegral integral = pair_of(*law);
    for (const PairScale& scale : kScales)
      for (bool zeros : {false, true}) {
        if (law == &kNormalised && zeros == (scale.f10 > 0)) continue;  // slow
        const Pair pair(law == &kPseudo ? 3 : 2, zeros ? 5 : 6, zeros, zeros);
        INFO(scale.f00 << " " << scale.f10 << " " << scale.f11 << " zeros " << zeros);
        const PairTruth truth = brute_force_pair(*law, pair.data, pair.second, scale.f00,
                                                 scale.f10, scale.f11);
        EffectSums sums;
        integral.integrate(pair.rows(), scale, Depth::value, sums);
        CHECK(gap(sums.value, truth.value) < 1e-8);
        PairLaw own;
        integral.law(pair.rows(), scale, own);
        const double size = scale.f00 + scale.f11 + std::abs(scale.f10);
        CHECK((own.mean - truth.mean.cast<double>()).norm() < 1e-7 * size);
        CHECK((own.covariance - truth.covariance.cast<double>()).norm() < 1e-7 * size * size);
      }
  }
}

// The rows pull e_0 far from its prior, and against the sign of the first multiplier.
TEST_CASE("two integrated effects: the mode is found where the second effect's part leads") {
  for (const RowLaw* law : {&kPseudo, &kNormalised}) {
    PairIntegral integral = pair_of(*law);
    Pair pair(2, 12, true, false);
    pair.data.y.setOnes();
    pair.data.z.setConstant(-1);
    pair.data.o << -4, -5;
    pair.data.weight << 80, 60;
    pair.second << 1, 1.3;
    const PairScale scale{0.05, 2, 0.3};
    const PairTruth truth =
        brute_force_pair(*law, pair.data, pair.second, scale.f00, scale.f10, scale.f11);
    PairLaw own;
    EffectSums sums;
    integral.integrate(pair.rows(), scale, Depth::value, sums);
    integral.law(pair.rows(), scale, own);
    CHECK(gap(sums.value, truth.value) < 1e-8);
    CHECK((own.mean - truth.mean.cast<double>()).norm() < 1e-6);
  }
}

TEST_CASE("two integrated effects: gradient and Hessian are the value's derivatives") {
  for (const RowLaw* law : {&kPseudo, &kNormalised}) {
    PairIntegral integral = pair_of(*law);
    for (const PairScale& scale : kScales)
      for (bool zeros : {false, true}) {
        const Pair pair(5, zeros ? 8 : 9, !zeros, zeros);
        INFO(scale.f00 << " " << scale.f10 << " " << scale.f11 << " zeros " << zeros);
        check_pair_derivatives(integral, pair, scale);
      }
  }
}

TEST_CASE("two integrated effects: an effect that is not there leaves the other alone") {
  for (const RowLaw* law : {&kPseudo, &kNormalised}) {
    PairIntegral integral = pair_of(*law);
    Pair pair(7, 3, true, false);
    pair.second.setZero();
    EffectSums sums, one;
    EffectTruth truth = brute_force(*law, pair.data, 1.5);
    integral.integrate(pair.rows(), {1.5, 0.4, 0.9}, Depth::curvature, sums);
    CHECK(gap(sums.value, truth.value) < 1e-9);
    CHECK((sums.gradient.head(3) - truth.gradient.cast<double>()).norm() < 1e-7);
    const Mat hessian = brute_force_hessian(*law, pair.data, 1.5, 1e-6);
    CHECK(gap(Mat(sums.hessian.selfadjointView<Eigen::Lower>()).topLeftCorner(3, 3), hessian) <
          1e-6);
    CHECK(sums.gradient.tail(2).norm() < 1e-8);
  }
}

TEST_CASE("two integrated effects: regressions and distributions are derivatives and integrals") {
  for (const RowLaw* law : {&kPseudo, &kNormalised}) {
    PairIntegral integral = pair_of(*law);
    const Pair pair(6, 4, true, false);
    const PairScale scale{1.2, 0.6, 0.8};
    PairLaw own, up, down;
    integral.law(pair.rows(), scale, own);
    for (Index j = 0; j < 2; ++j) {
      const double h = 1e-4;
      Pair there = pair;
      there.data = moved(pair.data, h * Vec::Unit(2, j));
      integral.law(there.rows(), scale, up);
      there.data = moved(pair.data, -h * Vec::Unit(2, j));
      integral.law(there.rows(), scale, down);
      CHECK((own.slope.row(j).transpose() - (up.mean - down.mean) / (2 * h)).norm() < 1e-5);
    }
    for (Index effect : {0, 1}) {  // E u and E u^2 from P(u <= x)
      const Index n = 4001;
      const Vec at = Vec::LinSpaced(n, -8, 8);
      Vec cdf(n);
      integral.distribution(pair.rows(), scale, effect, at, cdf);
      const double h = 16.0 / static_cast<double>(n - 1);
      double mean = 8, square = 64;  // integrals by parts
      for (Index k = 0; k < n; ++k) {
        const double weight = h * (k == 0 || k == n - 1 ? 0.5 : 1);
        mean -= weight * cdf[k];
        square -= weight * 2 * at[k] * cdf[k];
      }
      CHECK(std::abs(mean - own.mean[effect]) < 1e-5);
      CHECK(std::abs(square - mean * mean - own.covariance(effect, effect)) < 3e-5);
    }
  }
}
