// Point estimates: everything an optimum must satisfy, checked by plain sums in long double over a
// dense design.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "hosts.hpp"
#include "oracle.hpp"
#include "point/local_search.hpp"
#include "point/normal_equations.hpp"
#include "point/plain_em.hpp"
#include "point/working_set.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

// Dense columns, two factors and sparse predictors; `n` rows with weights and offset.
SparseData some_data(Index n, Index sparse, std::uint64_t seed = 1) {
  Shape shape;
  shape.n = n;
  shape.p = 3;
  shape.seed = seed;
  SparseData out(shape);
  Noise noise(seed + 100);
  out.add_factor(random_codes(n, 4, noise), 4, with_slope(n, noise));
  Mat x = Mat::Zero(n, sparse);
  for (Index k = 0; k < n * sparse / 3; ++k)
    x(noise.below(n), noise.below(sparse)) = noise.normal();
  out.add_predictors(x);
  return out;
}

Problem problem_of(const SparseData& data) {
  return data.problem({normal_prior(1, {0}), normal_prior(1, {1}), normal_prior(1, {2})});
}

// (n, P) y_i c_i, inside.
Mat signed_design(const SparseData& data, const Problem& problem) {
  Mat out(data.n(), problem.columns() + data.columns());
  const Vec unit = Design(problem).unit.tail(data.columns());
  for (Index j = 0; j < unit.size(); ++j)
    CHECK(std::exp2(std::round(std::log2(unit[j]))) == unit[j]);
  out << inside(problem).transpose(), data.dense() * unit.asDiagonal();
  return data.data.y.asDiagonal() * out;
}

Penalties penalties_of(Index size, std::initializer_list<double> powers, std::uint64_t seed = 1) {
  Noise noise(seed);
  Penalties out{Vec(size), Vec(size)};
  for (Index j = 0; j < size; ++j) {
    out.power[j] = *(powers.begin() + j % static_cast<Index>(powers.size()));
    out.scale[j] = std::exp(0.5 * noise.normal()) * (j == 0 ? 1e4 : 0.5);
  }
  out.power[0] = 2;  // like a flat prior
  return out;
}

Real plain_objective(const Mat& a, const Data& data, const Penalties& penalties, const VecL& b) {
  Real sum = 0;
  const VecL f = a.cast<Real>() * b;
  for (Index i = 0; i < a.rows(); ++i)
    sum += 2 * data.weight[i] * std::max<Real>(0, 1 - data.y[i] * data.offset[i] - f[i]);
  for (Index j = 0; j < b.size(); ++j)
    sum += std::pow(std::abs(b[j] / penalties.scale[j]), static_cast<Real>(penalties.power[j]));
  return sum;
}

// Highest value of a concave function.
Real highest(const std::function<Real(Real)>& f, Real low, Real high) {
  for (int k = 0; k < 200; ++k) {
    const Real a = low + (high - low) / 3, b = high - (high - low) / 3;
    (f(a) < f(b) ? low : high) = f(a) < f(b) ? a : b;
  }
  return f((low + high) / 2);
}

// max_b z b - |b / scale|^alpha; infinite where it has no end.
Real plain_conjugate(Real z, Real alpha, Real scale) {
  if (alpha == 1) return std::abs(z) * scale <= 1 + 1e-9L ? 0 : HUGE_VALL;
  Real reach = 1;
  const auto f = [&](Real b) { return std::abs(z) * b - std::pow(b / scale, alpha); };
  while (f(2 * reach) > f(reach)) reach *= 2;
  return highest(f, 0, 2 * reach);
}

Real plain_dual(const Mat& a, const Data& data, const Penalties& penalties,
                const Vec& multipliers) {
  const VecL m = multipliers.cast<Real>(), z = a.cast<Real>().transpose() * m;
  Real sum = 0;
  for (Index i = 0; i < m.size(); ++i) sum += m[i] * (1 - data.y[i] * data.offset[i]);
  for (Index j = 0; j < z.size(); ++j)
    sum -= plain_conjugate(z[j], penalties.power[j], penalties.scale[j]);
  return sum;
}

