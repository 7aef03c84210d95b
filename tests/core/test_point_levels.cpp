// Systems of a grouping factor, level by level, against dense ones in long double.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "hosts.hpp"
#include "oracle.hpp"
#include "point/normal_equations.hpp"
#include "simulate.hpp"

using namespace bsvm_test;

namespace {

using MatL = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

// n rows, each with p dense numbers and q entries of its level, their columns apart; then `wide` rows
// with entries of all.
Design grouped_design(Index n, Index p, Index q, Index levels, Index wide) {
  Noise noise(11);
  DesignRows rows;
  rows.dense = p;
  for (Index i = 0; i < n + wide; ++i) {
    for (Index j = 0; j < p; ++j) rows.c.push_back(noise.normal());
    const Index level = noise.below(levels - 1);  // the last one has no rows
    for (Index k = 0; k < (i < n ? q : q * levels); ++k) {
      rows.at.push_back(static_cast<int>(i < n ? level + k * levels : k));
      rows.value.push_back(noise.normal());
    }
    rows.start.push_back(static_cast<Index>(rows.at.size()));
    rows.kink.push_back(noise.normal());
    rows.cost.push_back(1);
  }
  return Design(std::move(rows), Vec::Ones(p + q * levels));
}

// exp of numbers in (-spread, spread).
Vec spread_numbers(Index n, double spread, std::uint64_t seed) {
  Noise noise(seed);
  Vec out(n);
  for (Index i = 0; i < n; ++i) out[i] = std::exp(spread * (2 * noise.uniform() - 1));
  return out;
}

VecL dense_solution(const Design& design, const Vec& theta, const Vec& d, const Vec& v) {
  MatL a(design.rows(), design.columns());
  for (Index j = 0; j < a.cols(); ++j)
    a.col(j) = design.times(Vec::Unit(a.cols(), j)).cast<Real>();
  MatL m = a.transpose() * theta.cast<Real>().asDiagonal() * a;
  m.diagonal() += d.cast<Real>();
  return m.llt().solve(v.cast<Real>());
}

double off(const Design& design, double spread) {
  const Vec theta = spread_numbers(design.rows(), spread, 1),
            d = spread_numbers(design.columns(), spread / 2, 2);
  const Vec v = Noise(3).normals(design.columns());
  LevelEquations levels(design);
  REQUIRE(levels.suits());
  Host host;
  REQUIRE(levels.set(theta, d, host));
  const VecL exact = dense_solution(design, theta, d, v);
  return static_cast<double>((levels.solve(v).cast<Real>() - exact).norm() / exact.norm());
}

}  // namespace

TEST_CASE("levels: solutions are those of the dense system") {
  CHECK(off(grouped_design(400, 3, 1, 60, 0), 1) < 1e-13);
  CHECK(off(grouped_design(400, 3, 1, 60, 2), 1) < 1e-13);
  CHECK(off(grouped_design(400, 3, 2, 40, 1), 1) < 1e-12);
  CHECK(off(grouped_design(400, 0, 1, 60, 1), 1) < 1e-13);
  CHECK(off(grouped_design(400, 3, 2, 40, 1), 12) < 1e-9);  // weights from 1e-5 to 1e5
}

TEST_CASE("levels: where columns do not fall apart they are left to others") {
  const Design apart = grouped_design(300, 2, 1, 50, 4);
  CHECK(LevelEquations(apart).suits());
  CHECK(!LevelEquations(grouped_design(300, 2, 1, 50, 5)).suits());
  // two crossed factors
  DesignRows rows;
  Noise noise(5);
  for (Index i = 0; i < 300; ++i) {
    rows.at.push_back(static_cast<int>(noise.below(30)));
    rows.at.push_back(static_cast<int>(30 + noise.below(30)));
    rows.value.insert(rows.value.end(), 2, 1.0);
    rows.start.push_back(static_cast<Index>(rows.at.size()));
    rows.kink.push_back(0);
    rows.cost.push_back(1);
  }
  CHECK(!LevelEquations(Design(std::move(rows), Vec::Ones(60))).suits());
}

TEST_CASE("levels: many effects are solved that way, with what the others promise") {
  const Design design = grouped_design(4000, 2, 1, 700, 1);
  const Vec theta = spread_numbers(design.rows(), 3, 1), d = spread_numbers(design.columns(), 1, 2);
  const Vec v = Noise(3).normals(design.columns());
  NormalEquations equations(design);
  Host host;
  REQUIRE(equations.set(theta, d, host));
  const NormalEquations::Solution found = equations.solve(v, host);
  const Vec back = design.transposed(theta.cwiseProduct(found.image)) + d.cwiseProduct(found.x);
  CHECK((back - v).norm() < 1e-11 * v.norm());
  CHECK((found.image - design.times(found.x)).norm() == 0);
  CHECK((found.rows - theta.cwiseProduct(found.image)).norm() == 0);
  ImpatientHost impatient(1);
  CHECK_THROWS_AS(equations.set(theta, d, impatient), Interrupted);
}
