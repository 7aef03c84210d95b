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
  for (Index j = 1; j < p; ++j) state.inverse_factor()(j, j - 1) = 0.1;
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

// By five points: of the sum for slopes, of slopes for bends, which of many rows' sums have rounding.
inline void check_derivatives(RowSource& source, const State& state, double bends = 1e-4) {
  Host host;
  RowSums sums(state.layout);
  const auto pulls = [&](Index k, double by) {
    State moved = state;
    moved.parameters()[k] += by;
    source.sums(moved, sums, host);
    return std::pair<double, Vec>(sums.value(), sums.pull());
  };
  const double h = 2e-3;
  for (Index k = 0; k < state.layout.parameters; ++k) {
    const auto up = pulls(k, h), down = pulls(k, -h), far = pulls(k, 2 * h),
               near = pulls(k, -2 * h);
    const double slope = (8 * (up.first - down.first) - far.first + near.first) / (12 * h);
    const Vec bend = (8 * (up.second - down.second) - far.second + near.second) / (-12 * h);
    source.sums(state, sums, host);
    CHECK(sums.pull()[k] == doctest::Approx(slope).epsilon(1e-5));
    for (Index j = 0; j < state.layout.parameters; ++j) {
      INFO("parameters ", j, " and ", k);
      CHECK(sums.bend()(j, k) == doctest::Approx(bend[j]).epsilon(bends));
    }
  }
  CHECK(gap(sums.bend(), sums.bend().transpose()) < 1e-14);
}

}  // namespace bsvm_test
