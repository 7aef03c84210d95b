// Gaussian variational inference on dense coefficients, against its bound written once more.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "densities.hpp"
#include "fitting.hpp"
#include "gaussian/dense_ascent.hpp"
#include "gaussian_twin.hpp"
#include "hosts.hpp"
#include "parameter_data.hpp"

using namespace bsvm_test;

namespace {

Data data_of(Index n, Index p, std::uint64_t seed = 3) {
  Shape shape;
  shape.n = n;
  shape.p = p;
  shape.seed = seed;
  return simulate(shape);
}

Vec variances(Index p) {
  Vec out = Vec::Constant(p, 2.5);
  out[0] = 100;
  return out;
}

Problem known(const Data& data, const char* likelihood) {
  const Index p = data.shape.p;
  Problem out = to_problem(data, {normal_prior(100, {0}), normal_prior(2.5, range(1, p))}, {});
  out.likelihood = Registry<Likelihood>::make(likelihood, Params());
  return out;
}

Problem unknown(const Data& data, const char* likelihood) {
  Problem out = usual_problem(data);
  out.likelihood = Registry<Likelihood>::make(likelihood, Params());
  return out;
}

MatL root_of(const Top& top) { return lower_factor(full_covariance(top.outside)); }

}  // namespace

TEST_CASE("dense ascent: the bound is E log p - log q, in closed form and by simulation") {
  for (const char* likelihood : kLikelihoods) {
    INFO(likelihood);
    const Data data = data_of(60, 4);
    const Top top = climb(known(data, likelihood));
    REQUIRE(top.progress.end == Termination::converged);
    const GaussianTwin twin = gaussian_twin(data, likelihood, variances(4));
    const Real bound = twin.bound(full_mean(top.outside), root_of(top));
    CHECK(gap(top.node.log_density, bound) < 1e-12);
    CHECK(gap(top.progress.trace.back().bound, bound) < 1e-12);
    const Estimate found = simulated_bound(twin, full_mean(top.outside), root_of(top), 20000);
    CHECK(std::abs(found.mean - bound) < 4 * found.error);
    CHECK(found.error < 0.02);
  }
}

TEST_CASE("dense ascent: the bound's gradient in mean and Cholesky factor vanishes") {
  for (const char* likelihood : kLikelihoods)
    for (std::uint64_t seed : {3, 4}) {
      INFO(likelihood);
      const Data data = data_of(40, 3, seed);
      const Top top = climb(known(data, likelihood));
      CHECK(top.progress.end == Termination::converged);
      const GaussianTwin twin = gaussian_twin(data, likelihood, variances(3));
      CHECK(twin.gradient(full_mean(top.outside), root_of(top)).norm() < 1e-6);
    }
}

TEST_CASE("dense ascent: more columns than rows need no rotation") {
  const Data data = data_of(12, 18);
  const Top top = climb(known(data, "hinge"));
  CHECK(top.progress.end == Termination::converged);
  const GaussianTwin twin = gaussian_twin(data, "hinge", variances(18));
  CHECK(gap(top.node.log_density, twin.bound(full_mean(top.outside), root_of(top))) < 1e-11);
  const VecL slope = twin.slope(full_mean(top.outside), full_covariance(top.outside));
  const MatL precision = twin.precision(full_mean(top.outside), full_covariance(top.outside));
  CHECK((root_of(top).transpose() * slope).norm() < 1e-6);
  CHECK(gap(inverse(full_covariance(top.outside)), precision) < 1e-6);
}

// All rows are on the kink where the slope jumps up: their weights are below zero.
TEST_CASE("dense ascent: rows of negative weight do no harm") {
  Data data = data_of(6, 1);
  data.y << 1, -1, 1, -1, 1, -1;
  data.weight.setOnes();
  data.offset = -data.y;
  Problem problem = to_problem(data, {normal_prior(0.02, {0})}, {});
  problem.likelihood = Registry<Likelihood>::make("hinge_normalized", Params());
  const Top top = climb(problem);
  CHECK(top.progress.end == Termination::converged);
  const GaussianTwin twin = gaussian_twin(data, "hinge_normalized", Vec::Constant(1, 0.02));
  CHECK(twin.gradient(full_mean(top.outside), root_of(top)).norm() < 1e-6);
  CHECK(top.outside.covariance(0, 0) > 0.022);
}

