// The estimators as a whole: scales that are learnt, the papers' plain iteration, several starts.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "hosts.hpp"
#include "oracle.hpp"
#include "point/estimator.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

constexpr double kShape = 1.5, kRate = 0.7;

Data dense_data(Index n, Index p, std::uint64_t seed = 1) {
  Shape shape;
  shape.n = n;
  shape.p = p;
  shape.seed = seed;
  return simulate(shape);
}

PriorSpec bridge_prior(double alpha, double nu, std::vector<Index> columns) {
  const Params params("bridge", {{"alpha", alpha}, {"nu", nu}, {"shape", kShape}, {"rate", kRate}});
  return {"bridge", params, std::move(columns)};
}

// A flat intercept and one bridge block; nu = 0: unknown.
Problem bridge_problem(const Data& data, double alpha, double nu) {
  return with(to_problem(data, {normal_prior(1e8, {0}),
                                bridge_prior(alpha, nu, range(1, data.shape.p))}, {}), "hinge");
}

Estimate estimate(const Problem& problem, bool accelerate = true,
                  const EstimateOptions& options = EstimateOptions(), Host&& host = Host()) {
  const Params params("em", {{"accelerate", accelerate ? 1.0 : 0.0}});
  return Registry<Estimator>::make("ecme", params)->run(problem, options, host);
}

// Minus the log of the joint density of b and lambda = nu^-alpha, up to a constant: the hinges,
// lambda sum |b_j|^alpha - (k / alpha) log lambda, and lambda's Gamma law.
double joint(const Data& data, double alpha, const Vec& b, double lambda) {
  double sum = b[0] * b[0] / 2e8;
  const Vec f = data.design() * b + data.offset;
  for (Index i = 0; i < f.size(); ++i)
    sum += 2 * data.weight[i] * std::max(0.0, 1 - data.y[i] * f[i]);
  const double k = static_cast<double>(b.size()) - 1;
  const double penalty = b.tail(b.size() - 1).array().abs().pow(alpha).sum();
  return sum + lambda * penalty - (k / alpha + kShape - 1) * std::log(lambda) + kRate * lambda;
}

double lambda_of(const Estimate& found, double alpha) {
  return std::pow(found.hyper[1][0], -alpha);
}

}  // namespace

TEST_CASE("point em: a learnt scale is stationary in the joint density, by finite differences") {
  for (double alpha : {2.0, 1.0, 1.5, 0.7}) {
    const Data data = dense_data(150, 6);
    const Problem problem = bridge_problem(data, alpha, 0);
    const Estimate found = estimate(problem);
    INFO("alpha ", alpha);
    CHECK(found.end == Termination::converged);
    const double lambda = lambda_of(found, alpha);
    const auto at = [&](double x) { return joint(data, alpha, found.coefficients, lambda * x); };
    CHECK(std::abs(at(1) - found.objective) < 1e-9 * std::abs(found.objective));
    const double slope = (at(1 + 1e-4) - at(1 - 1e-4)) / 2e-4;
    CHECK(std::abs(slope) < 1e-5);
    // The misprinted CME-step, whose nu^-alpha is the other's inverse.
    const double printed = 1 / (lambda * lambda);
    CHECK(std::abs(at(printed + 1e-4) - at(printed - 1e-4)) / 2e-4 > 1e-2);
    // Nor does the best b at scales nearby do better.
    for (double near : {0.98, 1.02}) {
      const double nu = found.hyper[1][0] * near;
      const Estimate beside = estimate(bridge_problem(data, alpha, nu));
      CHECK(joint(data, alpha, beside.coefficients, std::pow(nu, -alpha)) > found.objective - 1e-7);
    }
  }
}

TEST_CASE("point em: given the learnt scale, the same coefficients; alpha = 2 is ridge") {
  const Data data = dense_data(150, 6);
  const Estimate learnt = estimate(bridge_problem(data, 2, 0));
  const double nu = learnt.hyper[1][0];
  const Estimate given = estimate(bridge_problem(data, 2, nu));
  CHECK(gap(learnt.coefficients, given.coefficients) < 1e-5);
  const PriorSpec slopes = normal_prior(nu * nu / 2, range(1, 6));
  const Problem ridge = with(to_problem(data, {normal_prior(1e8, {0}), slopes}, {}), "hinge");
  const Estimate same = estimate(ridge);
  CHECK(gap(same.coefficients, given.coefficients) < 1e-8);
  CHECK(std::abs(same.objective - given.objective) < 1e-9 * same.objective);
}

TEST_CASE("point em: two scales are learnt together") {
  const Data data = dense_data(200, 8);
  const PriorSpec few = bridge_prior(1, 0, range(1, 4)), more = bridge_prior(1, 0, range(4, 8));
  const Problem problem = with(to_problem(data, {normal_prior(1e8, {0}), few, more}, {}), "hinge");
  const Estimate found = estimate(problem);
  CHECK(found.end == Termination::converged);
  for (int k : {1, 2}) {
    const Vec b = k == 1 ? found.coefficients.segment(1, 3) : found.coefficients.segment(4, 4);
    const double count = static_cast<double>(b.size()) + kShape - 1;
    CHECK(std::abs(found.hyper[k][0] - (kRate + b.cwiseAbs().sum()) / count) < 1e-6);
  }
}

