#include <doctest/doctest.h>

#include <cmath>

#include "integral/one/hinge_integral.hpp"
#include "integral_oracle.hpp"
#include "row_kinds.hpp"

using namespace bsvm_test;

namespace {

struct Likely {
  const char* name;
  const RowLaw& law;
  std::unique_ptr<EffectIntegral> integral;
  double value, derivative;  // tolerances
};

std::vector<Likely> both() {
  std::vector<Likely> out;
  out.push_back({"pseudo", kPseudo, pseudo_hinge_integral(), 1e-10, 1e-9});
  out.push_back({"normalised", kNormalised, normalised_hinge_integral(), 1e-8, 3e-8});
  return out;
}

constexpr Kind kKinds[] = {Kind::plain, Kind::ones, Kind::weights, Kind::one_sign,
                           Kind::ties,  Kind::flat, Kind::far,     Kind::steep};

RowsData make(Kind kind, Index r, Index d = 3) {
  Noise noise(17 + static_cast<std::uint64_t>(kind) * 100 + static_cast<std::uint64_t>(r));
  RowsData out;
  for (Vec* each : {&out.y, &out.o, &out.z}) *each = noise.normals(r);
  out.c = Mat::Ones(d, r);
  for (Index j = 1; j < d; ++j) out.c.row(j) = noise.normals(r);
  for (Index i = 0; i < r; ++i) out.y[i] = out.y[i] > 0 || kind == Kind::one_sign ? 1 : -1;
  vary(out, kind, noise);
  return out;
}

Mat whole(const Mat& lower) { return lower.selfadjointView<Eigen::Lower>(); }

}  // namespace

TEST_CASE("integrated effect: value, gradient, law and distribution are brute force's") {
  for (Likely& of : both())
    for (Kind kind : kKinds)
      for (Index r : {1, 2, 6, 15})
        for (double s : {1e-4, 0.05, 1.0, 4.0, 100.0, 1e4}) {
          const RowsData data = make(kind, r);
          INFO(of.name << " kind " << static_cast<int>(kind) << " rows " << r << " s " << s);
          const std::vector<double> at{-2 * s, -0.4 * s, -0.01 * s, 0, 0.3 * s, 1.5 * s};
          const EffectTruth truth = brute_force(of.law, data, s, at);
          EffectSums sums, shallow;
          of.integral->integrate(data.rows(), s, Depth::gradient, sums);
          const double size = 1 + static_cast<double>(truth.gradient.cwiseAbs().maxCoeff());
          CHECK(std::abs(sums.value - truth.value) < of.value * (1 + std::abs(truth.value)));
          for (Index j = 0; j < sums.gradient.size(); ++j)
            CHECK(std::abs(sums.gradient[j] - truth.gradient[j]) < of.derivative * size);
          of.integral->integrate(data.rows(), s, Depth::value, shallow);
          CHECK(shallow.value == doctest::Approx(sums.value).epsilon(1e-12));
          EffectLaw law;
          of.integral->law(data.rows(), s, law);
          CHECK(std::abs(law.mean - truth.mean) < of.derivative * s);
          CHECK(gap(law.variance, truth.variance) < of.derivative);
          for (Index j = 0; j < law.slope.size(); ++j)
            CHECK(std::abs(law.slope[j] - truth.slope[j]) < of.derivative * size * s);
          Vec cdf(6);
          of.integral->distribution(data.rows(), s, Eigen::Map<const Vec>(at.data(), 6), cdf);
          for (Index k = 0; k < 6; ++k) CHECK(std::abs(cdf[k] - truth.cdf[k]) < of.value);
        }
}

// A tie's kinks part as soon as b moves, which bends the gradient: the step is short there.
TEST_CASE("integrated effect: the Hessian is the derivative of brute force's gradient") {
  for (Likely& of : both())
    for (Kind kind : kKinds)
      for (double s : {1e-4, 0.3, 2.0, 50.0, 1e4}) {
        const double step = kind == Kind::ties ? 1e-8 : 1e-6;
        const RowsData data = make(kind, 7);
        INFO(of.name << " kind " << static_cast<int>(kind) << " s " << s);
        const Mat truth = brute_force_hessian(of.law, data, s, step);
        EffectSums sums;
        of.integral->integrate(data.rows(), s, Depth::curvature, sums);
        CHECK((whole(sums.hessian) - truth).norm() < 1e-6 * (1 + truth.norm()));
      }
}

// More columns than rows, and many: other ways of summing.
TEST_CASE("integrated effect: the Hessian does not depend on how columns are summed") {
  for (Likely& of : both())
    for (Index r : {3, 20}) {
      const RowsData wide = make(Kind::plain, r, 70);
      EffectSums all, few;
      of.integral->integrate(wide.rows(), 1.3, Depth::curvature, all);
      for (Index first : {0, 66}) {
        RowsData narrow = wide;
        narrow.c = wide.c.middleRows(first, 4);
        of.integral->integrate(narrow.rows(), 1.3, Depth::curvature, few);
        CHECK(gap(whole(all.hessian).block(first, first, 4, 4),
                  whole(few.hessian).topLeftCorner(4, 4)) < 1e-12);
        CHECK(gap(whole(all.hessian).block(70, first, 1, 4), whole(few.hessian).row(4).head(4)) <
              1e-12);
      }
    }
}

