// Effects integrated out of rows whose log p is a sum of two hinges and a constant.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.hpp"
#include "integral/pair/pair_integral.hpp"
#include "likelihood/two_hinges.hpp"
#include "pair_data.hpp"
#include "pair_row_law.hpp"
#include "row_kinds.hpp"

using namespace bsvm_test;

namespace {

// In units of a scale: a tube, no tube, a quantile, and kinks on one side of y.
struct TwoHingesCase {
  double a, b, e1, e2;

  TwoHinges likelihood(double scale) const {
    return {a / scale, b / scale, e1 * scale, e2 * scale};
  }
  RowLaw law(double scale) const {
    // The numbers that the likelihood has, not their quotients in long double.
    return row_law({a / scale, b / scale, e1 * scale, e2 * scale});
  }
};
const TwoHingesCase kCases[] = {
    {1, 1, 0.5, 0.5}, {1, 1, 0, 0}, {0.9, 0.1, 0, 0}, {3, 0.5, 2, -1.5}};

constexpr Kind kKinds[] = {Kind::plain, Kind::ones, Kind::weights, Kind::ties,
                           Kind::flat,  Kind::far,  Kind::steep};

RowsData make(Kind kind, Index r, double unit = 1, Index d = 3) {
  Noise noise(29 + static_cast<std::uint64_t>(kind) * 100 + static_cast<std::uint64_t>(r));
  RowsData out;
  for (Vec* each : {&out.y, &out.o, &out.z}) *each = noise.normals(r);
  out.c = Mat::Ones(d, r);
  for (Index j = 1; j < d; ++j) out.c.row(j) = noise.normals(r);
  vary(out, kind, noise);
  if (out.weight.size() > 3) out.weight[3] = 0;
  out.y *= unit;
  out.o *= unit;
  return out;
}

Mat whole(const Mat& lower) { return lower.selfadjointView<Eigen::Lower>(); }

struct Worst {
  double value = 0, gradient = 0, mean = 0, variance = 0, slope = 0, cdf = 0;

  void check_below(const Worst& most) const {
    CHECK(value < most.value);
    CHECK(gradient < most.gradient);
    CHECK(mean < most.mean);
    CHECK(variance < most.variance);
    CHECK(slope < most.slope);
    CHECK(cdf < most.cdf);
  }
};

// Errors in units of what each is measured by.
void compare(const TwoHingesCase& of, double scale, const RowsData& data, double s, Worst& worst) {
  const TwoHinges likelihood = of.likelihood(scale);
  const auto integral = likelihood.integral();
  const std::vector<double> at{-2 * s, -0.4 * s, -0.01 * s, 0, 0.3 * s, 1.5 * s};
  const EffectTruth truth = brute_force(of.law(scale), data, s, at);
  EffectSums sums, shallow;
  integral->integrate(data.rows(), s, Depth::gradient, sums);
  // What gradients are sums of.
  const double steep = std::max(of.a, of.b) / scale, size = 1 + steep;
  worst.value = std::max(worst.value, std::abs(static_cast<double>(sums.value - truth.value)) /
                                          (1 + std::abs(static_cast<double>(truth.value))));
  for (Index j = 0; j < sums.gradient.size(); ++j)
    worst.gradient = std::max(
        worst.gradient, std::abs(static_cast<double>(sums.gradient[j] - truth.gradient[j])) /
                            (j + 1 < sums.gradient.size()
                                 ? size
                                 : 1 + std::abs(static_cast<double>(truth.gradient[j]))));
  integral->integrate(data.rows(), s, Depth::value, shallow);
  CHECK(shallow.value == doctest::Approx(sums.value).epsilon(1e-12));
  EffectLaw law;
  integral->law(data.rows(), s, law);
  const double sd = std::sqrt(static_cast<double>(truth.variance));
  worst.mean = std::max(worst.mean, std::abs(static_cast<double>(law.mean - truth.mean)) / sd);
  worst.variance = std::max(worst.variance, gap(law.variance, truth.variance));
  for (Index j = 0; j < law.slope.size(); ++j)
    worst.slope = std::max(worst.slope,
                           std::abs(static_cast<double>(law.slope[j] - truth.slope[j])) /
                               (size * sd));
  Vec cdf(6);
  integral->distribution(data.rows(), s, Eigen::Map<const Vec>(at.data(), 6), cdf);
  for (Index k = 0; k < 6; ++k)
    worst.cdf = std::max(worst.cdf, std::abs(static_cast<double>(cdf[k] - truth.cdf[k])));
}

}  // namespace