TEST_CASE("point em: the plain iteration never rises and ends at the same optimum") {
  for (double alpha : {2.0, 1.5, 1.0}) {
    const Data data = dense_data(100, 5);
    const Problem problem = bridge_problem(data, alpha, 0.5);
    const Estimate quick = estimate(problem);
    EstimateOptions options;
    options.tolerance = 1e-13;
    options.max_passes = 20000;
    const Estimate plain = estimate(problem, false, options);
    INFO("alpha ", alpha);
    for (size_t k = 1; k < plain.trace.size(); ++k)
      CHECK(plain.trace[k].objective <= plain.trace[k - 1].objective * (1 + 1e-10));
    CHECK(plain.objective >= quick.objective * (1 - 1e-9));
    CHECK(plain.objective <= quick.objective * (1 + 1e-5));
    CHECK(plain.gap < 1e-3);  // by multipliers of its own
    CHECK(plain.gap > 0);
  }
}

TEST_CASE("point em: the plain iteration learns the scale too, and never rises") {
  const Data data = dense_data(100, 5);
  const Problem problem = bridge_problem(data, 1, 0);
  EstimateOptions options;
  options.tolerance = 1e-13;
  options.max_passes = 20000;
  const Estimate plain = estimate(problem, false, options), quick = estimate(problem);
  for (size_t k = 1; k < plain.trace.size(); ++k)
    CHECK(plain.trace[k].objective <= plain.trace[k - 1].objective + 1e-8);
  CHECK(std::abs(plain.hyper[1][0] - quick.hyper[1][0]) < 1e-2 * quick.hyper[1][0]);
}

TEST_CASE("point em: of several starts the best is kept, the same for the same seed") {
  const Data data = dense_data(80, 8);
  const Problem problem = bridge_problem(data, 0.3, 0.02);
  EstimateOptions options;
  options.starts = 6;
  options.seed = 11;
  const Estimate found = estimate(problem, true, options), again = estimate(problem, true, options);
  REQUIRE(found.optima.size() == 6);
  for (double each : found.optima) CHECK(each >= found.objective);
  CHECK(found.coefficients == again.coefficients);
  CHECK_FALSE(found.certified);
  options.starts = 1;
  CHECK(estimate(problem, true, options).objective == found.optima[0]);
}

TEST_CASE("point em: an interrupt at any time keeps what there is, or says that there is nothing") {
  const Data data = dense_data(60, 5);
  EstimateOptions options;
  options.starts = 3;
  for (bool accelerate : {false, true})
    for (double alpha : {1.5, 0.7}) {
      INFO("accelerate ", accelerate, " alpha ", alpha);
      const Problem problem = bridge_problem(data, alpha, 0);
      bool stopped = true, kept = false;
      for (int patience = 0; stopped; patience += 1 + patience / 4) {
        try {
          const Estimate found = estimate(problem, accelerate, options, ImpatientHost(patience));
          stopped = found.end == Termination::interrupted;
          kept = true;
          CHECK(found.coefficients.size() == data.shape.p);
          CHECK(found.coefficients.allFinite());
          CHECK(std::isfinite(found.objective));
        } catch (const Interrupted&) {
          CHECK_FALSE(kept);
        }
      }
      if (!accelerate)
        CHECK_THROWS_AS(estimate(problem, false, options, ImpatientHost(0)), Interrupted);
    }
}

TEST_CASE("point em: what it can't take is refused") {
  const Data data = dense_data(40, 3);
  const PriorSpec inferred = ridge_prior(1, 1, {1, 2});
  const Problem ridge = with(to_problem(data, {normal_prior(1, {0}), inferred}, {}), "hinge");
  CHECK_THROWS_AS(estimate(ridge), InvalidInput);
  const Problem normalised = with(to_problem(data, {normal_prior(1, {0, 1, 2})}, {}),
                                  "hinge_normalized");
  CHECK_THROWS_AS(estimate(normalised), InvalidInput);
}

TEST_CASE("point em: multipliers outside the margin are zero, inside all they can be") {
  const Data data = dense_data(120, 4);
  const Estimate found = estimate(bridge_problem(data, 1, 0.5));
  const Vec f = data.design() * found.coefficients + data.offset;
  int margin = 0;
  for (Index i = 0; i < f.size(); ++i) {
    const double u = 1 - data.y[i] * f[i], a = found.multipliers[i], most = 2 * data.weight[i];
    if (u > 1e-6) CHECK(a == most);
    if (u < -1e-6) CHECK(a == 0);
    margin += a > 0 && a < most;
  }
  CHECK(margin >= 1);
  CHECK(margin <= 4);
}