void check_optimal(const SparseData& data, const Problem& problem, const Penalties& penalties,
                   const Point& found) {
  const Mat a = signed_design(data, problem);
  const Real primal = plain_objective(a, data.data, penalties, found.b.cast<Real>());
  CHECK(found.end == Termination::converged);
  CHECK(std::abs(found.objective - static_cast<double>(primal)) < 1e-10 * found.objective);
  CHECK((found.multipliers.array() >= 0).all());
  CHECK((found.multipliers.array() <= 2 * data.data.weight.array()).all());
  const Real dual = plain_dual(a, data.data, penalties, found.multipliers);
  CHECK(static_cast<double>(primal - dual) < 1e-8 * found.objective);
  CHECK(static_cast<double>(primal - dual) > -1e-10 * found.objective);
}

Point minimum(const Problem& problem, const Penalties& penalties) {
  Host host;
  return minimise_convex(Design(problem), penalties, PointOptions(), host);
}

}  // namespace

TEST_CASE("point: products with the design are those of the dense one") {
  const SparseData data = some_data(40, 60);
  const Problem problem = problem_of(data);
  const Design design(problem);
  const Mat a = signed_design(data, problem);
  Noise noise(3);
  const Vec b = noise.normals(a.cols()), r = noise.normals(a.rows());
  const Vec d = b.cwiseAbs2(), weight = r.cwiseAbs2();
  CHECK(gap(design.times(b), a * b) < 1e-14);
  CHECK(gap(design.transposed(r), a.transpose() * r) < 1e-14);
  CHECK(gap(design.column_squares(weight), a.cwiseAbs2().transpose() * weight) < 1e-14);
  CHECK(gap(design.row_squares(d), a.cwiseAbs2() * d) < 1e-14);
  Host host;
  const std::vector<Index> chosen{0, 2, 3, 9, 11, 40, 70};
  const Mat part = design.columns_at(chosen);
  for (size_t f = 0; f < chosen.size(); ++f) CHECK(gap(part.col(f), a.col(chosen[f])) < 1e-15);
  CHECK(gap(design.select(chosen).times(b.head(7)), part * b.head(7)) < 1e-14);
  Mat gram = Mat::Zero(7, 7), rows = Mat::Zero(40, 40);
  design.add_gram(chosen, weight, gram, host);
  design.add_row_gram(d, rows, host);
  CHECK(gap(lower(gram), lower(part.transpose() * weight.asDiagonal() * part)) < 1e-13);
  CHECK(gap(lower(rows), lower(a * d.asDiagonal() * a.transpose())) < 1e-13);
}

TEST_CASE("point: a grouping factor gives the columns that several factors would") {
  Shape shape;
  shape.n = 50;
  shape.q = 2;
  shape.groups = 6;
  const Data data = simulate(shape);
  const Problem problem = usual_problem(data);
  const Design design(problem);
  const Mat z = inside(*problem.multipliers, 50);
  CHECK(design.columns() == 3 + 12);
  Noise noise(2);
  const Vec b = noise.normals(15);
  Vec expected = inside(problem).transpose() * b.head(3);
  for (Index i = 0; i < 50; ++i)
    expected[i] += z.col(i).dot(b.segment(3 + 2 * (data.group[i] - 1), 2));
  CHECK(gap(design.times(b), data.y.cwiseProduct(expected)) < 1e-14);
}

TEST_CASE("point: the system is solved whichever way, also with nearly infinite weights") {
  for (const Index n : {90, 30})
    for (const Index most : {1000, 5}) {
      const SparseData data = some_data(n, 50);
      const Problem problem = problem_of(data);
      const Design design(problem);
      const MatL a = signed_design(data, problem).cast<Real>();
      Noise noise(7);
      Vec theta(n), d(a.cols());
      for (Index i = 0; i < n; ++i) theta[i] = std::exp((i % 5 == 0 ? 6 : 1) * noise.normal());
      for (Index j = 0; j < d.size(); ++j) d[j] = std::exp((j % 4 == 0 ? 6 : 1) * noise.normal());
      const Vec v = noise.normals(a.cols());
      NormalEquations equations(design, most);
      Host host;
      REQUIRE(equations.set(theta, d, host));
      const NormalEquations::Solution found = equations.solve(v, host);
      MatL system = a.transpose() * theta.cast<Real>().asDiagonal() * a;
      system.diagonal() += d.cast<Real>();
      const VecL x = inverse(system) * v.cast<Real>();
      INFO("n ", n, " most ", most);
      CHECK(gap(found.x, x) < 1e-7);
      CHECK(gap(found.image, a * x) < 1e-6);
      CHECK(gap(found.rows, theta.cast<Real>().asDiagonal() * (a * x)) < 1e-6);
    }
}