TEST_CASE("two hinges a row: value, gradient, law and distribution are brute force's") {
  for (const TwoHingesCase& of : kCases)
    for (Kind kind : kKinds) {
      Worst worst;
      for (Index r : {1, 2, 6, 15})
        for (double s : {1e-4, 0.05, 1.0, 4.0, 100.0, 1e4}) compare(of, 1, make(kind, r), s, worst);
      INFO("a " << of.a << " e2 " << of.e2 << " kind " << static_cast<int>(kind));
      worst.check_below({2e-12, 4e-11, 2e-11, 1e-10, 2e-12, 5e-12});
    }
}

// The likelihood's scale against the effect's standard deviation; the data in units of either. A
// kink's place is known to rounding of the data, which a scale of 1e-6 makes 1e6 times as much.
TEST_CASE("two hinges a row: any scale against the effect's standard deviation") {
  for (const TwoHingesCase& of : kCases)
    for (double scale : {1e-6, 1e-3, 1e3, 1e6}) {
      Worst worst;
      for (double unit : {1.0, scale})
        for (Index r : {1, 2, 7}) compare(of, scale, make(Kind::plain, r, unit), 1, worst);
      INFO("a " << of.a << " e2 " << of.e2 << " scale " << scale);
      worst.check_below({1e-10, 4e-11, 4e-10, 1e-10, 4e-12, 5e-12});
    }
}

// A tie's kinks, and those of a row without a tube, part as soon as b moves, which bends the
// gradient: the step is short there.
TEST_CASE("two hinges a row: the Hessian is the derivative of brute force's gradient") {
  double worst = 0;
  for (const TwoHingesCase& of : kCases)
    for (Kind kind : kKinds)
      for (double s : {1e-4, 0.3, 2.0, 50.0, 1e4}) {
        const RowsData data = make(kind, 7);
        INFO("a " << of.a << " e2 " << of.e2 << " kind " << static_cast<int>(kind) << " s " << s);
        const Mat truth =
            brute_force_hessian(of.law(1), data, s, kind == Kind::ties ? 1e-8 : 1e-6);
        const TwoHinges likelihood = of.likelihood(1);
        EffectSums sums;
        likelihood.integral()->integrate(data.rows(), s, Depth::curvature, sums);
        worst = std::max(worst, (whole(sums.hessian) - truth).norm() / (1 + truth.norm()));
      }
  CHECK(worst < 5e-7);
}

TEST_CASE("two hinges a row: many copies of a row are one with a weight") {
  const TwoHinges likelihood = kCases[0].likelihood(1);
  const auto integral = likelihood.integral();
  for (Index copies : {20, 3000}) {
    RowsData few = make(Kind::plain, 15), many;
    few.weight = Vec::Constant(15, static_cast<double>(copies));
    for (Vec RowsData::*part : {&RowsData::y, &RowsData::o, &RowsData::z})
      many.*part = (few.*part).replicate(copies, 1);
    many.c = few.c.replicate(1, copies);
    for (double s : {1e-4, 0.2, 3.0, 1e4}) {
      INFO("copies " << copies << " s " << s);
      EffectSums one, other;
      integral->integrate(few.rows(), s, Depth::curvature, one);
      integral->integrate(many.rows(), s, Depth::curvature, other);
      CHECK(gap(other.value, one.value) < 1e-11);
      CHECK(gap(other.gradient, one.gradient) < 1e-8);
      CHECK(gap(whole(other.hessian), whole(one.hessian)) < 1e-7);
    }
  }
}

