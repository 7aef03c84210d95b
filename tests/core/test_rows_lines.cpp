// The linear predictors that samplers keep: against dense algebra, along lines and after slides.
#include <doctest/doctest.h>

#include <cmath>

#include "grouped_data.hpp"
#include "rows/lines/predictors.hpp"
#include "sparse_data.hpp"
#include "varying_block.hpp"

using namespace bsvm_test;

namespace {

Vec brute_predictors(const Data& data, const Problem& problem, const Vec& b, const Vec& u) {
  const Mat c = inside(problem), z = inside(*problem.multipliers, problem.n);
  Vec out(problem.n);
  for (Index i = 0; i < problem.n; ++i) {
    double f = data.offset[i] + c.col(i).dot(b);
    for (Index a = 0; a < z.rows(); ++a) f += z(a, i) * u[(data.group[i] - 1) * z.rows() + a];
    out[i] = f;
  }
  return out;
}

// Several factors, somewhere: x is the dense coefficients, then all effects.
struct Somewhere {
  SparseData data;
  Problem problem;
  Predictors rows;
  State state;
  Index p, columns;

  explicit Somewhere(SparseData of)
      : data(std::move(of)), problem(data.problem()), rows(problem),
        state(Layout{data.data.shape.p, data.effects(), 0}), p(data.data.shape.p),
        columns(data.columns()) {
    state.mean() = Noise(9).normals(p);
    state.group_prior().setIdentity();
    rows.effects() = Noise(8).normals(columns);
    rows.find(state);
  }

  Vec x() const {
    Vec out(p + columns);
    out << state.mean(), rows.effects();
    return out;
  }
  Vec predictors(const Vec& x) const {
    return inside(problem).transpose() * x.head(p) + data.dense() * x.tail(columns) +
           data.data.offset;
  }
  double value_at(const Vec& x) const {
    const Vec f = predictors(x);
    double sum = 0;
    for (Index i = 0; i < f.size(); ++i)
      sum -= 2 * data.data.weight[i] * std::max(0.0, 1 - data.data.y[i] * f[i]);
    return sum;
  }
  // Where a line leads to.
  Vec moved(const Line& line, double t) const {
    Vec out = x();
    out.head(p) += t * line.dense;
    const Levels levels(data.view());
    for (Index k = 0; k < columns; ++k) out[p + k] *= 1 + t * line.effect[levels.effect[k]];
    return out;
  }
};

void check_line(Somewhere& now, const Line& line) {
  now.rows.aim(line);
  for (double t : {0.0, -0.7, 1.3})
    CHECK(now.rows.along(t) == doctest::Approx(now.value_at(now.moved(line, t))).epsilon(1e-12));
  const Vec there = now.moved(line, 0.4);
  now.rows.move(0.4);
  now.state.mean() += 0.4 * line.dense;
  CHECK(gap(now.x(), there) < 1e-13);
  CHECK(gap(now.rows.f(), now.predictors(there)) < 1e-12);
}

void check_lines(SparseData data) {
  Somewhere now(std::move(data));
  const Index p = now.p, effects = now.data.effects();
  check_line(now, {Vec::Unit(p, p - 1), Vec::Zero(effects)});
  check_line(now, {Vec::LinSpaced(p, -0.5, 0.6), Vec::Zero(effects)});
  check_line(now, {Vec::Zero(p), Vec::Unit(effects, 0)});
  check_line(now, {Vec::LinSpaced(p, 0.5, 0.2), Vec::LinSpaced(effects, 1, 0.5)});
}

void check_slide(SparseData data) {
  Somewhere now(std::move(data));
  const Vec before = now.rows.effects();
  const Mat moments = now.rows.slide(now.state, -1, Purpose::move);
  const Vec after = now.rows.effects();
  for (Index k = 0; k < now.columns; ++k) CHECK(after[k] != before[k]);
  CHECK(gap(moments.trace(), after.squaredNorm()) < 1e-13);
  CHECK(gap(now.rows.f(), now.predictors(now.x())) < 1e-12);
}

Shape lines_shape(Index n, Index p) {
  Shape out;
  out.n = n;
  out.p = p;
  return out;
}

}  // namespace