TEST_CASE("point: where a tight prior leaves no column that matters") {
  const SparseData data = some_data(30, 50);
  const Problem problem = problem_of(data);
  const Design design(problem);
  NormalEquations equations(design, 5);
  Host host;
  REQUIRE(equations.set(Vec::Constant(30, 1e-3), Vec::Constant(design.columns(), 1e3), host));
  const Vec v = Vec::Ones(design.columns());
  const NormalEquations::Solution found = equations.solve(v, host);
  const Vec back = design.transposed(1e-3 * design.times(found.x)) + 1e3 * found.x;
  CHECK(gap(back, v) < 1e-9);
}

TEST_CASE("point: the dual objective is the best along its ray and bounds the objective") {
  const SparseData data = some_data(40, 10);
  const Problem problem = problem_of(data);
  const Design design(problem);
  const Mat a = signed_design(data, problem);
  const Penalties penalties = penalties_of(a.cols(), {2, 1.5, 1, 1.1});
  Noise noise(4);
  Vec m(40);
  for (Index i = 0; i < 40; ++i) m[i] = design.cost[i] * noise.uniform();
  double stretch;
  const double best = dual_objective(design, penalties, m, a.transpose() * m, stretch);
  const auto along = [&](double t) {
    return static_cast<double>(plain_dual(a, data.data, penalties, t * m));
  };
  CHECK(std::abs(best - along(stretch)) < 1e-9 * (1 + std::abs(best)));
  for (double t : {0.2, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0})
    if ((t * stretch * m.array() <= design.cost.array()).all())
      CHECK(along(t * stretch) <= best + 1e-9);
  for (int k = 0; k < 20; ++k)
    CHECK(primal_objective(design, penalties, noise.normals(a.cols())) >= best);
}

TEST_CASE("point: powers just above one, more columns than rows, at any scale") {
  for (const Index n : {10, 20, 40})
    for (const double power : {1.0, 1.001, 1.02, 1.1, 1.2, 1.8})
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const SparseData data = some_data(n, 2 * n, seed);
        const Problem problem = problem_of(data);
        const Design design(problem);
        Penalties penalties = penalties_of(design.columns(), {power}, seed);
        penalties.scale.tail(penalties.size() - 1) *=
            0.1 * std::pow(1.7, static_cast<double>(seed));
        Host host;
        const Point found = minimise_convex(design, penalties, PointOptions(), host);
        INFO("n ", n, " power ", power, " seed ", seed);
        CHECK(found.end == Termination::converged);
        CHECK(found.gap < 1e-9);
        CHECK(found.trace.size() < 40);
      }
}

TEST_CASE("point: the gap is one of the objective, however small that is") {
  const SparseData data = some_data(20, 80);  // separated
  const Problem problem = problem_of(data);
  const Design design(problem);
  Penalties penalties = penalties_of(design.columns(), {2});
  penalties.power.setConstant(2);
  Vec direction;
  for (double scale : {1.0, 1e2, 1e3}) {
    penalties.scale.setConstant(scale);
    Host host;
    const Point found = minimise_convex(design, penalties, PointOptions(), host);
    CHECK(found.objective - found.dual < 1e-8 * found.objective);
    if (direction.size() > 0) CHECK(gap(found.b, direction) < 1e-3);  // the hard margin's
    if (scale >= 1e2) direction = found.b;
  }
}

TEST_CASE("point: optima of ridge, lasso and what lies between have no gap, by plain sums") {
  for (const Index n : {120, 40})
    for (const auto& powers : {std::initializer_list<double>{2}, {1}, {2, 1}, {1.5}, {1.05, 1.9}}) {
      const SparseData data = some_data(n, 50);
      const Problem problem = problem_of(data);
      const Penalties penalties = penalties_of(Design(problem).columns(), powers);
      INFO("n ", n, " power ", *powers.begin());
      check_optimal(data, problem, penalties, minimum(problem, penalties));
    }
}