// The mean and variance of many draws.
TEST_CASE("two hinges a row: draws have the law's moments") {
  for (const TwoHingesCase& of : kCases)
    for (double s : {0.1, 2.0}) {
      const RowsData data = make(Kind::weights, 9);
      const TwoHinges likelihood = of.likelihood(1);
      const auto integral = likelihood.integral();
      EffectLaw law;
      EffectSums sums;
      integral->law(data.rows(), s, law);
      integral->integrate(data.rows(), s, Depth::value, sums);
      Draws random({1, 0, 0}, Purpose::groups, 1);
      const int n = 40000;
      double mean = 0, square = 0, u = 0;
      for (int k = 0; k < n; ++k) {
        integral->draw(data.rows(), s, random, u);
        mean += (u - law.mean) / n;
        square += (u - law.mean) * (u - law.mean) / n;
      }
      CHECK(std::abs(mean) < 5 * std::sqrt(law.variance / n));
      CHECK(std::abs(square / law.variance - 1) < 5 * std::sqrt(3.0 / n));
    }
}

namespace {

const PairScale kScales[] = {{1, 0.5, 0.7}, {3, -1, 2}, {0.01, 0.02, 0.01}, {1, 0, 1e-4},
                             {1e-3, 0.3, 2}, {30, 10, 20}};

// Numbers where the package's pairs have classes.
Pair number_pair(Index r, std::uint64_t seed, bool weights, bool some_zero) {
  Pair out(r, seed, weights, some_zero);
  Noise noise(seed + 100);
  out.data.y = 2 * noise.normals(r);
  return out;
}

}  // namespace

TEST_CASE("two hinges a row: two effects are quadrature in two dimensions") {
  for (const TwoHingesCase& of : {kCases[0], kCases[2]})
    for (double unit : {1.0, 0.1})
      for (const PairScale& scale : kScales)
        for (bool zeros : {false, true}) {
          if (zeros == (of.e1 > 0)) continue;  // slow
          const Pair pair = number_pair(2, zeros ? 5 : 6, zeros, zeros);
          INFO("a " << of.a << " unit " << unit << " scale " << scale.f00 << " " << scale.f11
                    << " zeros " << zeros);
          const TwoHinges likelihood = of.likelihood(unit);
          PairIntegral integral(likelihood.integral());
          const PairTruth truth = brute_force_pair(of.law(unit), pair.data, pair.second, scale.f00,
                                                   scale.f10, scale.f11);
          EffectSums sums;
          integral.integrate(pair.rows(), scale, Depth::value, sums);
          CHECK(gap(sums.value, truth.value) < 1e-8);
          bsvm::PairLaw own;
          integral.law(pair.rows(), scale, own);
          const double size = scale.f00 + scale.f11 + std::abs(scale.f10);
          CHECK((own.mean - truth.mean.cast<double>()).norm() < 1e-7 * size);
          CHECK((own.covariance - truth.covariance.cast<double>()).norm() < 1e-7 * size * size);
        }
}

TEST_CASE("two hinges a row: gradient and Hessian in two effects are the value's derivatives") {
  for (const TwoHingesCase& of : {kCases[0], kCases[1]})
    for (const PairScale& scale : kScales)
      for (bool zeros : {false, true}) {
        const TwoHinges likelihood = of.likelihood(1);
        PairIntegral integral(likelihood.integral());
        const Pair pair = number_pair(5, zeros ? 8 : 9, !zeros, zeros);
        INFO(scale.f00 << " " << scale.f10 << " " << scale.f11 << " zeros " << zeros);
        check_pair_derivatives(integral, pair, scale);
      }
}