// Far from the optimum they leave no precision to begin with.
TEST_CASE("dense ascent: a far start is one") {
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    const Data data = data_of(50, 3, seed);
    Options options = close_options();
    options.start = Vec::Constant(3, 20.0);
    const Top top = climb(unknown(data, "hinge_normalized"), false, options);
    CHECK(top.progress.end == Termination::converged);
    const double expected = climb(unknown(data, "hinge_normalized")).node.log_density;
    CHECK(top.node.log_density == doctest::Approx(expected).epsilon(1e-10));
  }
}

TEST_CASE("dense ascent: never below the augmented bound of the same variances") {
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    const Data data = data_of(50, 3, seed);
    const Problem problem = known(data, "hinge");
    const double augmented = fit(problem).result.bound;
    const double expected = climb(problem).node.log_density;
    CHECK(expected > augmented + 0.01);
    CHECK(expected < augmented + 20);
  }
}

TEST_CASE("dense ascent: a bound that falls is not gone on from") {
  for (const char* likelihood : kLikelihoods)
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
      const Data data = data_of(50, 3, seed);
      Options options;
      options.start = Vec::Constant(3, 20.0);
      const std::vector<TraceEntry> trace =
          climb(unknown(data, likelihood), false, options).progress.trace;
      const bool concave = std::string(likelihood) == "hinge";
      double best = -std::numeric_limits<double>::infinity();
      for (size_t k = 0; k + 1 < trace.size(); ++k) {
        if (!concave && trace[k + 1].step == 1 && trace[k].bound < best) break;  // a new start
        const bool fell = trace[k].bound < best - 1e-12 * (1 + std::abs(best));
        if (fell) CHECK(trace[k + 1].step < trace[k].step);
        best = std::max(best, trace[k].bound);
      }
    }
}

TEST_CASE("dense ascent: twenty starts end in one place, and soon") {
  const Data data = data_of(60, 4);
  const Problem problem = known(data, "hinge");
  const Top expected = climb(problem);
  Noise draws(21);
  for (int k = 0; k < 20; ++k) {
    Options options = close_options();
    options.start = 5 * draws.normals(4);
    const Top found = climb(problem, false, options);
    CHECK(found.progress.end == Termination::converged);
    CHECK(found.progress.passes < 120);
    CHECK(gap(found.node.log_density, expected.node.log_density) < 1e-12);
    CHECK(gap(full_mean(found.outside), full_mean(expected.outside)) < 1e-6);
    CHECK(gap(full_covariance(found.outside), full_covariance(expected.outside)) < 1e-6);
  }
}

// Where there are several maxima the highest of those it has seen.
TEST_CASE("dense ascent: what is not concave is climbed from several places") {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Data data = data_of(10, 3, seed);
    const Top top = climb(known(data, "hinge_normalized"));
    double best = -std::numeric_limits<double>::infinity();
    for (const TraceEntry& entry : top.progress.trace) best = std::max(best, entry.bound);
    CHECK(top.node.log_density == doctest::Approx(best).epsilon(1e-9));
    // Climbs from elsewhere begin far below where the last one ended.
    const auto& trace = top.progress.trace;
    int others = 0;
    for (size_t k = 1; k < trace.size(); ++k)
      others += trace[k - 1].bound > best - 0.2 && trace[k].bound < best - 1;
    CHECK(others == kMoreStarts);
  }
}

TEST_CASE("dense ascent: a weight of two is a row twice") {
  for (const char* likelihood : kLikelihoods) {
    Data once = data_of(30, 3);
    once.weight.setConstant(2);
    Data twice = once;
    twice.shape.n = 60;
    twice.weight = Vec::Ones(60);
    twice.x = once.x.replicate(2, 1);
    twice.y = once.y.replicate(2, 1);
    twice.offset = once.offset.replicate(2, 1);
    for (bool matched : {false, true}) {
      const Top a = climb(known(once, likelihood), matched);
      const Top b = climb(known(twice, likelihood), matched);
      CHECK(gap(a.node.log_density, b.node.log_density) < 1e-11);
      CHECK(gap(a.outside.mean, b.outside.mean) < 1e-6);
      CHECK(gap(a.outside.covariance, b.outside.covariance) < 1e-6);
    }
  }
}