TEST_CASE("point: lasso's zeros are zeros, and the trace never rises") {
  const SparseData data = some_data(100, 50);
  const Problem problem = problem_of(data);
  Penalties penalties = penalties_of(Design(problem).columns(), {1});
  penalties.scale.tail(penalties.size() - 1) *= 0.6;
  const Point found = minimum(problem, penalties);
  const Vec z = Design(problem).transposed(found.multipliers);
  int zeros = 0;
  for (Index j = 1; j < z.size(); ++j) {
    const double size = std::abs(z[j]) * penalties.scale[j];
    if (found.b[j] == 0) ++zeros;
    else CHECK(std::abs(size - 1) < 1e-6);
  }
  CHECK(zeros > 10);
  CHECK(zeros < 55);
  for (size_t k = 1; k < found.trace.size(); ++k) {
    CHECK(found.trace[k].objective <= found.trace[k - 1].objective);
    CHECK(found.trace[k].gap <= found.trace[k - 1].gap);
  }
}

TEST_CASE("point: working sets end where all columns do") {
  const SparseData data = some_data(100, 150);
  const Problem problem = problem_of(data);
  const Design design(problem);
  Penalties penalties = penalties_of(design.columns(), {1});
  penalties.scale.tail(penalties.size() - 1) *= 0.3;
  Host host;
  const Point found = minimise_in_parts(design, penalties, PointOptions(), host, 60);
  check_optimal(data, problem, penalties, found);
  CHECK(found.trace.size() > 1);
  CHECK(std::abs(found.objective - minimum(problem, penalties).objective) < 1e-8);
}

TEST_CASE("point: below power one each pass lowers the objective, to where tangents hold it") {
  const SparseData data = some_data(100, 20);
  const Problem problem = problem_of(data);
  const Design design(problem);
  const Penalties penalties = penalties_of(design.columns(), {0.5, 1, 0.8});
  Host host;
  const Point found = minimise_local(design, penalties, penalties.scale, PointOptions(), host);
  CHECK(found.end == Termination::converged);
  for (size_t k = 1; k < found.trace.size(); ++k)
    CHECK(found.trace[k].objective <= found.trace[k - 1].objective);
  const Mat a = signed_design(data, problem);
  const Real best = plain_objective(a, data.data, penalties, found.b.cast<Real>());
  CHECK(std::abs(static_cast<double>(best) - found.objective) < 1e-10 * found.objective);
  Noise noise(5);
  for (double length : {1e-2, 1e-3, 1e-4})
    for (int k = 0; k < 50; ++k) {
      const Vec to = found.b + length * noise.normals(found.b.size()).cwiseProduct(
                                            penalties.scale.cwiseMin(1));
      CHECK(plain_objective(a, data.data, penalties, to.cast<Real>()) > best - 1e-7L);
    }
}

TEST_CASE("point: one coefficient of power one half, by looking everywhere") {
  Shape shape;
  shape.n = 30;
  shape.p = 1;
  const Data data = simulate(shape);
  const Problem problem = with(to_problem(data, {normal_prior(2, {0})}, {}), "hinge");
  const Design design(problem);
  const Mat a = data.y.asDiagonal() * inside(problem).transpose();
  for (double scale : {0.005, 0.1, 1.0}) {
    const Penalties penalties{Vec::Constant(1, 0.5), Vec::Constant(1, scale)};
    Real best = HUGE_VALL;
    for (double b = -5; b < 5; b += 1e-4)
      best = std::min(best, plain_objective(a, data, penalties, VecL::Constant(1, b)));
    Host host;
    Real found = HUGE_VALL;
    for (double start : {scale, -3.0, 3.0}) {
      const Vec b = Vec::Constant(1, start);
      const Point end = minimise_local(design, penalties, b, PointOptions(), host);
      found = std::min<Real>(found, end.objective);
      CHECK(end.objective >= static_cast<double>(best) - 1e-2);
    }
    CHECK(static_cast<double>(found - best) < 1e-2);
  }
}

TEST_CASE("point: asked to stop, it keeps what it has") {
  const SparseData data = some_data(100, 50);
  const Problem problem = problem_of(data);
  const Design design(problem);
  const Penalties penalties = penalties_of(design.columns(), {1});
  ImpatientHost soon(8);
  const Point found = minimise_convex(design, penalties, PointOptions(), soon);
  CHECK(found.end == Termination::interrupted);
  CHECK(found.b.allFinite());
  ImpatientHost at_once(0);
  const Point nothing = minimise_convex(design, penalties, PointOptions(), at_once);
  CHECK(nothing.end == Termination::interrupted);
}
