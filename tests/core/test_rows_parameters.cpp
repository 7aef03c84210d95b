// Derivatives of the rows' share in parameters of the likelihood and of blocks, against passes at
// other parameters.
#include <doctest/doctest.h>

#include "coefficients/coefficients.hpp"
#include "parameter_data.hpp"
#include "rows/memory/memory_source.hpp"
#include "rows/sparse/sparse_source.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

void add_parameters(Problem& problem) {
  problem.likelihood = std::make_unique<InsensitiveFamily>(0.3);
  problem.priors.push_back(parameter_prior(0.7));
}

// Some q with a covariance, and effects of groups that go with it.
State some_state(const Coefficients& side, RowSource& source) {
  State state = side.start(Vec());
  state.slopes() = 2;
  Noise noise(4);
  const Index p = state.layout.p;
  state.mean() = 0.4 * noise.normals(p);
  state.inverse_factor() = 0.3 * Mat::Identity(p, p);
  for (Index j = 1; j < p; ++j) state.inverse_factor()(j, j - 1) = 0.1;
  Vec theta(state.layout.parameters);
  for (Index k = 0; k < theta.size(); ++k) theta[k] = -0.2 + 0.3 * static_cast<double>(k);
  side.set_parameters(state, theta);
  Host host;
  RowSums sums(state.layout);
  source.sums(state, sums, host);
  state.begun() = 1;
  state.fraction() = 1;
  source.settle(state, Settle::advance, 1);
  return state;
}

// The sums of a pass where parameter k has moved.
RowSums sums_at(RowSource& source, State state, Index k, double by) {
  Host host;
  RowSums sums(state.layout);
  state.parameters()[k] += by;
  source.sums(state, sums, host);
  return sums;
}

// Against five-point differences of whole passes.
void check_derivatives(const Problem& problem, RowSource& source, const State& state) {
  const auto value = [&](Index k, double by) { return sums_at(source, state, k, by).value(); };
  REQUIRE(state.layout.parameters == problem.parameters());
  for (Index k = 0; k < state.layout.parameters; ++k) {
    const double h = 1e-2;
    const double first = (8 * (value(k, h) - value(k, -h)) - value(k, 2 * h) + value(k, -2 * h)) /
                         (12 * h);
    const double second = (16 * (value(k, h) + value(k, -h)) - value(k, 2 * h) -
                           value(k, -2 * h) - 30 * value(k, 0)) / (12 * h * h);
    const RowSums sums = sums_at(source, state, k, 0);
    INFO("parameter ", k);
    CHECK(sums.pull()[k] == doctest::Approx(first).epsilon(1e-5));
    CHECK(sums.bend()(k, k) == doctest::Approx(-second).epsilon(3e-4));
  }
}

// Those of pairs, by differences of the first ones of passes elsewhere.
void check_cross_derivatives(RowSource& source, const State& state) {
  const auto pull = [&](Index k, double by) {
    return Vec(sums_at(source, state, k, by).pull());
  };
  for (Index k = 0; k < state.layout.parameters; ++k) {
    const double h = 1e-2;
    const Vec slope =
        (8 * (pull(k, h) - pull(k, -h)) - pull(k, 2 * h) + pull(k, -2 * h)) / (12 * h);
    const RowSums sums = sums_at(source, state, k, 0);
    for (Index j = 0; j < state.layout.parameters; ++j) {
      INFO("parameters ", j, " and ", k);
      CHECK(sums.bend()(j, k) == doctest::Approx(-slope[j]).epsilon(3e-4));
    }
  }
}

}  // namespace

TEST_CASE("parameters: rows in memory, grouped or not, weighted") {
  for (const Index groups : {0, 5}) {
    Shape shape;
    shape.n = 60;
    shape.p = 3;
    shape.q = groups > 0 ? 2 : 0;
    shape.groups = groups;
    const Data data = simulate(shape);
    Problem problem = usual_problem(data);
    add_parameters(problem);
    check(problem);
    MemorySource source(problem, Use::augmented, 1);
    check_derivatives(problem, source, some_state(Coefficients(problem), source));
  }
}

TEST_CASE("parameters: sparse columns") {
  Shape shape;
  shape.n = 50;
  shape.p = 2;
  const SparseData data = crossed(shape, {6, 4});
  Problem problem = data.problem();
  add_parameters(problem);
  check(problem);
  SparseSource source(problem, Use::augmented, 1);
  const Coefficients side(problem, source.extra());
  check_derivatives(problem, source, some_state(side, source));
}