TEST_CASE("dense ascent: columns in other units are the same model") {
  Data data = data_of(40, 3), other = data;
  other.x.col(1) = 1000 * data.x.col(1).array() + 3;
  other.x.col(2) *= 0.001;
  other.center[1] = 1000 * data.center[1] + 3;
  other.scale[1] *= 1000;
  other.center[2] *= 0.001;
  other.scale[2] *= 0.001;
  const Top a = climb(unknown(data, "hinge")), b = climb(unknown(other, "hinge"));
  CHECK(gap(a.node.log_density, b.node.log_density) < 1e-11);
  CHECK(gap(a.outside.mean, b.outside.mean) < 1e-6);
}

// ---- hyper-parameters

namespace {

// E log p(b | s) + log p(log s) of the ridge prior on columns 1 ..
Real ridge_share(const Top& top, Real log_s) {
  const Real s2 = std::exp(2 * log_s);
  Real sum = log_inverse_gamma(s2, 0.7L, 0.4L) + std::log(2 * s2);
  for (Index j = 1; j < top.outside.mean.size(); ++j) {
    const Real square = top.outside.mean[j] * top.outside.mean[j] + top.outside.covariance(j, j);
    sum += -0.5L * (std::log(2 * kPi * s2) + square / s2);
  }
  return sum;
}

}  // namespace

TEST_CASE("dense ascent: the climb ends where hyper-parameters are best too") {
  for (const char* likelihood : kLikelihoods) {
    const Data data = data_of(50, 4);
    const Top top = climb(unknown(data, likelihood));
    REQUIRE(top.progress.end == Termination::converged);
    REQUIRE(top.node.theta.size() == 1);
    const Real log_s = top.node.theta[0], h = 1e-6L;
    const Real slope = (ridge_share(top, log_s + h) - ridge_share(top, log_s - h)) / (2 * h);
    CHECK(std::abs(slope) < 1e-6);
    CHECK(std::abs(top.node.pull[0]) < 1e-6);
    Vec variance = variances(4);
    variance.tail(3).setConstant(std::exp(2 * static_cast<double>(log_s)));
    const GaussianTwin twin = gaussian_twin(data, likelihood, variance);
    const Real s2 = variance[1];
    CHECK(gap(top.node.log_density, twin.bound(full_mean(top.outside), root_of(top)) +
                                        log_inverse_gamma(s2, 0.7L, 0.4L) + std::log(2 * s2)) <
          1e-11);
  }
}

TEST_CASE("dense ascent: nodes beside the top are what their variance alone gives") {
  for (const char* likelihood : kLikelihoods) {
    const Data data = data_of(50, 4);
    const Problem problem = unknown(data, likelihood);
    Host host;
    const auto conditional = ascent(problem, close_options(), host);
    const Node top = conditional->climb();
    Node last = top;
    for (double step : {0.6, 1.2, -0.8}) {
      last = conditional->at(top.theta.array() + step, last);
      const double s2 = std::exp(2 * last.theta[0]);
      Problem fixed =
          to_problem(data, {normal_prior(100, {0}), normal_prior(s2, range(1, 4))}, {});
      fixed.likelihood = Registry<Likelihood>::make(likelihood, Params());
      const Top expected = climb(fixed);
      const Real prior = log_inverse_gamma(s2, 0.7L, 0.4L) + std::log(2 * Real(s2));
      CHECK(std::abs(last.log_density - static_cast<double>(expected.node.log_density + prior)) <
            1e-3);
      const Vec sd = expected.outside.covariance.diagonal().cwiseSqrt();
      const OutsideMoments found = Coefficients(problem).outside(last.state, last.groups);
      CHECK((found.mean - expected.outside.mean).cwiseQuotient(sd).norm() < 0.1);
      CHECK(gap(found.covariance, expected.outside.covariance) < 0.1);
    }
  }
}

TEST_CASE("dense ascent: curvature is about the second difference of the nodes' densities") {
  Shape shape;
  shape.n = 200;
  shape.p = 9;
  const Data data = simulate(shape);
  const Problem problem =
      to_problem(data, {normal_prior(100, {0}), ridge_prior(2, 1, {1, 2, 3, 4}),
                        {"half_t", Params("half_t", {{"df", 3}, {"scale", 1}}), {5, 6, 7, 8}, 0}},
                 {});
  Host host;
  const auto conditional = ascent(problem, close_options(), host, true);
  const Node top = conditional->climb();
  const Mat curvature = conditional->curvature(top);
  const double h = 0.4;
  for (Index k = 0; k < 2; ++k) {
    const Node up = conditional->at(top.theta + h * Vec::Unit(2, k), top);
    const Node down = conditional->at(top.theta - h * Vec::Unit(2, k), top);
    const double found = (2 * top.log_density - up.log_density - down.log_density) / (h * h);
    CHECK(curvature(k, k) == doctest::Approx(found).epsilon(0.2));
  }
  CHECK(curvature(0, 1) == curvature(1, 0));
}

