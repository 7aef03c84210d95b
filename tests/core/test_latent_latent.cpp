#include <doctest/doctest.h>

// A latent with another form of rows than missing predictors have.
#include "../testthat/fixtures/measured.cpp"

#include <functional>

#include "coefficients/coefficients.hpp"
#include "fitting.hpp"
#include "hosts.hpp"
#include "oracle.hpp"
#include "parameter_data.hpp"
#include "rows/memory/memory_source.hpp"
#include "simulate.hpp"
#include "two_atoms.hpp"

using namespace bsvm_test;

namespace {

constexpr double kColumn[] = {2};  // of the design, counted from 1

Problem measured_problem(const Data& data, const char* likelihood) {
  Problem out = usual_problem(data);
  out.latent = Registry<Latent>::make(
      "measured", Params("measured", {{"sd", 0.6}}, {{"column", Params::Array(kColumn, 1, 1)}}));
  return with(std::move(out), likelihood);
}

Data measured_data(Index n) {
  Shape shape;
  shape.n = n;
  shape.p = 3;
  shape.q = shape.groups = 0;
  return simulate(shape);
}

// Somewhere in the middle of a run.
State state_at(const Problem& problem, const Vec& mean, const Mat& root) {
  State out = Coefficients(problem).start(mean);
  out.begun() = 1;
  out.inverse_factor() = root;
  return out;
}

struct Middle {
  Vec mean;
  Mat root;  // lower triangular
  Middle() : mean(3), root(3, 3) {
    mean << 0.4, 0.7, -0.5;
    root << 0.3, 0, 0, 0.1, 0.25, 0, -0.05, 0.08, 0.2;
  }
};

RowSums sums_at(const Problem& problem, Use use, const State& state, int threads = 1) {
  Host host;
  RowSums out(state.layout);
  MemorySource(problem, use, threads).sums(state, out, host);
  return out;
}

double slope_of(const std::function<double(double)>& f, double h) {
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

// With S = K'K and W the precision of the sums, d value / dK = -K W on and below the diagonal.
void check_measured(const Problem& problem, Use use) {
  const Middle at;
  const Coefficients side(problem);
  const Vec unit = side.units();
  const State state = state_at(problem, at.mean, at.root);
  RowSums sums = sums_at(problem, use, state);
  const Mat weight = sums.weight().selfadjointView<Eigen::Lower>();
  const Mat by_root = -Mat(state.inverse_factor()) * weight;
  for (Index j = 0; j < 3; ++j) {
    const double found = slope_of([&](double t) {
      State moved = state;
      moved.mean()[j] += t;
      return sums_at(problem, use, moved).value();
    }, 1e-3);
    CHECK(std::abs(found - sums.linear()[j]) < 1e-6 * (1 + std::abs(found)));
    for (Index k = 0; k <= j; ++k) {
      const double by = slope_of([&](double t) {
        State moved = state;
        moved.inverse_factor()(j, k) += t;
        return sums_at(problem, use, moved).value();
      }, 1e-4);
      CHECK(std::abs(by - by_root(j, k)) < 1e-5 * (1 + std::abs(by)));
    }
  }
}

}  // namespace

TEST_CASE("latent: the sums of one added elsewhere are derivatives of its value") {
  const Data data = measured_data(50);
  check_measured(measured_problem(data, "hinge"), Use::augmented);
  for (const char* likelihood : kLikelihoods)
    check_measured(measured_problem(data, likelihood), Use::expected);
  Problem two = measured_problem(data, "hinge");
  two.likelihood.reset(new Insensitive(1.3, 0.5));
  check_measured(two, Use::augmented);
}

TEST_CASE("latent: parameters' slopes are those of the value of one added elsewhere") {
  const Data data = measured_data(50);
  const Middle at;
  for (const Use use : {Use::augmented, Use::expected}) {
    Problem problem = measured_problem(data, "hinge");
    problem.likelihood = Registry<Likelihood>::make("eps_insensitive", Params());
    for (const double scale : {0.7, 1.5}) problem.priors.push_back(parameter_prior(scale));
    check(problem);
    State state = state_at(problem, at.mean, at.root);
    Coefficients(problem).set_parameters(state, Eigen::Vector2d(-0.3, 0.2));
    state.slopes() = 1;
    const RowSums sums = sums_at(problem, use, state);
    for (Index k : {0, 1}) {
      const double found = slope_of([&](double t) {
        State moved = state;
        moved.parameters()[k] += t;
        return sums_at(problem, use, moved).value();
      }, 1e-3);
      CHECK(std::abs(found - sums.pull()[k]) < 1e-6 * (1 + std::abs(found)));
    }
  }
}

TEST_CASE("latent: the same bits for any number of threads, and for passes taken again") {
  const Data data = measured_data(3000);
  const Middle at;
  for (const Use use : {Use::augmented, Use::expected}) {
    const Problem problem = measured_problem(data, "hinge");
    const State state = state_at(problem, at.mean, at.root);
    const RowSums once = sums_at(problem, use, state);
    CHECK(same_bits(once.x, sums_at(problem, use, state, 2).x));
    MemorySource source(problem, use, 1);
    Host host;
    RowSums again(state.layout);
    for (int pass = 0; pass < 2; ++pass) source.sums(state, again, host);
    CHECK(same_bits(once.x, again.x));
  }
}

TEST_CASE("latent: nothing unknown is a latent that changes nothing") {
  const Data data = measured_data(40);
  const Problem problem = usual_problem(data);
  CHECK_FALSE(problem.latent->any());
  CHECK(problem.latent->state_size() == 0);
  CHECK(problem.latent->sums_size() == 0);
  const State state = Coefficients(problem).start(Vec());
  MemorySource source(problem, Use::expected, 1);
  CHECK(source.imputations(state).row.empty());
  CHECK(source.unknowns().size() == 0);
  const Latent nothing;
  for (const Use use : {Use::augmented, Use::expected, Use::drawn, Use::marginal})
    CHECK_NOTHROW(check_use(nothing, use));
}

TEST_CASE("latent: a use that it has no form of is refused before the first pass") {
  struct Augmented : Latent {
    bool any() const override { return true; }
    bool supports(Use use) const override { return use == Use::augmented; }
  };
  const Data data = measured_data(20);
  Problem problem = usual_problem(data);
  problem.latent.reset(new Augmented);
  CHECK_NOTHROW(MemorySource(problem, Use::augmented, 1));
  for (const Use use : {Use::expected, Use::drawn})
    CHECK_THROWS_AS(MemorySource(problem, use, 1), InvalidInput);
}

TEST_CASE("latent: as wrong as its problem lets it be") {
  const Data data = measured_data(20);
  Problem problem = measured_problem(data, "hinge");
  problem.sparse.columns = 1;
  CHECK_THROWS_AS(check(problem), InvalidInput);
  const double beyond[] = {9};
  problem = usual_problem(data);
  problem.latent = Registry<Latent>::make(
      "measured", Params("measured", {{"sd", 0.6}}, {{"column", Params::Array(beyond, 1, 1)}}));
  CHECK_THROWS_AS(check(problem), InvalidInput);
}
