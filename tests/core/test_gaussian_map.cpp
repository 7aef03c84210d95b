// The mode, against slow solvers; and the approximators as a whole.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "fitting.hpp"
#include "gaussian/grid.hpp"
#include "gaussian/make_conditional.hpp"
#include "gaussian_twin.hpp"
#include "grouped_data.hpp"
#include "hosts.hpp"
#include "rows/make_source.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

Approximation run(const char* engine, const Problem& problem, Host& host,
                  const Options& options = Options(), int threads = 1) {
  return Registry<Approximator>::make(engine, Params())
      ->run(problem, source_maker(problem), options, threads, host);
}
Approximation run(const char* engine, const Problem& problem, const Options& options = Options()) {
  Host host;
  return run(engine, problem, host, options);
}

Data dense_data(Index n, Index p, std::uint64_t seed = 1) {
  Shape shape;
  shape.n = n;
  shape.p = p;
  shape.seed = seed;
  return simulate(shape);
}

Vec outside_mean(const Problem& problem, const bsvm::Node& node) {
  return node.state.mean().cwiseProduct(problem.blocks[0]->unit());
}

// Of a concave function: thirds of an interval are cut off until nothing is left of it.
Real highest(const std::function<Real(Real)>& f, Real low, Real high) {
  while (high - low > 1e-10L) {
    const Real a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (f(a) < f(b)) low = a;
    else high = b;
  }
  return (low + high) / 2;
}

// (b_0, b_1), one within the other.
VecL highest_of_two(const GaussianTwin& twin, Real reach) {
  VecL b(2);
  const auto best_first = [&](Real second) {
    return highest(
        [&](Real first) { return twin.log_joint((VecL(2) << first, second).finished()); }, -reach,
        reach);
  };
  b[1] = highest([&](Real second) {
    return twin.log_joint((VecL(2) << best_first(second), second).finished());
  }, -reach, reach);
  b[0] = best_first(b[1]);
  return b;
}

}  // namespace

TEST_CASE("map: the mode of dense coefficients is the support vector machine's") {
  for (std::uint64_t seed : {1, 2, 3, 4}) {
    const Data data = dense_data(30, 2, seed);
    const Problem problem = with(to_problem(data, {normal_prior(2, {0, 1})}, {}), "hinge");
    const Approximation found = run("map", problem);
    CHECK(found.climb.end == Termination::converged);
    REQUIRE(found.nodes.size() == 1);
    CHECK(found.weights[0] == 1);
    const GaussianTwin twin = gaussian_twin(data, "hinge", Vec::Constant(2, 2));
    const VecL best = highest_of_two(twin, 6);
    CHECK((outside_mean(problem, found.nodes[0]) - best.cast<double>()).norm() < 1e-5);
    const Real constant = std::log(2 * kPi * 2.0L);  // of the prior
    CHECK(std::abs(found.evidence - static_cast<double>(twin.log_joint(best) + constant)) < 1e-5);
  }
}

TEST_CASE("map: no small step from the mode leads up, whatever the likelihood") {
  for (const char* likelihood : kLikelihoods)
    for (std::uint64_t seed : {1, 2}) {
      const Data data = dense_data(60, 8, seed);
      const Problem problem =
          with(to_problem(data, {normal_prior(2, range(0, 8))}, {}), likelihood);
      const Approximation found = run("map", problem);
      INFO(std::string(likelihood));
      CHECK(found.climb.end == Termination::converged);
      const GaussianTwin twin = gaussian_twin(data, likelihood, Vec::Constant(8, 2));
      const VecL b = outside_mean(problem, found.nodes[0]).cast<Real>();
      const Real top = twin.log_joint(b);
      Noise noise(5);
      for (double length : {1e-1, 1e-2, 1e-3, 1e-4})
        for (int k = 0; k < 60; ++k) {
          const Vec step = length * noise.normals(8).normalized();
          CHECK(twin.log_joint(b + step.cast<Real>()) <
                top + 1e-5L * static_cast<Real>(length) + 1e-6L);
        }
    }
}

TEST_CASE("map: separated classes, and rows by the thousand") {
  Data data = dense_data(3000, 6);
  Problem problem = with(usual_problem(data), "hinge");
  CHECK(run("map", problem).climb.end == Termination::converged);
  for (Index i = 0; i < 3000; ++i) data.y[i] = data.x(i, 1) > 1 ? 1 : -1;
  const Approximation found = run("map", with(usual_problem(data), "hinge"));
  CHECK(found.climb.end == Termination::converged);
  CHECK(found.climb.passes < 1000);
}

// Hyper-parameters: those of the highest node of engine "gaussian".
TEST_CASE("map: hyper-parameters are where the approximate evidence is highest") {
  const Data data = dense_data(60, 4);
  const Problem problem = with(usual_problem(data), "hinge");
  CHECK(gap(run("map", problem).nodes[0].theta, climb(problem).node.theta) < 1e-3);
}

