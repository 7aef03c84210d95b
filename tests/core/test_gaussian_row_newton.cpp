// Newton's method in numbers of the rows: against the other ascent of the same bound, and its
// moments against the exact posterior.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "fitting.hpp"
#include "forward_source.hpp"
#include "gaussian/dense_ascent.hpp"
#include "gaussian/row_newton.hpp"
#include "gaussian_twin.hpp"
#include "rows/make_source.hpp"

using namespace bsvm_test;

namespace {

Data data_of(Index n, Index p, std::uint64_t seed = 3) {
  Shape shape;
  shape.n = n;
  shape.p = p;
  shape.seed = seed;
  return simulate(shape);
}

Problem with(const Data& data, const char* likelihood, std::vector<PriorSpec> priors) {
  Problem out = to_problem(data, priors, {});
  out.likelihood = Registry<Likelihood>::make(likelihood, Params());
  return out;
}

Problem unknown(const Data& data, const char* likelihood) {
  Problem out = usual_problem(data);
  out.likelihood = Registry<Likelihood>::make(likelihood, Params());
  return out;
}

Problem known(const Data& data, const char* likelihood, double variance) {
  return with(data, likelihood, {normal_prior(variance, range(0, data.shape.p))});
}

struct Both {
  Host host;
  Options options = close_options();
  RowNewton rows;
  DenseAscent dense;
  explicit Both(const Problem& problem)
      : rows(problem, options, host),
        dense(problem, make_source(problem, Use::expected, 1), options, host) {}
};

}  // namespace

TEST_CASE("row newton: the bound's optimum is the one that dense ascent finds") {
  for (const char* likelihood : kLikelihoods)
    for (const auto& size : {std::pair<Index, Index>{30, 4}, {25, 40}}) {
      INFO(std::string(likelihood), " ", size.first, " x ", size.second);
      const Data data = data_of(size.first, size.second);
      for (const bool free : {false, true}) {
        const Problem problem = free ? unknown(data, likelihood) : known(data, likelihood, 2.5);
        Both of(problem);
        const Node found = of.rows.climb(), expected = of.dense.climb();
        CHECK(of.rows.progress().end == Termination::converged);
        CHECK(gap(of.rows.progress().trace.back().bound,
                  of.dense.progress().trace.back().bound) < 1e-9);
        if (free) CHECK(gap(found.theta, expected.theta) < 1e-5);
        CHECK(of.rows.progress().trace.size() < 70);
        CHECK(of.rows.progress().trace.size() < of.dense.progress().trace.size());
      }
    }
}

TEST_CASE("row newton: the curvature is that of the best bound in theta") {
  for (const char* likelihood : kLikelihoods) {
    INFO(likelihood);
    const Data data = data_of(30, 6);
    const Problem problem = unknown(data, likelihood);
    Host host;
    const Options options = close_options();
    RowNewton rows(problem, options, host);
    DenseAscent dense(problem, std::unique_ptr<RowSource>(new ExpectedOnly(
                                   make_source(problem, Use::expected, 1))), options, host);
    const Node top = rows.climb(), middle = dense.climb();
    const Mat found = rows.curvature(top);
    const double by = 0.1;
    const auto height = [&](double a) {
      Node here = middle;
      for (int k = 0; k < 6; ++k)  // nodes stop at a gradient of 0.05
        here = dense.at(middle.theta + Vec::Constant(1, a), here);
      return here.log_density;
    };
    const double second = (2 * height(0) - height(by) - height(-by)) / (by * by);
    CHECK(found(0, 0) == doctest::Approx(second).epsilon(0.05));
  }
}

