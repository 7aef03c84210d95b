// Two integrated effects on a grid: near the exact integral, and derivatives of what is computed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "integral/one/hinge_integral.hpp"
#include "integral/pair/pair_grid.hpp"
#include "pair_data.hpp"

using namespace bsvm_test;

namespace {

const PairScale kScales[] = {{1, 0.5, 0.7}, {3, -1, 2}, {0.01, 0.02, 0.01}, {1, 0, 1e-4},
                             {1e-3, 0.3, 2}, {10, 3, 5}};
const PairScale kLarge[] = {{1000, 10, 20}, {1e-4, 0, 1e4}};  // no grid will do

std::unique_ptr<EffectIntegral> law_of(bool normalised) {
  return normalised ? normalised_hinge_integral() : pseudo_hinge_integral();
}

// No curvature but its kinks'.
class PseudoLine : public LineTerms {
 public:
  int row_kinks() const override { return law_->row_kinks(); }
  RowKink row_kink(int k, double y) const override { return law_->row_kink(k, y); }
  void terms(const LineRow* rows, Index r, const double* x, Index points, double* log_p,
             double* slope, double* bend) const override {
    for (Index i = 0; i < r; ++i)
      for (Index p = 0; p < points; ++p) {
        const double short_of = 1 - rows[i].y * (rows[i].o + rows[i].z * x[p]);
        log_p[p] -= 2 * rows[i].w * std::max(short_of, 0.0);
        if (slope) slope[i * points + p] = short_of > 0 ? 2 * rows[i].w * rows[i].y : 0;
        if (bend) bend[i * points + p] = 0;
      }
  }

 private:
  std::unique_ptr<EffectIntegral> law_ = pseudo_hinge_integral();
};

const LineTerms& line_of(bool normalised) {
  static const PseudoLine pseudo;
  static const std::unique_ptr<EffectIntegral> other = normalised_hinge_integral();
  if (normalised) return *other->line();
  return pseudo;
}

void each_case(const std::function<void(bool, const PairScale&, const Pair&)>& check) {
  for (bool normalised : {false, true})
    for (const PairScale& scale : kScales)
      for (Index r : {1, 4, 12})
        for (bool zeros : {false, true}) {
          INFO("normalised " << normalised << " scale " << scale.f00 << " " << scale.f10 << " "
                             << scale.f11 << " rows " << r << " zeros " << zeros);
          check(normalised, scale, Pair(r, zeros ? 5 : 6, zeros, zeros));
        }
}

}  // namespace

TEST_CASE("two effects on a grid: near the exact integral, its derivatives and law") {
  each_case([](bool normalised, const PairScale& scale, const Pair& pair) {
    PairGrid grid(line_of(normalised), law_of(normalised));
    PairIntegral exact(law_of(normalised));
    PairGrid::Frame frame;
    const bool large = scale.f00 > 5;  // steps are wide in f
    EffectSums found, truth;
    grid.integrate(pair.rows(), scale, Depth::curvature, frame, found);
    exact.integrate(pair.rows(), scale, Depth::curvature, truth);
    CHECK(std::abs(found.value - truth.value) < (large ? 0.02 : 3e-3));
    const Mat bend = truth.hessian.selfadjointView<Eigen::Lower>();
    const Mat own = found.hessian.selfadjointView<Eigen::Lower>();
    // as far as a unit step in each coordinate can tell
    const Vec size = (1 + bend.diagonal().array().abs()).sqrt();
    CHECK(((found.gradient - truth.gradient).array() / size.array()).abs().maxCoeff() <
          (large ? 0.05 : 0.01));
    const Mat relative = size.cwiseInverse().asDiagonal() * (own - bend) *
                         size.cwiseInverse().asDiagonal();
    CHECK(relative.cwiseAbs().maxCoeff() < (large ? 0.4 : 0.2));
    PairLaw here, there;
    grid.law(pair.rows(), scale, frame, here);
    exact.law(pair.rows(), scale, there);
    const Eigen::Vector2d sd = there.covariance.diagonal().cwiseSqrt();
    CHECK(((here.mean - there.mean).array() / sd.array()).abs().maxCoeff() < 0.015);
    CHECK((here.covariance.diagonal().array() / sd.array().square() - 1).abs().maxCoeff() < 0.01);
    CHECK((here.slope - there.slope).norm() < (large ? 0.2 : 0.02) * (0.01 + there.slope.norm()));
  });
}

