// A likelihood with two inferred parameters, scale and shape of the epsilon-insensitive density,
// from the rows' sums to the engines.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "chain/sampler.hpp"
#include "components.hpp"
#include "fitting.hpp"
#include "hosts.hpp"
#include "parameter_differences.hpp"
#include "point/estimator.hpp"
#include "rows/make_source.hpp"
#include "rows/sparse/sparse_source.hpp"
#include "sparse_data.hpp"
#include "tube_data.hpp"

using namespace bsvm_test;

namespace {

const Vec kTheta = Eigen::Vector2d(-0.3, 0.2);

void check_best(const Bound& bound, double log_s, double log_kappa) {
  const double h = 1e-3;
  for (const bool first : {true, false}) {
    const auto at = [&](double by) {
      return bound(log_s + (first ? by : 0), log_kappa + (first ? 0 : by));
    };
    CHECK(std::abs((8 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12 * h)) < 1e-4L);
    CHECK(at(0.05) < at(0));
    CHECK(at(-0.05) < at(0));
  }
}

// ---- chains

struct Sampling {
  std::unique_ptr<Sampler> sampler;
  std::unique_ptr<Chain> chain;
};

Sampling chain_of(const char* name, const Problem& problem) {
  Sampling out;
  out.sampler = Registry<Sampler>::make(name, Params(name, {{"mixing", 1}, {"integrate", 0}}));
  Host host;
  out.sampler->prepare(problem, source_maker(problem), 1, host);
  out.chain = out.sampler->start(problem, source_maker(problem), 1, 5, 0, 500);
  return out;
}

// One coefficient, log s and log kappa of a chain: (3, draws).
Mat draws_of(Chain& chain, Index draws) {
  Host host;
  Draw draw;
  Mat out(3, draws);
  for (Index k = -500; k < draws; ++k) {
    chain.sweep(host);
    if (k < 0) continue;
    chain.read(draw);
    out.col(k) << draw.coefficients[0], 0.5 * draw.hyper.tail(2).array().log().matrix();
  }
  return out;
}

double effective(const Eigen::RowVectorXd& x) {
  const Index n = x.size();
  const Eigen::RowVectorXd away = x.array() - x.mean();
  double sum = 1;
  for (Index lag = 1; lag < n / 4; ++lag) {
    const double r = away.head(n - lag).dot(away.tail(n - lag)) / away.squaredNorm();
    if (r < 0.03) break;
    sum += 2 * r;
  }
  return static_cast<double>(n) / sum;
}

}  // namespace

TEST_CASE("two parameters: rows' sums in memory, grouped or not, for any number of threads") {
  for (const Index groups : {0, 5})
    for (const Use use : {Use::augmented, Use::expected}) {
      const Data data = numbers(shape_of(60, 3, groups));
      Problem problem = usual_problem(data);
      infer_both(problem);
      MemorySource one(problem, use, 1), two(problem, use, 2);
      const State state = some_state(Coefficients(problem), one, kTheta);
      check_derivatives(one, state);
      some_state(Coefficients(problem), two, kTheta);
      Host host;
      RowSums first(state.layout), second(state.layout);
      one.sums(state, first, host);
      two.sums(state, second, host);
      CHECK(first.x == second.x);
    }
}

TEST_CASE("two parameters: rows' sums with sparse columns") {
  const SparseData data = crossed(shape_of(50, 2), {6, 4});
  Problem problem = data.problem();
  infer_both(problem);
  for (const Use use : {Use::augmented, Use::expected}) {
    SparseSource source(problem, use, 1);
    const Coefficients side(problem, source.extra());
    check_derivatives(source, some_state(side, source, kTheta));
  }
}

TEST_CASE("two parameters: a step in both at once ends where rows and priors are highest") {
  const Data data = numbers(shape_of(80, 3));
  Problem problem = usual_problem(data);
  infer_both(problem);
  const Coefficients side(problem);
  MemorySource source(problem, Use::expected, 1);
  State state = some_state(side, source, kTheta);
  RowSums sums(state.layout);
  Host host;
  int steps = 0;
  double left = 1;
  for (; steps < 30 && left > 1e-7; ++steps) {
    source.sums(state, sums, host);
    left = side.parameter_pull(state, sums).norm();
    CHECK(side.parameter_gradient(state, sums) >= 0);
    side.set_parameters(state, state.parameters() + side.parameter_step(state, sums));
  }
  CHECK(left < 1e-7);
  CHECK(steps < 15);
}

TEST_CASE("two parameters: Gaussian and variational fits end at the top of their bounds") {
  const Data data = numbers(shape_of(70, 3));
  Problem problem = fixed_prior(data);
  infer_both(problem);
  const Top top = climb(problem);
  REQUIRE(top.progress.end == Termination::converged);
  const Bound expected{data, top.outside, false};
  const Vec theta = top.node.theta;
  CHECK(gap(top.node.log_density, expected(theta[0], theta[1])) < 1e-12);
  check_best(expected, theta[0], theta[1]);
  for (const bool accelerate : {true, false}) {
    const Fit found = fit(problem, Options(), 1, accelerate);
    REQUIRE(found.result.end == Termination::converged);
    const Bound augmented{data, found.outside, true};
    const Vec at = found.result.state.parameters();
    CHECK(gap(found.result.bound, augmented(at[0], at[1])) < 1e-12);
    check_best(augmented, at[0], at[1]);
  }
}

