// Simulated annealing: at a temperature that stays, the sampler's law against quadrature; as the
// temperature falls, the lowest of several optima.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "hosts.hpp"
#include "laws.hpp"
#include "oracle.hpp"
#include "point/annealing.hpp"
#include "point/local_search.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

// `like`: the correlation of the columns 1 and 2, 3 and 4, and so on, where it is not zero.
struct Case {
  Data data;
  Problem problem;
  Design design;

  Case(Index n, Index p, double like, std::uint64_t seed, double alpha = 1)
      : data(make(n, p, like, seed)),
        problem(with(to_problem(data, {normal_prior(1e8, {0}), bridge(alpha, range(1, p))}, {}),
                     "hinge")),
        design(problem) {}

  static PriorSpec bridge(double alpha, std::vector<Index> columns) {
    const Params params("bridge", {{"alpha", alpha}, {"nu", 0.1}, {"shape", 1}, {"rate", 1}});
    return {"bridge", params, std::move(columns)};
  }

  static Data make(Index n, Index p, double like, std::uint64_t seed) {
    Shape shape;
    shape.n = n;
    shape.p = p;
    shape.seed = seed;
    Data out = simulate(shape);
    for (Index j = 1; like != 0 && j + 1 < p; j += 2)
      out.x.col(j + 1) = like * out.x.col(j) + std::sqrt(1 - like * like) * out.x.col(j + 1);
    return out;
  }
};

Penalties same(Index p, double alpha, double scale) {
  return {Vec::Constant(p, alpha), Vec::Constant(p, scale)};
}

// The distribution function of b_0 under exp(-P(b)/t), b of two coefficients, by the trapezoidal
// rule.
class FirstLaw {
 public:
  FirstLaw(const Design& design, const Penalties& penalties, double t) : sums_(kNodes, 0.0) {
    double before = 0;
    for (int k = 0; k < kNodes; ++k) {
      double now = 0;
      for (int l = 0; l < kNodes; ++l)
        now += std::exp(-primal_objective(design, penalties, (Vec(2) << at(k), at(l)).finished()) /
                        t);
      if (k > 0) sums_[k] = sums_[k - 1] + (now + before) / 2;
      before = now;
    }
  }
  double operator()(double x) const {
    const double place = std::min(std::max((x + kReach) / kStep, 0.0), kNodes - 1.001);
    const int k = static_cast<int>(place);
    return (sums_[k] + (place - k) * (sums_[k + 1] - sums_[k])) / sums_.back();
  }

 private:
  static constexpr int kNodes = 1201;  // zero, where penalties have their kink, is one of them
  static constexpr double kReach = 6, kStep = 2 * kReach / (kNodes - 1);
  static double at(int k) { return (k - kNodes / 2) * kStep; }

  std::vector<double> sums_;
};

}  // namespace

TEST_CASE("annealing: at a temperature that stays, the law of the objective over it") {
  const Case some(6, 2, 0, 3);
  for (double alpha : {2.0, 1.0, 0.8, 1.5})
    for (double t : {0.5, 2.0}) {
      const Penalties penalties = same(2, alpha, 0.8);
      HeatedChain chain(some.design, Vec::Ones(2), 7, 0);
      Host host;
      std::vector<double> sample;
      for (int k = 0; k < 40000; ++k) {
        REQUIRE(chain.sweep(penalties, t, host));
        if (k % 20 == 19) sample.push_back(chain.b()[0]);
      }
      INFO("alpha ", alpha, ", temperature ", t);
      CHECK(kolmogorov(sample, FirstLaw(some.design, penalties, t), 1) < kKolmogorov);
      // Another temperature's law is told apart.
      CHECK(kolmogorov(sample, FirstLaw(some.design, penalties, 3 * t), 1) > kKolmogorov);
    }
}

namespace {

// The lowest of the optima of all subsets of the columns beside the first.
double best_subset(const Design& design, const Penalties& penalties) {
  Host host;
  const Index p = design.columns();
  double lowest = std::numeric_limits<double>::infinity();
  for (int set = 0; set < 1 << (p - 1); ++set) {
    std::vector<Index> in{0};
    for (Index j = 1; j < p; ++j)
      if (set >> (j - 1) & 1) in.push_back(j);
    const Penalties own = penalties.select(in);
    const Point point = minimise_local(design.select(in), own, own.scale, PointOptions(), host);
    lowest = std::min(lowest, point.objective);
  }
  return lowest;
}

}  // namespace

TEST_CASE("annealing: of many optima one that is low, where a descent alone ends higher") {
  int lower = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const Case some(60, 9, 0.9, seed, 0.3);
    const PointModel model(some.problem, some.design);
    PointModel::Hyper hyper = model.start();
    const Penalties penalties = model.penalties(hyper);
    Host host;
    const auto descend = [&](const Vec& b) {
      return minimise_local(some.design, penalties, b, PointOptions(), host).objective;
    };
    const double lowest = best_subset(some.design, penalties), alone = descend(penalties.scale);
    double annealed = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 8; ++k) {
      const HeatedChain chain(some.design, penalties.scale, seed, k);
      annealed = std::min(annealed, descend(anneal(model, chain, 1000, hyper, host)));
    }
    INFO("seed ", seed);
    CHECK(annealed < 1.002 * alone);
    CHECK(annealed < 1.01 * lowest);
    lower += annealed < alone * (1 - 1e-6);
  }
  CHECK(lower >= 8);
}

TEST_CASE("annealing: an interrupt is answered") {
  const Case some(30, 3, 0, 1);
  const PointModel model(some.problem, some.design);
  PointModel::Hyper hyper = model.start();
  ImpatientHost host(10);
  const HeatedChain chain(some.design, Vec::Ones(3), 1, 0);
  CHECK_THROWS_AS(anneal(model, chain, 1000, hyper, host), Interrupted);
}
