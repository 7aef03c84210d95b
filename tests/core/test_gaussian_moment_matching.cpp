// One step of expectation propagation from the optimum of the expected bound, against the exact
// posterior.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "densities.hpp"
#include "fitting.hpp"
#include "forward_source.hpp"
#include "gaussian/moment_matching.hpp"
#include "gaussian_twin.hpp"
#include "quadrature.hpp"

using namespace bsvm_test;

namespace {

Problem of(const Data& data, const char* likelihood, double variance, double group_variance = 1) {
  std::vector<PriorSpec> groups;
  for (Index a = 0; a < data.shape.q; ++a) groups.push_back(normal_prior(group_variance, {a}));
  Problem out = to_problem(data, {normal_prior(variance, range(0, data.shape.p))}, groups);
  out.likelihood = Registry<Likelihood>::make(likelihood, Params());
  return out;
}

// Of two coefficients.
struct Exact {
  Real evidence;
  VecL mean, sd;
};
Exact exact(const GaussianTwin& twin, const Top& around) {
  const int half = 100;
  const Real reach = 9;
  const VecL centre = full_mean(around.outside);
  const MatL root = lower_factor(full_covariance(around.outside));
  const Real top = twin.log_joint(centre);
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

VecL sds(const Top& top) { return full_covariance(top.outside).diagonal().cwiseSqrt(); }

}  // namespace

TEST_CASE("moment matching: evidence and sds come nearer to the exact ones") {
  for (const char* likelihood : kLikelihoods)
    for (std::uint64_t seed : {1, 2, 3}) {
      INFO(std::string(likelihood), " seed ", seed);
      Shape shape;
      shape.n = 60;
      shape.p = 2;
      shape.seed = seed;
      shape.weights = false;
      const Data data = simulate(shape);
      const Problem problem = of(data, likelihood, 4);
      const Top before = climb(problem), after = climb(problem, true);
      const Exact truth = exact(gaussian_twin(data, likelihood, Vec::Constant(2, 4)), before);
      const Real lost = truth.evidence - before.node.log_density;
      CHECK(lost > 0.01);
      // Of the normalised one less is gained: its rows bend more smoothly.
      const Real left = std::string(likelihood) == "hinge" ? 0.6L : 0.92L;
      CHECK(std::abs(truth.evidence - after.node.log_density) < left * lost);
      for (Index j = 0; j < 2; ++j) {
        CHECK(sds(before)[j] < truth.sd[j]);
        CHECK(std::abs(sds(after)[j] - truth.sd[j]) < truth.sd[j] - sds(before)[j]);
        CHECK(std::abs(after.outside.mean[j] - truth.mean[j]) < 0.05L * truth.sd[j]);
      }
    }
}

// Every row at a place where log p is a line: q is the prior, moved.
TEST_CASE("moment matching: where rows do not bend q stays") {
  Shape shape;
  shape.n = 20;
  shape.p = 3;
  Data data = simulate(shape);
  data.weight *= 0.05;
  data.offset = -60 * data.y;
  const Problem problem = of(data, "hinge", 0.1);
  const Top before = climb(problem), after = climb(problem, true);
  CHECK(gap(after.outside.mean, before.outside.mean) < 1e-8);
  CHECK(gap(after.outside.covariance, 0.1 * Mat::Identity(3, 3)) < 1e-8);
  CHECK(gap(after.node.log_density, before.node.log_density) < 1e-10);
}

namespace {

// Random intercepts integrated out one by one, then the one coefficient: exact.
Real exact_evidence(const Data& data, const char* likelihood, Real variance, Real group_variance) {
  const auto at = [&](Real b) {
    Real sum = log_normal(b, variance);
    for (int g = 1; g <= data.shape.groups; ++g) {
      std::vector<Index> rows;
      for (Index i = 0; i < data.shape.n; ++i)
        if (data.group[i] == g) rows.push_back(i);
      const Index r = static_cast<Index>(rows.size());
      if (r == 0) continue;
      RowsData own{Vec(r), Vec(r), Vec(r), Vec::Ones(r), Mat(0, r)};
      for (Index k = 0; k < r; ++k) {
        own.y[k] = data.y[rows[k]];
        own.weight[k] = data.weight[rows[k]];
        own.o[k] = data.offset[rows[k]] + static_cast<double>(b);
      }
      sum += brute_force(law_of(likelihood), own, std::sqrt(group_variance), {}, 6).value;
    }
    return sum;
  };
  const Real top = at(0);
  return top + std::log(trapezoid([&](Real b) { return std::exp(at(b) - top); }, -6, 6, 48));
}

}  // namespace

TEST_CASE("moment matching: group effects that are eliminated take part") {
  for (const char* likelihood : kLikelihoods) {
    Shape shape;
    shape.n = 24;
    shape.p = 1;
    shape.q = 1;
    shape.ones = true;
    shape.groups = 5;
    shape.weights = false;
    const Data data = simulate(shape);
    const Problem problem = of(data, likelihood, 2, 1.5);
    const Top before = climb(problem), after = climb(problem, true);
    const Real truth = exact_evidence(data, likelihood, 2, 1.5L);
    INFO(std::string(likelihood));
    CHECK(before.node.log_density < truth);
    CHECK(std::abs(after.node.log_density - truth) <
          0.8L * (truth - before.node.log_density));
    // The groups are those of the matched q: their rows' precision is another.
    CHECK(gap(after.outside.groups.precision, before.outside.groups.precision) > 1e-4);

    // The same q with the effects as dense columns.
    Data dense = data;
    const Mat z = gaussian_twin(data, likelihood, Vec::Ones(1)).rows.c.rightCols(5).cast<double>();
    dense.shape.p = 6;
    dense.shape.q = dense.shape.groups = 0;
    dense.x.conservativeResize(24, 6);
    dense.x.rightCols(5) = z;
    dense.center = Vec::Zero(6);
    dense.scale = Vec::Ones(6);
    Problem twin = to_problem(dense, {normal_prior(2, {0}), normal_prior(1.5, range(1, 6))}, {});
    twin.likelihood = Registry<Likelihood>::make(likelihood, Params());
    const Top expected = climb(twin, true);
    CHECK(std::abs(expected.node.log_density - after.node.log_density) < 1e-7);
    CHECK(gap(full_mean(after.outside), expected.outside.mean) < 1e-6);
    CHECK(gap(full_covariance(after.outside), expected.outside.covariance) < 1e-6);
  }
}

namespace {

// A precision that is not positive definite as soon as moments are matched.
class Indefinite : public Forward {
 public:
  using Forward::Forward;
  void ask(Use use) override {
    asked.push_back(use);
    Forward::ask(use);
  }
  void sums(const State& state, RowSums& out, Host& host) override {
    Forward::sums(state, out, host);
    if (asked.back() == Use::matched) out.weight()(0, 0) = -1e6;
  }
  std::vector<Use> asked{Use::expected};
};

}  // namespace

TEST_CASE("moment matching: without a precision nothing changes") {
  Shape shape;
  shape.n = 40;
  shape.q = 1;
  shape.groups = 5;
  const Data data = simulate(shape);
  const Problem problem = of(data, "hinge", 4);
  MemorySource rows(problem, Use::expected, 1);
  Indefinite source(rows);
  const Coefficients side(problem);
  State state = side.start(Vec());
  RowSums sums(state.layout.p);
  Host host;
  source.sums(state, sums, host);
  const Coefficients::Proposal next = side.propose_natural(state, sums, host);
  state.begun() = 1;
  state.inverse_factor() = next.inverse_factor;
  state.step() = next.step;
  state.mean() += next.step;
  source.settle(state, Settle::advance, 1);
  source.keep();
  source.sums(state, sums, host);
  const State before = state;
  const Vec rows_before = sums.x;
  double density = 17;
  CHECK_FALSE(match_moments(source, side, state, density, host));
  CHECK(density == 17);
  CHECK(same_bits(before.x, state.x));
  CHECK(source.asked.back() == Use::expected);
  source.sums(state, sums, host);
  CHECK(same_bits(rows_before, sums.x));
}
