// Integrals of rows so far out that doubles hardly or not hold them: right where they can be, a
// NumericalFailure elsewhere, and never a place outside an array or a loop as long as a number.
#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "base/error.hpp"
#include "integral/leave_one_out.hpp"
#include "integral/one/hinge_integral.hpp"
#include "integral/pair/pair_grid.hpp"
#include "pair_data.hpp"

using namespace bsvm_test;

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kSizes[] = {1e8, 1e10, 1e12, 1e15, 1e18, 1e30, 1e100, 1e200, 1e300};
const PairScale kUsual{1.2, 0.4, 0.8};

std::unique_ptr<EffectIntegral> integral_of(bool normalised) {
  return normalised ? normalised_hinge_integral() : pseudo_hinge_integral();
}

// Offsets on both sides of every class, as large as they can be.
Pair far_pair(double size, Index r = 10) {
  Pair out(r, 7, false, false);
  for (Index i = 0; i < r; ++i) {
    out.data.y[i] = i % 2 ? 1 : -1;
    out.data.o[i] = (i % 2 ? -1 : 1) * size * (1 + 0.1 * static_cast<double>(i % 3));
  }
  return out;
}

// The first half of the rows, and others far out: beyond their margin, or on the other side.
Pair half_far(double size, bool wrong_side) {
  Pair out(8, 3, true, false);
  for (Index i = 4; i < 8; ++i) out.data.o[i] = (wrong_side ? -1 : 1) * out.data.y[i] * size;
  return out;
}

Pair without_far(const Pair& all) {
  Pair out = all;
  for (Vec* each : {&out.data.y, &out.data.o, &out.data.z, &out.data.weight, &out.second})
    each->conservativeResize(4);
  out.data.c.conservativeResize(2, 4);
  return out;
}

// Numbers, or the failure that says there are none.
void survives(const std::function<double()>& work) {
  double found = 0;
  try {
    found = work();
  } catch (const NumericalFailure& error) {
    CHECK(std::string(error.what()).find("too large") != std::string::npos);
  }
  CHECK(!std::isnan(found));
}

// Of two effects a level as an engine asks for them: on a grid where there is one.
EffectSums pair_sums(bool normalised, const Pair& pair, const PairScale& scale, bool grid) {
  EffectSums out;
  const auto line = integral_of(normalised);
  if (grid && line->line()) {
    PairGrid::Frame frame;
    PairGrid(*line->line(), integral_of(normalised))
        .integrate(pair.rows(), scale, Depth::curvature, frame, out);
    return out;
  }
  PairIntegral(integral_of(normalised), PairGrid::kTolerance)
      .integrate(pair.rows(), scale, Depth::curvature, out);
  return out;
}

EffectSums single_sums(bool normalised, const Pair& pair, double s) {
  EffectSums out;
  integral_of(normalised)->integrate(pair.data.rows(), s, Depth::curvature, out);
  return out;
}

double whole(const EffectSums& sums) {
  return sums.value + sums.gradient.sum() + sums.hessian.sum();
}

void same_derivatives(const EffectSums& a, const EffectSums& b, double tolerance) {
  CHECK((a.gradient - b.gradient).cwiseAbs().maxCoeff() < tolerance);
  const Mat gap = (a.hessian - b.hessian).triangularView<Eigen::Lower>();
  CHECK(gap.cwiseAbs().maxCoeff() < tolerance);
}

}  // namespace

TEST_CASE("rows at any distance leave no integral outside its arrays, and end") {
  for (bool normalised : {false, true})
    for (double size : kSizes) {
      INFO("normalised " << normalised << " size " << size);
      const Pair pair = far_pair(size), many = far_pair(size, 60);
      for (double s : {1e-8, 1.0, 1e8, 1e100}) {
        survives([&] { return whole(single_sums(normalised, pair, s)); });
        survives([&] { return whole(single_sums(normalised, many, s)); });
      }
      for (bool grid : {false, true}) {
        survives([&] { return whole(pair_sums(normalised, pair, kUsual, grid)); });
        survives([&] { return whole(pair_sums(normalised, pair, {1e5, 1e5, 1e5}, grid)); });
        survives([&] { return whole(pair_sums(normalised, pair, {1e90, 1e90, 1e60}, grid)); });
      }
    }
}

