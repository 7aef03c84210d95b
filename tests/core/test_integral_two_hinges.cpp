// Effects integrated out of rows whose log p is a sum of two hinges and a constant.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.hpp"
#include "integral/pair/pair_integral.hpp"
#include "likelihood/two_hinges.hpp"
#include "pair_data.hpp"

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
const TwoHingesCase kCases[] = {{1, 1, 0.5, 0.5}, {1, 1, 0, 0}, {0.9, 0.1, 0, 0}, {3, 0.5, 2, -1.5}};

enum class Kind { plain, ones, weights, ties, flat, far, steep };
constexpr Kind kKinds[] = {Kind::plain, Kind::ones, Kind::weights, Kind::ties,
                           Kind::flat,  Kind::far,  Kind::steep};

RowsData make(Kind kind, Index r, double unit = 1, Index d = 3) {
  Noise noise(29 + static_cast<std::uint64_t>(kind) * 100 + static_cast<std::uint64_t>(r));
  RowsData out;
  for (Vec* each : {&out.y, &out.o, &out.z}) *each = noise.normals(r);
  out.c = Mat::Ones(d, r);
  for (Index j = 1; j < d; ++j) out.c.row(j) = noise.normals(r);
  if (kind == Kind::ones) out.z.setOnes();
  if (kind == Kind::weights || kind == Kind::ties) {
    out.weight = Vec(r);
    for (Index i = 0; i < r; ++i) out.weight[i] = 0.2 + 3 * noise.uniform();
    if (r > 3) out.weight[3] = 0;
  }
  if (kind == Kind::far) out.o *= 20;
  if (kind == Kind::steep) out.z *= 8;
  for (Index i = 0; i < r; ++i) {
    if (kind == Kind::flat && i % 3 == 1) out.z[i] = 0;
    if (kind != Kind::ties || i % 2 == 0) continue;  // the same kinks, other columns
    out.y[i] = out.y[i - 1];
    out.o[i] = out.o[i - 1];
    out.z[i] = out.z[i - 1];
  }
  out.y *= unit;
  out.o *= unit;
  return out;
}

Mat whole(const Mat& lower) { return lower.selfadjointView<Eigen::Lower>(); }

struct Worst {
  double value = 0, gradient = 0, mean = 0, variance = 0, slope = 0, cdf = 0;
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
      CHECK(worst.value < 1e-10);
      CHECK(worst.gradient < 1e-9);
      CHECK(worst.mean < 1e-9);
      CHECK(worst.variance < 1e-9);
      CHECK(worst.slope < 1e-9);
      CHECK(worst.cdf < 1e-10);
    }
}

// The likelihood's scale against the effect's standard deviation; the data in units of either.
TEST_CASE("two hinges a row: any scale against the effect's standard deviation") {
  for (const TwoHingesCase& of : kCases)
    for (double scale : {1e-6, 1e-3, 1e3, 1e6}) {
      Worst worst;
      for (double unit : {1.0, scale})
        for (Index r : {1, 2, 7}) compare(of, scale, make(Kind::plain, r, unit), 1, worst);
      INFO("a " << of.a << " e2 " << of.e2 << " scale " << scale);
      CHECK(worst.value < 1e-10);
      CHECK(worst.gradient < 1e-9);
      CHECK(worst.mean < 1e-9);
      CHECK(worst.variance < 1e-9);
      CHECK(worst.slope < 1e-9);
      CHECK(worst.cdf < 1e-10);
    }
}
