#pragma once
#include <doctest/doctest.h>

#include "coefficients/coefficients.hpp"
#include "hosts.hpp"
#include "oracle.hpp"
#include "rows/row_source.hpp"

// What rows say of parameters that are inferred, against differences of whole passes.
namespace bsvm_test {

// Some q with a covariance, at a theta, and effects of groups that go with it.
inline State some_state(const Coefficients& side, RowSource& source, const Vec& theta) {
  State state = side.start(Vec());
  const Index p = state.layout.p;
  state.mean() = 0.4 * Noise(4).normals(p);
  state.inverse_factor() = 0.3 * Mat::Identity(p, p);
  side.set_parameters(state, theta);
  Host host;
  RowSums sums(state.layout);
  source.sums(state, sums, host);
  state.slopes() = 2;
  state.begun() = 1;
  state.fraction() = 1;
  source.settle(state, Settle::advance, 1);
  return state;
}

// By five points: of the sum for slopes, of slopes for bends.
inline void check_derivatives(const Problem& problem, RowSource& source, const Vec& theta,
                              Index extra = 0) {
  const State state = some_state(Coefficients(problem, extra), source, theta);
  Host host;
  RowSums sums(state.layout);
  const auto pulls = [&](Index k, double by) {
    State moved = state;
    moved.parameters()[k] += by;
    source.sums(moved, sums, host);
    return std::pair<double, Vec>(sums.value(), sums.pull());
  };
  REQUIRE(state.layout.parameters == theta.size());
  const double h = 1e-2;
  for (Index k = 0; k < theta.size(); ++k) {
    const auto up = pulls(k, h), down = pulls(k, -h), far = pulls(k, 2 * h),
               near = pulls(k, -2 * h);
    const double slope = (8 * (up.first - down.first) - far.first + near.first) / (12 * h);
    const Vec bend = (8 * (up.second - down.second) - far.second + near.second) / (-12 * h);
    source.sums(state, sums, host);
    CHECK(sums.pull()[k] == doctest::Approx(slope).epsilon(1e-5));
    CHECK(sums.bend()(k, k) == doctest::Approx(bend[k]).epsilon(1e-4));
    for (Index j = 0; j < theta.size(); ++j)
      CHECK(std::abs(sums.bend()(k, j) - bend[j]) < 1e-4 * bend.norm());
  }
  CHECK(gap(sums.bend(), sums.bend().transpose()) < 1e-14);
}

}  // namespace bsvm_test
