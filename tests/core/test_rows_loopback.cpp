#include <doctest/doctest.h>

#include "fitting.hpp"
#include "gaussian/approximation.hpp"
#include "loopback_source.hpp"

using namespace bsvm_test;

namespace {

Shape shape_of(Index q, Index groups) {
  Shape shape;
  shape.n = 240;
  shape.p = 4;
  shape.q = q;
  shape.groups = groups;
  return shape;
}

Fit fit_through(const Problem& problem, RowSource& source) {
  Host host;
  Options options;
  options.start = Vec::Constant(4, 30.0);  // so that steps are taken back
  return fit(problem, source, options, host);
}

size_t longest_message(Index groups) {
  const Data data = simulate(shape_of(2, groups));
  const Problem problem = usual_problem(data);
  LoopbackSource source(problem, Use::augmented);
  fit_through(problem, source);
  return source.longest;
}

}  // namespace

TEST_CASE("State and RowSums survive a trip through bytes") {
  State state(Layout{2, 1, 3});
  state.x = Noise(1).normals(state.x.size());
  CHECK(same_bits(state_from(to_bytes(state)).x, state.x));
  RowSums sums(3);
  sums.x = Noise(2).normals(sums.x.size());
  CHECK(same_bits(sums_from(to_bytes(sums)).x, sums.x));
}

TEST_CASE("a fit whose passes go through bytes is the same to the bit") {
  for (Index q : {0, 2}) {
    const Data data = simulate(shape_of(q, q > 0 ? 20 : 0));
    const Problem problem = usual_problem(data);
    MemorySource here(problem, Use::augmented, 1);
    LoopbackSource there(problem, Use::augmented);
    const Fit one = fit_through(problem, here), other = fit_through(problem, there);
    CHECK(same_bits(one.result.state.x, other.result.state.x));
    CHECK(same_bits(one.outside.groups.mean, other.outside.groups.mean));
    CHECK(one.result.bound == other.result.bound);
    CHECK(one.result.trace.size() == other.result.trace.size());
  }
}

TEST_CASE("a fit whose rows lie with two workers is the same but for rounding") {
  for (Index q : {0, 1, 2}) {
    const Data data = simulate(shape_of(q, q > 0 ? 20 : 0));
    const Problem problem = usual_problem(data);
    MemorySource here(problem, Use::augmented, 1);
    SplitSource there(problem, Use::augmented);
    const Fit one = fit_through(problem, here), other = fit_through(problem, there);
    CHECK(gap(other.result.bound, one.result.bound) < 1e-12);
    CHECK(gap(full_mean(other.outside), full_mean(one.outside)) < 1e-12);
    CHECK(gap(full_covariance(other.outside), full_covariance(one.outside)) < 1e-12);
  }
}

TEST_CASE("the side of the coefficients needs no row") {
  for (Index q : {0, 2}) {
    const Data data = simulate(shape_of(q, q > 0 ? 20 : 0));
    const Problem whole = usual_problem(data), model = elsewhere(usual_problem(data));
    MemorySource here(whole, Use::augmented, 1);
    LoopbackSource there(whole, Use::augmented);
    const Fit one = fit_through(whole, here), other = fit_through(model, there);
    CHECK(same_bits(one.result.state.x, other.result.state.x));
    CHECK(same_bits(one.outside.covariance, other.outside.covariance));
    CHECK(same_bits(one.outside.groups.mean, other.outside.groups.mean));
  }
}

TEST_CASE("a mixture of Gaussians needs no row, and no shortcut for few rows") {
  for (const char* likelihood : kLikelihoods) {
    const Data data = simulate(shape_of(0, 0));
    const Problem whole = with(usual_problem(data), likelihood);
    const Problem model = elsewhere(with(usual_problem(data), likelihood));
    const auto engine = Registry<Approximator>::make("gaussian", Params());
    const auto nodes = [&](const Problem& problem) {
      Host host;
      const MakeSource maker = [&](Use use, int) {
        return std::unique_ptr<RowSource>(new LoopbackSource(whole, use));
      };
      return engine->run(problem, maker, Options(), 1, host).nodes;
    };
    const auto one = nodes(whole), other = nodes(model);
    REQUIRE(one.size() == other.size());
    for (size_t k = 0; k < one.size(); ++k)
      CHECK(same_bits(one[k].state.x, other[k].state.x));
  }
}

TEST_CASE("few rows that are elsewhere give what the shortcut for few rows here gives") {
  Shape shape = shape_of(0, 0);
  shape.n = 40;
  const Data data = simulate(shape);
  const Problem whole = usual_problem(data), model = elsewhere(usual_problem(data));
  const auto engine = Registry<Approximator>::make("gaussian", Params());
  Host host;
  const MakeSource maker = [&](Use use, int) {
    return std::unique_ptr<RowSource>(new LoopbackSource(whole, use));
  };
  const double here = engine->run(whole, maker, Options(), 1, host).evidence;
  const double there = engine->run(model, maker, Options(), 1, host).evidence;
  CHECK(gap(there, here) < 1e-4);
}

TEST_CASE("no message grows with the number of groups") {
  CHECK(longest_message(10) == longest_message(150));
}