TEST_CASE("map: effects that are not integrated out are refused") {
  Shape shape;
  shape.q = 1;
  shape.groups = 8;
  const Data data = simulate(shape);
  CHECK_THROWS_AS(run("map", usual_problem(data)), InvalidInput);
}

TEST_CASE("map: covariance is the inverse Hessian in coefficients and hyper-parameters together") {
  for (const char* likelihood : kLikelihoods) {
    INFO(std::string(likelihood));
    const Data data = grouped(2);
    const Problem problem = integrated_problem(data, likelihood);
    const Approximation found = run("map", problem);
    REQUIRE(found.climb.end == Termination::converged);
    const bsvm::Node& top = found.nodes[0];
    const IntegratedTwin twin = integrated_twin(data, likelihood);
    VecL at(3);
    at << outside_mean(problem, top).cast<Real>(), top.theta.cast<Real>();
    CHECK(twin.gradient(at).norm() < 1e-3);
    const MatL covariance = inverse(twin.curvature(at));
    const Vec unit = problem.blocks[0]->unit();
    const Mat root = top.state.inverse_factor().triangularView<Eigen::Lower>();
    CHECK(Mat(top.state.inverse_factor()).isLowerTriangular(1e-12));
    CHECK(gap(unit.asDiagonal() * (root.transpose() * root) * unit.asDiagonal(),
              covariance.topLeftCorner(2, 2)) < 1e-3);
    CHECK(gap(found.theta_covariance, covariance.bottomRightCorner(1, 1)) < 1e-3);
    const Real logdet = 2 * lower_factor(covariance).diagonal().array().log().sum();
    const Real evidence = twin.value(at) + 0.5L * (3 * std::log(2 * kPi) + logdet);
    CHECK(std::abs(found.evidence - static_cast<double>(evidence)) < 1e-3);
    CHECK(top.groups.mean(0, 2) ==
          doctest::Approx(static_cast<double>(twin.effect(3, at).mean)).epsilon(1e-4));
  }
}

TEST_CASE("map: with the effects' variance known it is the Hessian in coefficients") {
  const Data data = grouped(2);
  const Problem problem = with(
      to_problem(data, {normal_prior(3, {0, 1})}, {normal_prior(0.8, {0})}), "hinge", 0);
  const Approximation found = run("map", problem);
  CHECK(found.climb.end == Termination::converged);
  CHECK(found.theta_covariance.size() == 0);
  CHECK(found.evidence == found.nodes[0].log_density);
}

// ---- engine "gaussian" as a whole

namespace {

Mat mixed_covariance(const Problem& problem, const Approximation& found, Vec& mean) {
  mean = Vec::Zero(problem.columns());
  Mat second = Mat::Zero(problem.columns(), problem.columns());
  for (size_t k = 0; k < found.nodes.size(); ++k) {
    const Vec own = outside_mean(problem, found.nodes[k]);
    const Mat root = Mat(found.nodes[k].state.inverse_factor().triangularView<Eigen::Lower>()) *
                     problem.blocks[0]->unit().asDiagonal();
    mean += found.weights[k] * own;
    second += found.weights[k] * (root.transpose() * root + own * own.transpose());
  }
  return second - mean * mean.transpose();
}

}  // namespace

// One coefficient and its prior's variance, both unknown: everything by quadrature.
TEST_CASE("gaussian: evidence and moments, a variance unknown, against quadrature") {
  for (const char* likelihood : kLikelihoods) {
    INFO(std::string(likelihood));
    Data data = dense_data(50, 2);
    const Problem problem =
        with(to_problem(data, {normal_prior(2, {0}), ridge_prior(1.5, 1, {1})}, {}), likelihood);
    const Approximation found = run("gaussian", problem);
    CHECK(found.climb.end == Termination::converged);
    CHECK(found.nodes.size() > 3);
    Vec mean;
    const Mat covariance = mixed_covariance(problem, found, mean);
    Real total = 0, theta_first = 0, theta_second = 0, top = 0;
    Vec first = Vec::Zero(2), second = first;
    for (int t = -20; t <= 40; ++t) {
      const Real log_s = 0.1L * t - 0.2L, s2 = std::exp(2 * log_s);
      const GaussianTwin twin =
          gaussian_twin(data, likelihood, (Vec(2) << 2, static_cast<double>(s2)).finished());
      const Real prior = log_inverse_gamma(s2, 1.5L, 1) + std::log(2 * s2);
      for (int i = -24; i <= 24; ++i)
        for (int j = -24; j <= 24; ++j) {
          const Vec b = mean + (Vec(2) << i * std::sqrt(covariance(0, 0)),
                                j * std::sqrt(covariance(1, 1))).finished() / 4;
          const Real value = twin.log_joint(b.cast<Real>()) + prior;
          if (top == 0) top = found.evidence;
          const Real mass = std::exp(value - top);
          total += mass;
          first += static_cast<double>(mass) * b;
          second += static_cast<double>(mass) * b.cwiseAbs2();
          theta_first += mass * log_s;
          theta_second += mass * log_s * log_s;
        }
    }
    first /= static_cast<double>(total);
    second = second / static_cast<double>(total) - first.cwiseAbs2();
    const Real cell = 0.1L * std::sqrt(covariance(0, 0) * covariance(1, 1)) / 16;
    CHECK(std::abs(std::log(total * cell)) < 0.06);
    for (Index j = 0; j < 2; ++j) {
      CHECK(std::abs(mean[j] - first[j]) < 0.06 * std::sqrt(second[j]));
      CHECK(std::sqrt(covariance(j, j) / second[j]) == doctest::Approx(1).epsilon(0.05));
    }
    const Real theta_mean = theta_first / total;
    const double variance =
        static_cast<double>(theta_second / total - theta_mean * theta_mean);
    double theta = 0;
    for (size_t k = 0; k < found.nodes.size(); ++k)
      theta += found.weights[k] * found.nodes[k].theta[0];
    CHECK(std::abs(theta - static_cast<double>(theta_mean)) < 0.15 * std::sqrt(variance));
    CHECK(found.theta_covariance(0, 0) == doctest::Approx(variance).epsilon(0.25));
  }
}