TEST_CASE("integrated effect: many copies of a row are one with a weight") {
  for (Likely& of : both())
    for (Index copies : {20, 7000}) {
      RowsData few = make(Kind::plain, 15), many;
      few.weight = Vec::Constant(15, static_cast<double>(copies));
      for (Vec RowsData::*part : {&RowsData::y, &RowsData::o, &RowsData::z})
        many.*part = (few.*part).replicate(copies, 1);
      many.c = few.c.replicate(1, copies);
      for (double s : {1e-4, 0.2, 3.0, 1e4}) {
        INFO(of.name << " copies " << copies << " s " << s);
        EffectSums one, other;
        of.integral->integrate(few.rows(), s, Depth::curvature, one);
        of.integral->integrate(many.rows(), s, Depth::curvature, other);
        CHECK(gap(other.value, one.value) < 1e-11);
        CHECK(gap(other.gradient, one.gradient) < 1e-8);
        CHECK(gap(whole(other.hessian), whole(one.hessian)) < 1e-7);
        EffectLaw law, twin;
        of.integral->law(few.rows(), s, law);
        of.integral->law(many.rows(), s, twin);
        CHECK(std::abs(law.mean - twin.mean) < 1e-8 * s);
        CHECK(gap(twin.variance, law.variance) < 1e-7);
        CHECK(gap(twin.slope, law.slope) < 1e-7);
        Vec at(3), cdf(3), other_cdf(3);
        at << law.mean - std::sqrt(law.variance), law.mean, law.mean + s;
        of.integral->distribution(few.rows(), s, at, cdf);
        of.integral->distribution(many.rows(), s, at, other_cdf);
        CHECK((cdf - other_cdf).norm() < 1e-8);
      }
    }
}

TEST_CASE("integrated effect: a large group is brute force's") {
  for (Likely& of : both())
    for (Kind kind : {Kind::plain, Kind::weights, Kind::one_sign}) {
      const RowsData data = make(kind, 150, 2);
      INFO(of.name << " kind " << static_cast<int>(kind));
      const EffectTruth truth = brute_force(of.law, data, 2, {}, 1e9L);
      EffectSums sums;
      of.integral->integrate(data.rows(), 2, Depth::curvature, sums);
      CHECK(gap(sums.value, truth.value) < of.value);
      CHECK(gap(sums.gradient, truth.gradient) < 1e-7);
      EffectSums up, down;
      for (Index j = 0; j < 3; ++j) {
        const double h = 1e-6;
        Vec b = Vec::Zero(2);
        if (j < 2) b[j] = h;
        const double scale = j < 2 ? 1 : std::exp(h);
        of.integral->integrate(moved(data, b).rows(), 2 * scale, Depth::gradient, up);
        of.integral->integrate(moved(data, -b).rows(), 2 / scale, Depth::gradient, down);
        CHECK(gap(whole(sums.hessian).col(j), (up.gradient - down.gradient) / (2 * h)) < 1e-5);
      }
    }
}

TEST_CASE("integrated effect: a hundred thousand rows") {
  for (Likely& of : both()) {
    const RowsData data = make(Kind::plain, 100000, 2);
    INFO(of.name);
    EffectSums sums, up, down;
    of.integral->integrate(data.rows(), 1, Depth::curvature, sums);
    const double h = 1e-4;
    for (Index j = 0; j < 3; ++j) {
      Vec b = Vec::Zero(2);
      if (j < 2) b[j] = h;
      const double scale = j < 2 ? 1 : std::exp(h);
      of.integral->integrate(moved(data, b).rows(), scale, Depth::gradient, up);
      of.integral->integrate(moved(data, -b).rows(), 1 / scale, Depth::gradient, down);
      CHECK(std::abs(sums.gradient[j] - (up.value - down.value) / (2 * h)) <
            1e-3 * (1 + std::abs(sums.gradient[j])));
      const Vec bend = (up.gradient - down.gradient) / (2 * h);
      for (Index i = j; i < 3; ++i)
        CHECK(std::abs(sums.hessian(i, j) - bend[i]) <
              (j == i ? 2e-2 * std::abs(bend[i]) : 2e-2 * std::abs(sums.hessian(j, j))));
    }
  }
}

TEST_CASE("integrated effect: whatever is thrown at it is answered with numbers") {
  for (Likely& of : both())
    for (double s : {1e-200, 1e-8, 1.0, 1e8})
      for (double far : {0.0, 1e6, -1e6, 1e150})
        for (double z : {0.0, 1e-300, 1e-9, 1e9, -1e100}) {
          RowsData data = make(Kind::plain, 5);
          data.o.array() += far;
          data.z[2] = z;
          data.z[3] = -z;
          INFO(of.name << " s " << s << " offset " << far << " z " << z);
          EffectSums sums;
          of.integral->integrate(data.rows(), s, Depth::curvature, sums);
          CHECK(std::isfinite(sums.value));
          CHECK(sums.value <= 1e-9);
          CHECK(sums.gradient.allFinite());
          CHECK(sums.hessian.allFinite());
        }
}

TEST_CASE("integrated effect: without rows, or with a hinge at its corner, it is the prior") {
  for (Likely& of : both()) {
    RowsData none = make(Kind::plain, 0);
    EffectSums sums;
    of.integral->integrate(none.rows(), 2.5, Depth::curvature, sums);
    CHECK(std::abs(sums.value) < 1e-9);
    CHECK(sums.gradient.cwiseAbs().maxCoeff() < 1e-8);
    EffectLaw law;
    of.integral->law(none.rows(), 2.5, law);
    CHECK(std::abs(law.mean) < 1e-9);
    CHECK(law.variance == doctest::Approx(6.25));
  }
}