TEST_CASE("two effects on a grid: very large ones are left to quadrature") {
  for (bool normalised : {false, true})
    for (const PairScale& scale : kLarge) {
      const Pair pair(1, 7, false, false);
      PairGrid grid(line_of(normalised), law_of(normalised));
      PairIntegral exact(law_of(normalised));
      PairGrid::Frame frame;
      EffectSums found, truth;
      grid.integrate(pair.rows(), scale, Depth::gradient, frame, found);
      exact.integrate(pair.rows(), scale, Depth::gradient, truth);
      CHECK(frame.exact);
      CHECK(gap(found.value, truth.value) < 1e-6);
      CHECK(gap(found.gradient, truth.gradient) < 1e-4);
    }
}

TEST_CASE("two effects on a grid: derivatives are those of what is computed, to many digits") {
  each_case([](bool normalised, const PairScale& scale, const Pair& pair) {
    PairGrid grid(line_of(normalised), law_of(normalised));
    PairGrid::Frame frame;
    EffectSums found, up, down;
    grid.integrate(pair.rows(), scale, Depth::curvature, frame, found);
    const Eigen::Vector2d centre = frame.centre;
    const double h = 1e-5;
    for (Index k = 0; k < 5; ++k) {
      Vec b = Vec::Zero(2);
      if (k < 2) b[k] = h;
      const auto at = [&](double side, EffectSums& out) {
        const RowsData data = moved(pair.data, side * b);
        const PairScale there = k < 2 ? scale : moved_scale(scale, k - 2, side * h);
        grid.integrate({data.rows(), pair.second.data()}, there, Depth::gradient, frame, out);
      };
      at(1, up);
      at(-1, down);
      const double slope = (up.value - down.value) / (2 * h);
      CHECK(slope == doctest::Approx(found.gradient[k]).epsilon(1e-5).scale(1));
      for (Index j = 0; j < 5; ++j) {
        const double bend = (up.gradient[j] - down.gradient[j]) / (2 * h);
        const double own = found.hessian(std::max(j, k), std::min(j, k));
        const double size = std::sqrt((1 + std::abs(found.hessian(j, j))) *
                                      (1 + std::abs(found.hessian(k, k))));
        CHECK(std::abs(bend - own) < 1e-3 * size);
      }
    }
    CHECK_FALSE(frame.exact);
    CHECK(frame.centre == centre);  // it stayed where it was
  });
}

TEST_CASE("two effects on a grid: it follows when parameters move far") {
  const Pair pair(6, 3, false, false);
  for (bool normalised : {false, true}) {
    PairGrid grid(line_of(normalised), law_of(normalised));
    PairGrid::Frame frame, fresh;
    EffectSums found, truth;
    grid.integrate(pair.rows(), {1, 0, 1}, Depth::value, frame, found);
    for (double far : {40.0, -900.0, 1e5}) {
      const RowsData data = moved(pair.data, Eigen::Vector2d(far, 0));
      const PairRows rows{data.rows(), pair.second.data()};
      fresh = PairGrid::Frame();
      grid.integrate(rows, {2, 1, 3}, Depth::value, frame, found);
      grid.integrate(rows, {2, 1, 3}, Depth::value, fresh, truth);
      CHECK(std::isfinite(found.value));
      CHECK(found.value == doctest::Approx(truth.value).epsilon(1e-5));
    }
  }
}

TEST_CASE("two effects on a grid: it stays right while parameters wander") {
  Noise noise(4);
  for (bool normalised : {false, true}) {
    Pair pair(5, 8, false, false);
    for (Index i = 0; i < 5; ++i) pair.second[i] = static_cast<double>(3 * i);
    PairGrid grid(line_of(normalised), law_of(normalised));
    PairIntegral exact(law_of(normalised));
    PairGrid::Frame frame;
    EffectSums found, truth;
    for (int k = 0; k < 60; ++k) {
      const Vec way = noise.normals(5);
      const PairScale scale{0.3 * std::exp(way[0]), 0.05 * way[1], 0.06 * std::exp(1.5 * way[2])};
      const RowsData data = moved(pair.data, 0.3 * way.tail(2));
      const PairRows rows{data.rows(), pair.second.data()};
      grid.integrate(rows, scale, Depth::gradient, frame, found);
      exact.integrate(rows, scale, Depth::gradient, truth);
      INFO("normalised " << normalised << " turn " << k << " " << scale.f00 << " " << scale.f10
                         << " " << scale.f11);
      CHECK(std::abs(found.value - truth.value) < 3e-3);
      const Vec sizes = (Vec(5) << 1, 1, 1, 20, 1).finished();  // f10 is about 0.05
      CHECK((found.gradient - truth.gradient).cwiseQuotient(sizes).cwiseAbs().maxCoeff() < 0.02);
    }
  }
}