// The numbers of passes are twice those without parameters at most, where scale and tube, which are
// correlated, step together.
TEST_CASE("two parameters: with groups, too, and in few passes") {
  const Data data = numbers(shape_of(400, 3, 20));
  Problem known = usual_problem(data), problem = usual_problem(data);
  known.likelihood = Registry<Likelihood>::make(
      "eps_insensitive", Params("eps_insensitive", {{"scale", 0.6}, {"kappa", 1.2}}));
  infer_both(problem);
  const Top one = climb(known, false, Options()), two = climb(problem, false, Options());
  CHECK(two.progress.end == Termination::converged);
  CHECK(two.progress.passes <= 2 * one.progress.passes);
  const Fit fast = fit(known, Options()), both = fit(problem, Options());
  CHECK(both.result.end == Termination::converged);
  CHECK(both.result.trace.size() <= 2 * fast.result.trace.size());
}

TEST_CASE("two parameters: chains have the posterior by sums over a grid") {
  const Data data = numbers(shape_of(30, 1));
  Problem problem = fixed_prior(data);
  infer_both(problem);
  const GridMoments truth = grid_moments(data);
  for (const char* name : {"gibbs", "slice"}) {
    CAPTURE(std::string(name));
    const Sampling of = chain_of(name, problem);
    const Mat found = draws_of(*of.chain, 20000);
    for (Index k = 0; k < 3; ++k) {
      const Eigen::RowVectorXd x =
          (found.row(k).array() - double(truth.mean[k])) / double(truth.sd[k]);
      const double error = 1 / std::sqrt(effective(x));
      CHECK(effective(x) > 2000);
      CHECK(std::abs(x.mean()) < 4 * error);
      CHECK(std::abs(x.squaredNorm() / 20000 - 1) < 8 * error);
    }
  }
}

// Along each parameter alone a draw is worth a sixth.
TEST_CASE("two parameters: most draws count, though scale and tube are correlated") {
  const Data data = numbers(shape_of(400, 1));
  Problem problem = fixed_prior(data);
  infer_both(problem);
  for (const char* name : {"gibbs", "slice"}) {
    const Sampling of = chain_of(name, problem);
    const Mat found = draws_of(*of.chain, 4000);
    for (Index k = 0; k < 3; ++k) CHECK(effective(found.row(k)) > 2000);
  }
}

TEST_CASE("two parameters: a saved chain goes on to the bit") {
  const Data data = numbers(shape_of(40, 2));
  Problem problem = fixed_prior(data);
  infer_both(problem);
  Host host;
  for (const char* name : {"gibbs", "slice"}) {
    const Sampling whole = chain_of(name, problem), first = chain_of(name, problem),
                   rest = chain_of(name, problem);
    for (int k = 0; k < 60; ++k) first.chain->sweep(host);
    rest.chain->restore(first.chain->save());
    for (int k = 0; k < 40; ++k) rest.chain->sweep(host);
    for (int k = 0; k < 100; ++k) whole.chain->sweep(host);
    CHECK(rest.chain->save() == whole.chain->save());
  }
}

TEST_CASE("two parameters: with both given a point estimate has the lowest loss, certified") {
  const Data data = numbers(shape_of(60, 3));
  Problem problem = fixed_prior(data);
  problem.likelihood = Registry<Likelihood>::make(
      "eps_insensitive", Params("eps_insensitive", {{"scale", 0.6}, {"epsilon", 0.4}}));
  check(problem);
  Host host;
  const Estimate found = Registry<Estimator>::make("em", Params("em", {{"accelerate", 1}}))
                             ->run(problem, EstimateOptions(), host);
  CHECK(found.end == Termination::converged);
  CHECK(found.gap < 1e-9);
  const PairLaw law{1 / Real(0.6), 1 / Real(0.6), 0.4, 0.4};
  const auto loss = [&](const Vec& b) {
    const Vec off = data.y - data.offset - data.design() * b;
    Real sum = b.squaredNorm() / 8;
    for (Index i = 0; i < off.size(); ++i)
      sum += data.weight[i] * (law.constant() - law.log_p(off[i]));
    return sum;
  };
  CHECK(gap(found.objective, loss(found.coefficients)) < 1e-12);
  for (Index j = 0; j < 3; ++j)
    for (double by : {-1e-3, 1e-3})
      CHECK(loss(found.coefficients + by * Vec::Unit(3, j)) > loss(found.coefficients));
}

TEST_CASE("two parameters: each needs a prior of a number, and a point estimate refuses them") {
  const Data data = numbers(shape_of(20, 2));
  Problem problem = fixed_prior(data);
  problem.likelihood = Registry<Likelihood>::make("eps_insensitive", Params());
  problem.priors.push_back(parameter_slot("half_t", {{"df", 3}, {"scale", 1.5}}));
  CHECK_THROWS_AS(check(problem), InvalidInput);
  problem.priors.push_back(parameter_slot("beta", {{"shape1", 1}, {"shape2", 1}}));
  CHECK_NOTHROW(check(problem));
  Host host;
  const auto em = Registry<Estimator>::make("em", Params("em", {{"accelerate", 1}}));
  CHECK_THROWS_WITH_AS(em->run(problem, EstimateOptions(), host),
                       doctest::Contains("Give each a number"), InvalidInput);
}