TEST_CASE("predictors: found, along a line, after a move and after slides") {
  const Data data = grouped(3, 50, 7, 2);
  const Problem problem = with(usual_problem(data), "hinge");
  Predictors rows(problem);
  const Vec b = Noise(3).normals(3), u = Noise(4).normals(14);
  State state{Layout{3, 2, 0}};
  state.mean() = b;
  rows.effects() = u;
  rows.find(state);
  CHECK((rows.f() - brute_predictors(data, problem, b, u)).norm() < 1e-12);

  Vec x(17), zero = Vec::Zero(17);
  x << b, u;
  const Vec none = brute_predictors(data, problem, Vec::Zero(3), Vec::Zero(14));
  CHECK((rows.change(x) + none - rows.f()).norm() < 1e-12);

  Line line{Noise(5).normals(3), Noise(6).normals(2)};
  rows.aim(line);
  Vec moved = u;
  for (Index k = 0; k < 14; ++k) moved[k] *= 1 + 0.3 * line.effect[k % 2];
  const Vec there = brute_predictors(data, problem, b + 0.3 * line.dense, moved);
  const double expected = problem.likelihood->along(
      {problem.y, there.data(), nullptr, there.data(), problem.weight, 50}, 0);
  CHECK(rows.along(0.3) == doctest::Approx(expected).epsilon(1e-12));
  rows.move(0.3);
  CHECK((rows.f() - there).norm() < 1e-12);
  CHECK((rows.effects() - moved).norm() < 1e-12);
  CHECK(rows.value() == doctest::Approx(expected).epsilon(1e-12));

  state.mean() = b + 0.3 * line.dense;
  state.group_prior() = (Mat(2, 2) << 1.5, 0.4, 0.4, 0.9).finished();
  const Mat sums = rows.slide(state, -1);
  CHECK((rows.f() - brute_predictors(data, problem, state.mean(), rows.effects())).norm() <
        1e-11);
  const Eigen::Map<const Mat> effects(rows.effects().data(), 2, 7);
  CHECK((sums - effects * effects.transpose()).norm() < 1e-12);
  CHECK((rows.effects() - moved).norm() > 0.1);

  Mat whole = Mat::Zero(17, 17);
  whole.topLeftCorner(3, 3) = Vec::LinSpaced(3, 1, 2).asDiagonal();
  for (Index g = 0; g < 7; ++g) whole.block(3 + 2 * g, 3 + 2 * g, 2, 2) = state.group_prior();
  CHECK((rows.weigh(Vec::LinSpaced(3, 1, 2), state.group_prior(), x) - whole * x).norm() < 1e-12);
}

TEST_CASE("predictors: lines of several factors lead where they say") {
  check_lines(crossed(lines_shape(120, 3), {12, 9}));
  check_lines(mixed(lines_shape(90, 2)));
}

TEST_CASE("predictors: every effect of several factors slides") {
  check_slide(crossed(lines_shape(120, 3), {12, 9}));
  check_slide(mixed(lines_shape(90, 2)));
}

TEST_CASE("predictors: slides of another purpose have other random numbers") {
  Somewhere one(crossed(lines_shape(120, 3), {12, 9}));
  Somewhere other(crossed(lines_shape(120, 3), {12, 9}));
  one.rows.slide(one.state, -1);
  other.rows.slide(other.state, -1, Purpose::move);
  CHECK(((one.rows.effects() - other.rows.effects()).array() != 0).all());
}

TEST_CASE("predictors: blocks that vary are looked at anew for every State") {
  Shape shape;
  shape.q = 1;
  shape.groups = 9;
  const Data data = simulate(shape);
  const Problem varying = turned(data, 0);
  Predictors rows(varying);
  rows.effects() = Noise(4).normals(9);
  State state(Layout{3, 1, 0});
  for (double first : {0.4, -0.2, 2.0}) {
    state.mean() << first, 0.3, -0.7;
    const Problem fixed = turned(data, 1 + first);
    Predictors other(fixed);
    other.effects() = rows.effects();
    other.find(state);
    INFO(first);
    CHECK(gap(rows.log_likelihood(state), other.value()) < 1e-13);
    rows.find(state);
    CHECK(gap(rows.f(), other.f()) < 1e-13);
  }
}