TEST_CASE("gaussian: which conditional it takes, and what each node holds") {
  const Data data = grouped(2);
  const Approximation eliminated = run("gaussian", with(usual_problem(data), "hinge"));
  const Approximation out = run("gaussian", integrated_problem(data, "hinge"));
  for (const Approximation* found : {&eliminated, &out}) {
    CHECK(found->weights.sum() == doctest::Approx(1).epsilon(1e-12));
    CHECK(found->passes >= found->climb.passes);
    for (const bsvm::Node& node : found->nodes) {
      CHECK(node.groups.mean.cols() == 6);
      CHECK(node.state.begun());
    }
  }
  CHECK(eliminated.nodes[0].theta.size() == 2);
  CHECK(out.nodes[0].theta.size() == 1);
  // Groups belong to their nodes: the wider the prior the less they shrink.
  CHECK(out.nodes.front().groups.mean.norm() < out.nodes.back().groups.mean.norm());
}

TEST_CASE("gaussian: a likelihood without an expected logarithm is refused") {
  const Data data = dense_data(30, 2);
  Problem problem = usual_problem(data);
  class Nothing : public Likelihood {
    bool supports(Use) const override { return false; }
    void terms(Use, const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
               const Eigen::Ref<const Arr>&, RowTerms&) const override {}
  };
  problem.likelihood.reset(new Nothing);
  CHECK_THROWS_AS(run("gaussian", problem), InvalidInput);
}

// From the first pass to the last: once asked to stop the host goes on asking. (The mode of dense
// coefficients is no fit before it is found.)
TEST_CASE("gaussian: interrupted anywhere, there is a fit of one node, or none") {
  const Data dense = dense_data(60, 3), groups = grouped(2);
  std::vector<Problem> problems;
  problems.push_back(with(usual_problem(dense), "hinge"));
  problems.push_back(with(usual_problem(groups), "hinge"));
  problems.push_back(integrated_problem(groups, "hinge"));
  for (const char* engine : {"gaussian", "map"})
    for (const Problem& problem : problems) {
      if (std::string(engine) == "map" && problem.integrated < 0) continue;
      ImpatientHost counting(1000000);
      run(engine, problem, counting);
      int fits = 0;
      for (int k = 1; k < 12; ++k) {
        ImpatientHost host(counting.calls * k / 12);
        INFO(std::string(engine), " integrated ", problem.integrated, " calls ", host.calls);
        try {
          const Approximation found = run(engine, problem, host);
          CHECK(found.nodes.size() == 1);
          CHECK(found.climb.end == Termination::interrupted);
          CHECK(std::isfinite(found.evidence));
          ++fits;
        } catch (const Interrupted&) {
          CHECK(k < 4);  // before there was one
        }
      }
      CHECK(fits > 7);
    }
}

TEST_CASE("gaussian: threads do not change a bit") {
  const Data data = grouped(3, 3000);
  for (const Problem& problem :
       {with(usual_problem(data), "hinge"), integrated_problem(data, "hinge")}) {
    Host host;
    const Approximation one = run("gaussian", problem, host);
    const Approximation four = run("gaussian", problem, host, Options(), 4);
    REQUIRE(one.nodes.size() == four.nodes.size());
    CHECK(one.evidence == four.evidence);
    CHECK(one.weights == four.weights);
    for (size_t k = 0; k < one.nodes.size(); ++k) {
      CHECK(same_bits(one.nodes[k].state.x, four.nodes[k].state.x));
      CHECK(same_bits(one.nodes[k].groups.mean, four.nodes[k].groups.mean));
    }
  }
}