// Few rows, so that priors matter: a node's q is where its own theta has it, and what comes next is
// the end.
TEST_CASE("dense ascent: at the theta it comes from a node is known after two looks") {
  Shape shape;
  shape.n = 15;
  shape.p = 5;
  const Data data = simulate(shape);
  const Problem problem = to_problem(data, {normal_prior(2, {0}), ridge_prior(3, 1, {1, 2, 3, 4})},
                                     {});
  Host host;
  const auto conditional = ascent(problem, close_options(), host, true);
  const Node top = conditional->climb();
  const int before = conditional->progress().passes;
  const Node again = conditional->at(top.theta, top);
  CHECK(conditional->progress().passes <= before + 2);
  CHECK(again.bound == doctest::Approx(top.bound).epsilon(1e-6));
}

TEST_CASE("dense ascent: threads do not change a bit") {
  Shape shape;
  shape.n = 9000;
  shape.p = 5;
  const Data data = simulate(shape);
  const Problem problem = usual_problem(data);
  Host host;
  const Node one = ascent(problem, Options(), host, true, 1)->climb();
  const Node four = ascent(problem, Options(), host, true, 4)->climb();
  CHECK(same_bits(one.state.x, four.state.x));
  CHECK(one.log_density == four.log_density);
}

TEST_CASE("dense ascent: interrupted, it is as far as it came") {
  const Data data = data_of(60, 4);
  const Problem problem = unknown(data, "hinge");
  const double best = climb(problem).node.log_density;
  double before = -std::numeric_limits<double>::infinity();
  for (int patience : {6, 12, 18}) {
    ImpatientHost host(patience);
    const auto conditional = ascent(problem, close_options(), host);
    const Node node = conditional->climb();
    CHECK(conditional->progress().end == Termination::interrupted);
    CHECK(node.log_density >= before);
    CHECK(node.log_density < best + 0.01);
    before = node.log_density;
  }
}

// Large enough for the host to be asked within a product.
TEST_CASE("dense ascent: interrupted between two passes, it keeps the best so far") {
  const Data data = data_of(60, 780);
  const Problem problem = unknown(data, "hinge");
  for (int patience = 120; patience < 700; patience += 83) {
    ImpatientHost host(patience);
    const auto conditional = ascent(problem, close_options(), host);
    const Node node = conditional->climb();
    const auto& trace = conditional->progress().trace;
    double best = trace[0].bound;
    for (const auto& step : trace) best = std::max(best, step.bound);
    CHECK(conditional->progress().end == Termination::interrupted);
    CHECK(node.log_density == best);
    CHECK(node.state.x.allFinite());
  }
}

TEST_CASE("dense ascent: the pass limit is one, and is said") {
  const Data data = data_of(60, 4);
  Options options = close_options();
  options.max_passes = 7;
  const Top top = climb(unknown(data, "hinge"), true, options);
  CHECK(top.progress.end == Termination::pass_limit);
  CHECK(top.progress.passes == 7);
}

// Noise a hundredth of what the coefficients explain, many rows, and an inferred scale that starts
// at one: from there q has to become a hundred times narrower.
TEST_CASE("dense ascent: far from its scale it comes as near as from the mean that is best") {
  Shape shape;
  shape.n = 1500;
  shape.p = 12;
  NumberData numbers(shape);
  Noise noise(9);
  const Vec b = 3 * noise.normals(shape.p);
  Vec exponential = noise.normals(shape.n).cwiseAbs2();
  numbers.data.y = numbers.data.design() * b + numbers.data.offset + 0.02 * exponential;
  for (const bool both : {false, true}) {
    CAPTURE(both);
    const Problem problem = numbers.problem(both);
    Options options;
    const Top afar = climb(problem, false, options);
    REQUIRE(afar.progress.end == Termination::converged);
    CHECK(afar.progress.passes < 150);
    options.start = full_mean(afar.outside).cast<double>();
    const Top near = climb(problem, false, options);
    REQUIRE(near.progress.end == Termination::converged);
    CHECK(gap(afar.node.bound, near.node.bound) < 1e-9);
    CHECK(std::exp(afar.node.theta.tail(both ? 2 : 1)[0]) < 0.1);
  }
}
