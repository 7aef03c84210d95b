// Derivatives of the rows' share in parameters of the likelihood and of blocks, against passes at
// other parameters.
#include <doctest/doctest.h>

#include "coefficients/coefficients.hpp"
#include "parameter_data.hpp"
#include "parameter_differences.hpp"
#include "rows/memory/memory_source.hpp"
#include "rows/sparse/sparse_source.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

void add_parameters(Problem& problem) {
  problem.likelihood = std::make_unique<InsensitiveFamily>(0.3);
  problem.priors.push_back(parameter_prior(0.7));
}

// At -0.2, 0.1, .. of the parameters.
State first_state(const Coefficients& side, RowSource& source) {
  const Index size = side.parameters();
  return some_state(side, source,
                    Vec::LinSpaced(size, -0.2, -0.2 + 0.3 * static_cast<double>(size - 1)));
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
    check_derivatives(source, first_state(Coefficients(problem), source));
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
  check_derivatives(source, first_state(side, source));
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
  const State state = first_state(Coefficients(problem), one);
  first_state(Coefficients(problem), two);
  REQUIRE(state.layout.parameters == 2);
  check_derivatives(one, state);
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
    const State state = first_state(Coefficients(problem), source);
    check_derivatives(source, state, 3e-4);
  }
}

TEST_CASE("parameters: derivatives are those that are asked for") {
  Shape shape;
  shape.n = 300;
  const NumberData numbers(shape);
  const Problem problem = numbers.problem(true);
  MemorySource source(problem, Use::expected, 1);
  State state = first_state(Coefficients(problem), source);
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
  State state = first_state(side, source);
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
