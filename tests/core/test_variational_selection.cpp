// Coefficients that are selected: two ways to the same q, and what neither may do.
#include <doctest/doctest.h>

#include "fitting.hpp"
#include "hosts.hpp"
#include "loopback_source.hpp"
#include "parameter_data.hpp"
#include "variational/selector.hpp"

using namespace bsvm_test;

namespace {

// An intercept and a ridge of two beside it.
Problem selection_problem(const Data& data, double rho) {
  const Params params("laplace_zero", {{"rho", rho}, {"shape", 0.5}, {"scale", 0.4}});
  const std::vector<PriorSpec> dense{normal_prior(100, {0}), ridge_prior(0.7, 0.4, {1, 2}),
                                     {"laplace_zero", params, range(3, data.x.cols())}};
  return to_problem(data, dense, usual_group_priors(data.shape.q));
}

// Numbers, with an inferred scale and shape of their residuals.
Problem number_problem(const Data& data, double rho) {
  Problem out = selection_problem(data, rho);
  out.likelihood = std::make_unique<InsensitiveFamily>(0.3, true);
  for (const double scale : {0.7, 1.5}) out.priors.push_back(parameter_prior(scale));
  check(out);
  return out;
}

Result plain_passes(Selector& q, int passes) {
  Host nobody;
  Result out{State(Layout())};
  q.start(0, Options());
  for (int pass = 0; pass < passes; ++pass) {
    out.bound = q.pass(1, nobody);
    q.keep();
    q.advance(Step::plain, 1, nobody);
  }
  q.report(out);
  return out;
}

Shape shape_of(Index n, Index p) {
  Shape shape;
  shape.n = n;
  shape.p = p;
  return shape;
}

Result run(const Problem& problem, const Options& options) {
  MemorySource source(problem, Use::augmented, 1);
  Host nobody;
  return engine_vb()->run(problem, source, options, nobody);
}

}  // namespace

TEST_CASE("with and without p x p matrices the fixed point is the same") {
  const Data data = simulate(shape_of(15, 40));
  const Problem problem = selection_problem(data, 0.3);
  MemorySource source(problem, Use::augmented, 1);
  const auto rows = row_selector(problem, source), wide = wide_selector(problem);
  const Result one = plain_passes(*rows, 4000), other = plain_passes(*wide, 4000);
  CHECK(gap(other.bound, one.bound) < 1e-11);
  CHECK(gap(other.inclusion.probability, one.inclusion.probability) < 1e-6);
  CHECK(gap(other.inclusion.mean, one.inclusion.mean) < 1e-6);
  CHECK(gap(other.inclusion.sd, one.inclusion.sd) < 1e-6);
  const Mat expected = Coefficients(problem).outside(one.state, GroupPosterior()).covariance;
  const LowRank& found = other.spread;
  Mat covariance = found.more.transpose() * found.more - found.less.transpose() * found.less;
  covariance.diagonal() += found.diagonal;
  CHECK(gap(covariance, expected) < 1e-6);
}

TEST_CASE("parameters: with and without p x p matrices the fixed point is the same") {
  const NumberData numbers(shape_of(15, 25));
  const Problem problem = number_problem(numbers.data, 0.3);
  MemorySource source(problem, Use::augmented, 1);
  const auto rows = row_selector(problem, source), wide = wide_selector(problem);
  const Result one = plain_passes(*rows, 6000), other = plain_passes(*wide, 6000);
  CHECK(gap(other.bound, one.bound) < 1e-11);
  CHECK(gap(other.inclusion.probability, one.inclusion.probability) < 1e-6);
  CHECK(gap(Vec(other.state.parameters()), Vec(one.state.parameters())) < 1e-6);
  const Coefficients side(problem);
  RowSums sums(one.state.layout);
  Host nobody;
  source.sums(one.state, sums, nobody);
  CHECK(side.parameter_pull(one.state, sums).norm() < 1e-6);
}

TEST_CASE("parameters: the engine ends where their gradient vanishes, with groups and without") {
  for (const Index q : {0, 1})
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
      Shape shape = shape_of(120, 12);
      shape.seed = seed;
      shape.q = q;
      shape.groups = q > 0 ? 15 : 0;
      const NumberData numbers(shape);
      const Problem problem = number_problem(numbers.data, 0.3);
      MemorySource source(problem, Use::augmented, 1);
      Host nobody;
      Options options;
      options.tolerance = 1e-16;
      const Result found = engine_vb()->run(problem, source, options, nobody);
      CHECK(found.end == Termination::converged);
      double best = -std::numeric_limits<double>::infinity();
      for (const TraceEntry& entry : found.trace) best = std::max(best, entry.bound);
      CHECK(found.bound == best);
      source.back(found.state);
      RowSums sums(found.state.layout);
      source.sums(found.state, sums, nobody);
      CHECK(Coefficients(problem).parameter_pull(found.state, sums).norm() < 1e-5);
    }
}

