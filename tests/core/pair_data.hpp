#pragma once
#include <doctest/doctest.h>

#include <cmath>

#include "integral/pair/pair_integral.hpp"
#include "integral_oracle.hpp"

namespace bsvm_test {

// Rows of one group with two effects.
struct Pair {
  RowsData data;
  Vec second;

  Pair(Index r, std::uint64_t seed, bool weights, bool some_zero) {
    Noise noise(seed);
    for (Vec* each : {&data.y, &data.o, &second}) *each = noise.normals(r);
    data.z = Vec::Ones(r);
    data.c = Mat::Ones(2, r);
    data.c.row(1) = noise.normals(r);
    for (Index i = 0; i < r; ++i) data.y[i] = data.y[i] > 0 ? 1 : -1;
    if (weights) data.weight = noise.normals(r).array().abs() + 0.3;
    for (Index i = 1; some_zero && i < r; i += 2) second[i] = 0;
  }
  PairRows rows() const { return {data.rows(), second.data()}; }
};

inline PairScale moved_scale(PairScale scale, Index k, double step) {
  if (k == 0) scale.f00 *= std::exp(step);
  if (k == 1) scale.f10 += step;
  if (k == 2) scale.f11 *= std::exp(step);
  return scale;
}

// Gradient and Hessian against differences of values and gradients.
inline void check_pair_derivatives(PairIntegral& integral, const Pair& pair, const PairScale& scale) {
  EffectSums sums, up, down;
  integral.integrate(pair.rows(), scale, Depth::curvature, sums);
  const Mat hessian = sums.hessian.selfadjointView<Eigen::Lower>();
  for (Index j = 0; j < 5; ++j) {
    const double h = 1e-4;
    const auto at = [&](double step, EffectSums& out) {
      Pair there = pair;
      if (j < 2) there.data = moved(pair.data, step * Vec::Unit(2, j));
      integral.integrate(there.rows(), moved_scale(scale, j - 2, step), Depth::gradient, out);
    };
    at(h, up);
    at(-h, down);
    CHECK(std::abs(sums.gradient[j] - (up.value - down.value) / (2 * h)) <
          3e-6 * (1 + hessian.norm()));
    CHECK((hessian.col(j) - (up.gradient - down.gradient) / (2 * h)).norm() <
          1e-3 * (1 + hessian.norm()));
  }
}

}  // namespace bsvm_test