TEST_CASE("laws, draws and distributions too") {
  for (bool normalised : {false, true})
    for (double size : kSizes) {
      INFO("normalised " << normalised << " size " << size);
      const Pair pair = far_pair(size);
      const auto integral = integral_of(normalised);
      const Vec at = Vec::LinSpaced(5, -2, 2);
      Vec p(5);
      EffectLaw law;
      PairLaw pair_law;
      survives([&] { return integral->law(pair.data.rows(), 1, law), law.mean; });
      survives([&] { return integral->distribution(pair.data.rows(), 1, at, p), p.sum(); });
      survives([&] {
        PairIntegral(integral_of(normalised)).law(pair.rows(), kUsual, pair_law);
        return pair_law.mean.sum();
      });
      survives([&] {
        PairIntegral(integral_of(normalised)).distribution(pair.rows(), kUsual, 1, at, p);
        return p.sum();
      });
      if (integral->line())
        survives([&] {
          LeaveOneOut without(*integral->line());
          return without.integrate(pair.data.rows(), 1).sum() +
                 without.integrate(pair.rows(), kUsual).sum();
        });
      if (normalised) continue;
      Draws random({1, 0, 0}, Purpose::groups, 1);
      double u = 0;
      survives([&] { return integral->draw(pair.data.rows(), 1, random, u) + u; });
    }
}

TEST_CASE("what is no number is a failure") {
  for (bool normalised : {false, true})
    for (double bad : {kNoNumber, std::numeric_limits<double>::infinity()}) {
      Pair pair(30, 2, false, false);
      pair.data.o[3] = bad;
      CHECK_THROWS_AS(single_sums(normalised, pair, 1), NumericalFailure);
      CHECK_THROWS_AS(pair_sums(normalised, pair, kUsual, true), NumericalFailure);
    }
}

TEST_CASE("rows far beyond their margin are as if they were not there") {
  for (bool normalised : {false, true})
    for (double size : {1e3, 1e8, 1e12, 1e18, 1e100}) {
      INFO("normalised " << normalised << " size " << size);
      const Pair all = half_far(size, false), near = without_far(all);
      const EffectSums one = single_sums(normalised, all, 1.3),
                       other = single_sums(normalised, near, 1.3);
      CHECK(std::abs(one.value - other.value) < 1e-9);
      same_derivatives(one, other, 1e-8);
      const EffectSums two = pair_sums(normalised, all, kUsual, false),
                       pair = pair_sums(normalised, near, kUsual, false);
      CHECK(std::abs(two.value - pair.value) < 1e-6);
      same_derivatives(two, pair, 1e-4);
    }
}

TEST_CASE("rows far on the other side add a line, wherever they are") {
  for (bool normalised : {false, true}) {
    const Pair reference = half_far(1e3, true);
    const EffectSums one = single_sums(normalised, reference, 1.3),
                     two = pair_sums(normalised, reference, kUsual, false);
    for (double size : {1e5, 1e6, 1e8}) {
      INFO("normalised " << normalised << " size " << size);
      const Pair far = half_far(size, true);
      const double fall = -2 * far.data.weight.tail(4).sum() * (size - 1e3);
      const double rounding = 1e-14 * size;  // of the offsets, and of sums over them
      const EffectSums own = single_sums(normalised, far, 1.3);
      CHECK(std::abs(own.value - one.value - fall) < 1e-9 + 10 * rounding);
      same_derivatives(own, one, 1e-7 + 10 * rounding);
      const EffectSums pair = pair_sums(normalised, far, kUsual, false);
      CHECK(std::abs(pair.value - two.value - fall) < 1e-5 + 10 * rounding);
      same_derivatives(pair, two, 1e-4 + 1e3 * rounding);
    }
  }
}