namespace {

// Of two coefficients, by sums over a grid.
struct Exact {
  Real evidence;
  VecL mean, sd;
};
Exact exact(const GaussianTwin& twin, const VecL& centre, const MatL& root) {
  const int half = 100;
  const Real reach = 9, top = twin.log_joint(centre);
  Real total = 0;
  VecL first = VecL::Zero(2), second = first;
  for (int i = -half; i <= half; ++i)
    for (int j = -half; j <= half; ++j) {
      VecL z(2);
      z << reach * i / half, reach * j / half;
      const VecL b = centre + product(root, z).col(0);
      const Real mass = std::exp(twin.log_joint(b) - top);
      total += mass;
      first += mass * b;
      second += mass * b.cwiseAbs2();
    }
  const Real cell = (reach / half) * (reach / half) * root(0, 0) * root(1, 1);
  const VecL mean = first / total;
  return {top + std::log(total * cell), mean, (second / total - mean.cwiseAbs2()).cwiseSqrt()};
}

OutsideMoments outside(const Problem& problem, const Node& node) {
  return Coefficients(problem).outside(node.state, GroupPosterior());
}

}  // namespace

TEST_CASE("row newton: moments at rest are nearly the exact posterior's") {
  for (const char* likelihood : kLikelihoods)
    for (const double variance : {0.3, 4.0})
      for (std::uint64_t seed : {1, 2, 3}) {
        INFO(std::string(likelihood), " variance ", variance, " seed ", seed);
        Shape shape;
        shape.n = 60;
        shape.p = 2;
        shape.seed = seed;
        shape.weights = false;
        const Data data = simulate(shape);
        const Problem problem = known(data, likelihood, variance);
        Both of(problem);
        const Node node = of.rows.climb();
        CHECK(node.matched);
        const OutsideMoments found = outside(problem, node);
        const Exact truth =
            exact(gaussian_twin(data, likelihood, Vec::Constant(2, variance)), full_mean(found),
                  lower_factor(full_covariance(found)));
        CHECK(std::abs(truth.evidence - node.log_density) < 0.05);
        for (Index j = 0; j < 2; ++j) {
          const Real sd = std::sqrt(static_cast<Real>(found.covariance(j, j)));
          CHECK(std::abs(sd / truth.sd[j] - 1) < 0.1);
          CHECK(std::abs(found.mean[j] - truth.mean[j]) < 0.04L * truth.sd[j]);
        }
      }
}

// Nodes do not depend on where others were.
TEST_CASE("row newton: a node is the same from anywhere") {
  for (const char* likelihood : kLikelihoods) {
    INFO(likelihood);
    const Data data = data_of(40, 60);
    const Problem problem = unknown(data, likelihood);
    Host host;
    const Options options;
    RowNewton one(problem, options, host), other(problem, options, host);
    const Node top = one.climb();
    other.climb();
    Node far = top;
    for (const double by : {-7.0, -3.0, 2.0, 1.0, 0.7})
      far = one.at(top.theta + Vec::Constant(1, by), far);
    const Node straight = other.at(far.theta, top);
    CHECK(gap(far.log_density, straight.log_density) < 1e-4);
    CHECK((far.state.mean() - straight.state.mean()).norm() < 0.01 * straight.state.mean().norm());
  }
}

// A row of weight two is the row twice.
TEST_CASE("row newton: weights count rows") {
  for (const char* likelihood : kLikelihoods) {
    INFO(likelihood);
    Data once = data_of(20, 5);
    once.weight.setOnes();
    Data twice = once;
    once.weight.head(5).setConstant(2);
    const Index n = 25;
    twice.shape.n = n;
    const auto append = [&](Vec& x) {
      const Vec before = x;
      x.resize(n);
      x << before, before.head(5);
    };
    append(twice.y);
    append(twice.weight);
    append(twice.offset);
    const Mat x = twice.x;
    twice.x.resize(n, 5);
    twice.x << x, x.topRows(5);
    const Problem a = known(once, likelihood, 2), b = known(twice, likelihood, 2);
    Both first(a), second(b);
    const Node found = first.rows.climb(), expected = second.rows.climb();
    CHECK(gap(found.log_density, expected.log_density) < 3e-5);
    CHECK(gap(found.state.mean(), expected.state.mean()) < 5e-3);
  }
}
