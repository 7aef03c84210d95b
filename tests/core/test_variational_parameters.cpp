// Variational Bayes and Gaussian variational inference with parameters of the likelihood.
#include <doctest/doctest.h>

#include "fitting.hpp"
#include "forward_source.hpp"
#include "gaussian/ascent.hpp"
#include "hosts.hpp"
#include "loopback_source.hpp"
#include "parameter_data.hpp"
#include "rows/make_source.hpp"

using namespace bsvm_test;

namespace {

Shape shape_of(Index groups) {
  Shape shape;
  shape.n = 160;
  shape.q = groups > 0 ? 1 : 0;
  shape.ones = true;
  shape.groups = groups;
  return shape;
}

Options few_passes() {
  Options out;
  out.max_passes = 400;
  return out;
}

Node top_of(Conditional& conditional) {
  const Node out = conditional.climb();
  REQUIRE(conditional.progress().end == Termination::converged);
  return out;
}

}  // namespace

TEST_CASE("vb: a scale and a shape converge together, at a gradient of zero") {
  for (const Index groups : {0, 20}) {
    const NumberData numbers(shape_of(groups));
    const Problem problem = numbers.problem(true);
    MemorySource source(problem, Use::augmented, 1);
    Host host;
    Options options = few_passes();
    options.tolerance = 1e-16;
    const Fit found = fit(problem, source, options, host);
    INFO("groups ", groups, " passes ", found.result.trace.size());
    CHECK(found.result.end == Termination::converged);
    CHECK(found.result.trace.size() < 120);
    const Coefficients side(problem);
    RowSums sums(found.result.state.layout);
    source.sums(found.result.state, sums, host);
    CHECK(side.parameter_pull(found.result.state, sums).norm() < 1e-5);
  }
}

// Far from the optimum the bound bends either way in a frequency, and steps are taken back.
TEST_CASE("vb: a scale, a shape and a learned design converge from afar") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Noise noise(seed);
    Shape shape;
    shape.n = 200;
    shape.p = 0;
    shape.weights = shape.offset = false;
    Data data = simulate(shape);
    const Vec x = noise.normals(shape.n);
    for (Index i = 0; i < shape.n; ++i)
      data.y[i] = std::cos(1.7 * x[i]) - 0.6 * std::cos(3.4 * x[i]) + 0.3 * noise.normal();
    Problem problem = to_problem(data, {ridge_prior(1, 1, {0, 1, 2})}, {});
    problem.blocks.emplace_back(new Waves(x, 3));
    problem.likelihood = std::make_unique<InsensitiveFamily>(0.3, true);
    for (const double scale : {0.7, 1.5, 1.0}) problem.priors.push_back(parameter_prior(scale));
    problem.blocks.back()->find_parameters(2);
    Options options;
    options.max_passes = 1000;
    const Fit found = fit(problem, options);
    INFO("seed ", seed, " passes ", found.result.trace.size());
    CHECK(found.result.end == Termination::converged);
  }
}

// The prior's curvature is 4 times its shape.
TEST_CASE("vb: narrow priors of parameters cost no more passes than wide ones") {
  const NumberData numbers(shape_of(0));
  for (const double shape : {0.5, 50.0, 5000.0}) {
    Problem problem = numbers.problem(false);
    problem.priors.back() = parameter_slot("ridge", {{"shape", shape}, {"scale", 0.3 * shape}});
    const Fit found = fit(problem, few_passes());
    INFO("shape ", shape);
    CHECK(found.result.end == Termination::converged);
    CHECK(found.result.trace.size() < 60);
  }
}

TEST_CASE("vb: parameters go through a wire") {
  const NumberData numbers(shape_of(20));
  const Problem problem = numbers.problem(true);
  MemorySource here(problem, Use::augmented, 1);
  LoopbackSource there(problem, Use::augmented);
  Host host;
  const Fit one = fit(problem, here, few_passes(), host),
            other = fit(problem, there, few_passes(), host);
  CHECK(same_bits(one.result.state.x, other.result.state.x));
}

TEST_CASE("gaussian: nodes at given parameters converge, and know the slope of their bound") {
  for (const Index groups : {0, 20})
    for (const bool both : {false, true}) {
      const NumberData numbers(shape_of(groups));
      const Problem problem = numbers.problem(both);
      Host host;
      const auto conditional = ascent(problem, few_passes(), host);
      const Node top = top_of(*conditional);
      const Index first = Coefficients(problem).parameter_first();
      for (Index k = first; k < first + (both ? 2 : 1); ++k) {
        INFO("groups ", groups, " parameter ", k - first);
        const auto at = [&](double by) {
          const Node node = conditional->at(top.theta + by * Vec::Unit(top.theta.size(), k), top);
          CHECK(conditional->progress().end == Termination::converged);
          return node;
        };
        const int before = conditional->progress().passes;
        const Node side = at(0.3);
        CHECK(conditional->progress().passes < before + 60);
        const double slope = (at(0.32).bound - at(0.28).bound) / 0.04;
        CHECK(side.pull[k] == doctest::Approx(slope).epsilon(0.02));
      }
    }
}

// However the last passes went, and whether they were taken back.
TEST_CASE("gaussian: a node's slope is that of its own State") {
  const NumberData numbers(shape_of(20));
  const Problem problem = numbers.problem(false);
  Host host;
  const Coefficients side(problem);
  for (int passes = 3; passes < 40; ++passes) {
    Options options;
    options.start = Vec::Constant(problem.columns(), 30.0);
    options.max_passes = passes;
    std::unique_ptr<RowSource> source(
        new ExpectedOnly(make_source(problem, Use::expected, 1)));
    RowSource& rows = *source;
    Ascent ascent(problem, std::move(source), options, host);
    Node node = ascent.climb();
    node.state.slopes() = 1;
    RowSums sums(node.state.layout);
    rows.sums(node.state, sums, host);
    INFO("passes ", passes);
    CHECK(node.pull[side.parameter_first()] ==
          doctest::Approx(side.parameter_pull(node.state, sums)[0]).epsilon(1e-9));
  }
}