TEST_CASE("parameters: of the likelihood and of a block together, for any number of threads") {
  Shape shape;
  shape.n = 400;
  shape.p = 2;
  shape.q = 1;
  shape.groups = 40;
  const Data data = simulate(shape);
  Problem problem = usual_problem(data);
  Noise noise(8);
  problem.blocks.emplace_back(new Waves(noise.normals(shape.n), 3));
  problem.priors.push_back(to_slot(ridge_prior(1, 1, {2, 3, 4})));
  add_parameters(problem);
  problem.priors.push_back(parameter_prior(1.5));
  problem.blocks.back()->find_parameters(1);
  check(problem);
  MemorySource one(problem, Use::augmented, 1), two(problem, Use::augmented, 2);
  const State state = some_state(Coefficients(problem), one);
  some_state(Coefficients(problem), two);
  check_derivatives(problem, one, state);
  check_cross_derivatives(one, state);
  Host host;
  RowSums first(state.layout), second(state.layout);
  one.sums(state, first, host);
  two.sums(state, second, host);
  CHECK(first.x == second.x);
}

TEST_CASE("parameters: a scale and a shape, of either use") {
  for (const Use use : {Use::augmented, Use::expected}) {
    Shape shape;
    shape.n = 300;
    const NumberData numbers(shape);
    const Problem problem = numbers.problem(true);
    MemorySource source(problem, use, 1);
    const State state = some_state(Coefficients(problem), source);
    check_derivatives(problem, source, state);
    check_cross_derivatives(source, state);
  }
}

TEST_CASE("parameters: derivatives are those that are asked for") {
  Shape shape;
  shape.n = 300;
  const NumberData numbers(shape);
  const Problem problem = numbers.problem(true);
  MemorySource source(problem, Use::expected, 1);
  State state = some_state(Coefficients(problem), source);
  Host host;
  RowSums all(state.layout), first(state.layout), none(state.layout);
  source.sums(state, all, host);
  state.slopes() = 1;
  source.sums(state, first, host);
  state.slopes() = 0;
  source.sums(state, none, host);
  CHECK(first.pull() == all.pull());
  CHECK(first.bend().isZero(0));
  CHECK(none.pull().isZero(0));
  CHECK(none.value() == all.value());
}

TEST_CASE("parameters: a prior for each, and nothing that can't be") {
  Shape shape;
  shape.n = 20;
  shape.p = 2;
  const Data data = simulate(shape);
  Problem problem = usual_problem(data);
  problem.likelihood = std::make_unique<InsensitiveFamily>(0.3);
  CHECK_THROWS_AS(check(problem), InvalidInput);
  problem.priors.push_back(parameter_prior(1));
  CHECK_NOTHROW(check(problem));
  problem.priors.push_back(parameter_prior(1));
  CHECK_THROWS_AS(check(problem), InvalidInput);
  problem.priors.pop_back();
  problem.priors.back().prior =
      Registry<Prior>::make("normal", Params("normal", {{"variance", 1}}));
  CHECK_THROWS_AS(check(problem), InvalidInput);
  problem.priors.back() = parameter_prior(1);
  std::swap(problem.priors.front(), problem.priors.back());
  CHECK_THROWS_AS(check(problem), InvalidInput);
}

TEST_CASE("parameters: the coefficient side's pull and step") {
  Shape shape;
  shape.n = 60;
  shape.p = 3;
  const Data data = simulate(shape);
  Problem problem = usual_problem(data);
  add_parameters(problem);
  const Coefficients side(problem);
  MemorySource source(problem, Use::augmented, 1);
  State state = some_state(side, source);
  RowSums sums(state.layout);
  Host host;
  // Steps at fixed q come to where rows and prior together are highest.
  for (int step = 0; step < 60; ++step) {
    source.sums(state, sums, host);
    side.set_parameters(state, state.parameters() + side.parameter_step(state, sums));
  }
  source.sums(state, sums, host);
  const auto total = [&](double by) {
    State moved = state;
    side.set_parameters(moved, state.parameters() + Vec::Constant(1, by));
    RowSums there(state.layout);
    source.sums(moved, there, host);
    Vec gradient(1);
    return there.value() + side.log_parameters(moved.parameters(), gradient);
  };
  CHECK(std::abs(side.parameter_pull(state, sums)[0]) < 1e-6);
  CHECK(total(0) > total(1e-3));
  CHECK(total(0) > total(-1e-3));
}