TEST_CASE("parameters that are held stay, and move once they are let go") {
  const NumberData numbers(shape_of(15, 25));
  const Problem problem = number_problem(numbers.data, 0.3);
  MemorySource source(problem, Use::augmented, 1);
  Host nobody;
  const Vec first = Coefficients(problem).start(Vec()).parameters();
  for (const bool by_rows : {true, false}) {
    const auto q = by_rows ? row_selector(problem, source) : wide_selector(problem);
    Result out{State(Layout())};
    double gradient = 0;
    const auto after = [&](int passes) {
      for (int pass = 0; pass < passes; ++pass) {
        q->pass(1, nobody);
        q->keep();
        gradient = q->advance(Step::plain, 1, nobody);
      }
      q->report(out);
      return Vec(out.state.parameters() - first);
    };
    q->start_at(Vec::Ones(problem.columns()));
    q->hold(0.25);
    const Vec held = after(1000);
    CHECK(held[0] == doctest::Approx(std::log(0.25)));
    CHECK(held[1] == doctest::Approx(0).epsilon(1e-12));
    CHECK(gradient < 1e-4);
    q->release();
    after(1);
    CHECK(gradient > 0.1);  // the parameters' alone
    CHECK((after(5) - held).cwiseAbs().minCoeff() > 1e-3);
  }
}

TEST_CASE("parameters of terms are refused beside a prior that selects") {
  const Data data = simulate(shape_of(50, 6));
  Problem problem = selection_problem(data, 0.2);
  problem.blocks.emplace_back(new Waves(data.x.col(1), 1));
  problem.priors.insert(problem.priors.end() - 1, PriorSlot());
  problem.priors[problem.priors.size() - 2].prior =
      Registry<Prior>::make("normal", Params("normal", {{"variance", 1}}));
  problem.priors[problem.priors.size() - 2].columns = {6};
  problem.priors.push_back(parameter_prior(1));
  CHECK_THROWS_WITH_AS(check(problem), doctest::Contains("parameters of terms"), InvalidInput);
}

TEST_CASE("the engine's bound rises from pass to pass but for those taken back") {
  for (Shape shape : {shape_of(15, 40), shape_of(120, 12)})
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
      shape.seed = seed;
      const Data data = simulate(shape);
      const Problem problem = selection_problem(data, 0.2);
      Options options;
      options.starts = 3;
      const Result found = run(problem, options);
      CHECK(found.end == Termination::converged);
      CHECK(found.start_bounds.size() == 3);
      double best = -std::numeric_limits<double>::infinity();
      for (const TraceEntry& entry : found.trace) best = std::max(best, entry.bound);
      CHECK(found.bound == best);
      for (const double bound : found.start_bounds) CHECK(bound <= found.bound);
    }
}

// All selected columns are one of two and a little noise.
Data alike(Index n, Index p, double noise, std::uint64_t seed) {
  Shape shape = shape_of(n, p);
  shape.seed = seed;
  Data out = simulate(shape);
  for (Index j = 5; j < p; ++j) out.x.col(j) = out.x.col(3 + j % 2) + noise * out.x.col(j);
  return out;
}

TEST_CASE("columns that look alike: no pass lowers the bound, and the engine arrives") {
  for (double noise : {0.03, 0.3})
    for (std::uint64_t seed = 30; seed < 40; ++seed) {
      CAPTURE(noise);
      CAPTURE(seed);
      const Data data = alike(40, 200, noise, seed);
      const Problem problem = selection_problem(data, 0.5);
      const auto wide = wide_selector(problem);
      Host nobody;
      double before = -std::numeric_limits<double>::infinity(), largest_fall = 0;
      wide->start(0, Options());
      for (int pass = 0; pass < 200; ++pass) {
        const double bound = wide->pass(1, nobody);
        if (pass > 1) largest_fall = std::max(largest_fall, before - bound);
        before = bound;
        wide->advance(Step::plain, 1, nobody);
      }
      CHECK(largest_fall < 1e-9 * std::abs(before));
      CHECK(run(problem, Options()).end == Termination::converged);
    }
}

TEST_CASE("with groups: the same to the bit through bytes, and but for rounding with two workers") {
  Shape shape = shape_of(240, 8);
  shape.q = 2;
  shape.groups = 20;
  const NumberData numbers(shape);
  const Data data = simulate(shape);
  for (const bool parameters : {false, true}) {
    const Problem problem =
        parameters ? number_problem(numbers.data, 0.3) : selection_problem(data, 0.3);
    MemorySource here(problem, Use::augmented, 1);
    LoopbackSource there(problem, Use::augmented);
    Host nobody;
    const auto engine = engine_vb();
    const Result one = engine->run(problem, here, Options(), nobody);
    CHECK(one.end == Termination::converged);
    CHECK(same_bits(engine->run(problem, there, Options(), nobody).state.x, one.state.x));
    if (parameters) continue;  // workers of a split source have the hinge
    SplitSource split(problem, Use::augmented);
    CHECK(gap(engine->run(problem, split, Options(), nobody).bound, one.bound) < 1e-12);
  }
}

TEST_CASE("stopped in its second start, the engine returns the best there was") {
  for (const Shape& shape : {shape_of(15, 40), shape_of(120, 12)}) {
    const Data data = simulate(shape);
    const Problem problem = selection_problem(data, 0.2);
    MemorySource source(problem, Use::augmented, 1);
    ImpatientHost patient(1 << 30);
    Options options;
    const Result first = engine_vb()->run(problem, source, options, patient);
    ImpatientHost host(patient.calls + 20);
    options.starts = 5;
    const Result found = engine_vb()->run(problem, source, options, host);
    CHECK(found.end == Termination::interrupted);
    CHECK(found.start_bounds.size() == 2);
    CHECK(found.bound >= first.bound);
  }
}

TEST_CASE("a tilt, as linear response has it, is refused beside a prior that selects") {
  const Data data = simulate(shape_of(50, 6));
  Problem problem = selection_problem(data, 0.2);
  problem.tilt = Vec::Ones(problem.columns());
  CHECK_THROWS_AS(run(problem, Options()), InvalidInput);
}
