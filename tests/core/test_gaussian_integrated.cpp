// One factor's effects integrated out, the rest about its mode: against brute force.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "fitting.hpp"
#include "gaussian/integrated.hpp"
#include "grouped_data.hpp"
#include "hosts.hpp"
#include "quadrature.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

struct Engine5 {
  Host host;
  Integrated engine;
  bsvm::Node top;

  explicit Engine5(const Problem& problem, Centre centre = Centre::mode,
                   const Options& options = close_options())
      : engine(problem, centre, 1, options, host), top(engine.climb()) {}
};

Vec units(const Problem& problem) {
  Vec out(problem.columns());
  Index first = 0;
  for (const auto& block : problem.blocks) {
    out.segment(first, block->columns()) = block->unit();
    first += block->columns();
  }
  return out;
}

Vec outside_mean(const Problem& problem, const bsvm::Node& node) {
  return node.state.mean().head(problem.columns()).cwiseProduct(units(problem));
}

Mat outside_covariance(const Problem& problem, const bsvm::Node& node) {
  const Mat root = node.state.inverse_factor().triangularView<Eigen::Lower>();
  const Vec unit = units(problem);
  return unit.asDiagonal() * (root.transpose() * root) * unit.asDiagonal();
}

VecL both(const Problem& problem, const bsvm::Node& node) {
  VecL out(problem.columns() + node.theta.size());
  out << outside_mean(problem, node).cast<Real>(), node.theta.cast<Real>();
  return out;
}

}  // namespace

TEST_CASE("integrated: the climb ends at the top of b and theta together") {
  for (const char* likelihood : kLikelihoods) {
    INFO(std::string(likelihood));
    const Data data = grouped(2);
    const Problem problem = integrated_problem(data, likelihood);
    const Engine5 found(problem);
    CHECK(found.engine.progress().end == Termination::converged);
    const IntegratedTwin twin = integrated_twin(data, likelihood);
    const VecL at = both(problem, found.top);
    CHECK(twin.gradient(at).norm() < 1e-5);
    CHECK(found.engine.progress().trace.back().bound ==
          doctest::Approx(static_cast<double>(twin.value(at))).epsilon(1e-9));
  }
}

TEST_CASE("integrated: the density of theta is Laplace's at the mode of b") {
  for (const char* likelihood : kLikelihoods) {
    INFO(std::string(likelihood));
    const Data data = grouped(2);
    const Problem problem = integrated_problem(data, likelihood);
    Engine5 found(problem);
    const IntegratedTwin twin = integrated_twin(data, likelihood);
    bsvm::Node last = found.top;
    for (double step : {0.0, 0.7, -0.9}) {
      const Vec theta = found.top.theta.array() + step;
      if (step != 0) last = found.engine.at(theta, last);
      const VecL mode = twin.mode(outside_mean(problem, last).cast<Real>(), theta[0]);
      CHECK(std::abs(last.log_density - static_cast<double>(twin.laplace(mode, theta[0]))) <
            (step == 0 ? 1e-5 : 0.04));
      const Vec sd = outside_covariance(problem, last).diagonal().cwiseSqrt();
      CHECK(((outside_mean(problem, last) - mode.cast<double>()).array() / sd.array())
                .abs()
                .maxCoeff() < (step == 0 ? 1e-5 : 0.02));
      VecL at(3);
      at << mode, theta[0];
      CHECK(gap(inverse(outside_covariance(problem, last).cast<Real>()),
                twin.curvature(at).topLeftCorner(2, 2)) < (step == 0 ? 1e-4 : 0.05));
    }
  }
}

TEST_CASE("integrated: one coefficient, the density of theta against its integral") {
  for (const char* likelihood : kLikelihoods) {
    const Data data = grouped(1);
    const Problem problem = integrated_problem(data, likelihood);
    Engine5 found(problem);
    const IntegratedTwin twin = integrated_twin(data, likelihood);
    for (double step : {-0.8, 0.0, 0.8}) {
      const Vec theta = found.top.theta.array() + step;
      const bsvm::Node node = found.engine.at(theta, found.top);
      const double centre = outside_mean(problem, node)[0],
                   sd = std::sqrt(outside_covariance(problem, node)(0, 0));
      const Real top = node.log_density;
      const Real total = trapezoid([&](Real b) {
        return std::exp(twin.value(VecL::Constant(1, b), theta[0]) - top);
      }, centre - 6 * sd, centre + 6 * sd, 16);
      CHECK(std::abs(std::log(total)) < 0.03);
    }
  }
}

TEST_CASE("integrated: slope is how the mode moves with theta") {
  for (const char* likelihood : kLikelihoods) {
    const Data data = grouped(3);
    // A variance of two columns is free too.
    const Problem problem =
        with(to_problem(data, {normal_prior(3, {0}), ridge_prior(1.5, 1, {1, 2})},
                        {ridge_prior(1.2, 0.8, {0})}), likelihood, 0);
    Engine5 found(problem);
    REQUIRE(found.top.theta.size() == 2);
    bsvm::Node blind = found.top;
    blind.slope = Mat();
    const double h = 2e-3;
    for (Index k = 0; k < 2; ++k) {
      const Vec by = h * Vec::Unit(2, k);
      const Vec up = found.engine.at(found.top.theta + by, blind).state.mean();
      const Vec down = found.engine.at(found.top.theta - by, blind).state.mean();
      const Vec expected = (up - down) / (2 * h);
      CHECK((found.top.slope.col(k) - expected).norm() < 1e-3 * (1 + expected.norm()));
    }
  }
}

TEST_CASE("integrated: curvature is that of the highest point over b, as a function of theta") {
  for (const char* likelihood : kLikelihoods) {
    const Data data = grouped(2);
    const Problem problem = integrated_problem(data, likelihood);
    Engine5 found(problem);
    const MatL all = integrated_twin(data, likelihood).curvature(both(problem, found.top));
    const MatL own = all.topLeftCorner(2, 2), cross = all.topRightCorner(2, 1);
    const Real profile = all(2, 2) - product(product(cross.transpose(), inverse(own)), cross)(0, 0);
    const Mat curvature = found.engine.curvature(found.top);
    CHECK(curvature(0, 0) == doctest::Approx(static_cast<double>(profile)).epsilon(1e-3));
  }
}

// Where b's own variance is free the determinant's share counts: about, not to the digit.
TEST_CASE("integrated: curvature in a variance of coefficients is about the second difference") {
  const Data data = grouped(6, 150, 10);
  const Problem problem =
      with(to_problem(data, {normal_prior(3, {0}), ridge_prior(1.5, 1, range(1, 6))},
                      {ridge_prior(1.2, 0.8, {0})}), "hinge", 0);
  Engine5 found(problem);
  const Mat curvature = found.engine.curvature(found.top);
  const double h = 0.15;
  for (Index k = 0; k < 2; ++k) {
    const double up = found.engine.at(found.top.theta + h * Vec::Unit(2, k), found.top).log_density;
    const double down =
        found.engine.at(found.top.theta - h * Vec::Unit(2, k), found.top).log_density;
    const double expected = (2 * found.top.log_density - up - down) / (h * h);
    CHECK(curvature(k, k) == doctest::Approx(expected).epsilon(0.25));
  }
}

TEST_CASE("integrated: a variance of coefficients is where their moments want it") {
  const Data data = grouped(4);
  const Problem problem =
      with(to_problem(data, {normal_prior(3, {0}), ridge_prior(1.5, 1, {1, 2, 3})},
                      {ridge_prior(1.2, 0.8, {0})}), "hinge", 0);
  const Engine5 found(problem);
  const Vec mean = outside_mean(problem, found.top);
  const Mat covariance = outside_covariance(problem, found.top);
  const double square =
      mean.tail(3).squaredNorm() + covariance.diagonal().tail(3).sum();
  CHECK(found.top.theta[0] ==
        doctest::Approx(0.5 * std::log((2 + square) / (3 + 3))).epsilon(1e-4));
}

TEST_CASE("integrated: other units, an offset for an intercept, another start: the same") {
  const Data data = grouped(3);
  const Problem problem = integrated_problem(data, "hinge");
  const Engine5 expected(problem);
  Data other = data;
  other.x.col(1) = 300 * data.x.col(1).array() + 7;
  other.center[1] = 300 * data.center[1] + 7;
  other.scale[1] *= 300;
  const Problem scaled = integrated_problem(other, "hinge");
  const Engine5 found(scaled);
  CHECK(gap(found.top.log_density, expected.top.log_density) < 1e-10);
  CHECK(gap(outside_mean(scaled, found.top), outside_mean(problem, expected.top)) < 1e-7);
  CHECK(gap(outside_covariance(scaled, found.top), outside_covariance(problem, expected.top)) <
        1e-7);

  Options options = close_options();
  options.start = Eigen::Vector3d(4, -5, 3);
  const Engine5 far(problem, Centre::mode, options);
  CHECK(gap(far.top.log_density, expected.top.log_density) < 1e-10);
  CHECK(gap(far.top.theta, expected.top.theta) < 1e-6);
}

// ---- the other factors' effects are coefficients

TEST_CASE("integrated: other factors' effects are columns like the rest") {
  Shape shape;
  shape.n = 90;
  shape.p = 2;
  for (const char* likelihood : kLikelihoods)
    for (Index at : {0, 1}) {
      INFO(std::string(likelihood), " integrated ", at);
      const SparseData sparse = crossed(shape, {7, 5});
      const PriorSpec out = ridge_prior(1.2, 0.8, {at}), kept = normal_prior(0.6, {1 - at});
      const Problem problem = with(
          at == 0 ? sparse.problem({out, kept}) : sparse.problem({kept, out}), likelihood, at);
      const Index others = at == 0 ? 5 : 7, levels = 12 - others, d = 2 + others;
      const Mat z = sparse.dense();
      Data data = sparse.data;
      data.shape.p = d;
      data.shape.q = 1;
      data.shape.ones = true;
      data.shape.groups = levels;
      data.x.resize(90, d);
      data.x << sparse.data.design(), z.middleCols(at == 0 ? 7 : 0, others);
      data.center = Vec::Zero(d);
      data.scale = Vec::Ones(d);
      data.group.assign(90, 0);
      for (Index i = 0; i < 90; ++i)
        for (Index level = 0; level < levels; ++level)
          if (z(i, (at == 0 ? 0 : 7) + level) != 0) data.group[i] = static_cast<int>(level) + 1;
      std::vector<PriorSpec> priors = usual_priors(2);
      priors.push_back(normal_prior(0.6, range(2, d)));
      const Problem twin =
          with(to_problem(data, priors, {ridge_prior(1.2, 0.8, {0})}), likelihood, 0);
      Engine5 found(problem), expected(twin);
      CHECK(found.engine.progress().end == Termination::converged);
      CHECK(gap(found.top.log_density, expected.top.log_density) < 1e-9);
      CHECK(gap(found.top.theta, expected.top.theta) < 1e-5);
      const Vec mean = outside_mean(twin, expected.top);
      CHECK(gap(outside_mean(problem, found.top), mean.head(2)) < 1e-5);
      CHECK(gap(found.top.state.mean().tail(others), mean.tail(others)) < 1e-5);
      CHECK(gap(found.engine.curvature(found.top), expected.engine.curvature(expected.top)) < 1e-3);

      std::vector<bsvm::Node> here{found.top}, there{expected.top};
      found.engine.finish(here);
      expected.engine.finish(there);
      CHECK(gap(here[0].groups.mean, there[0].groups.mean) < 1e-5);
      CHECK(gap(here[0].groups.precision, there[0].groups.precision) < 1e-4);
      CHECK(gap(here[0].groups.regression, there[0].groups.regression) < 1e-4);
      CHECK(gap(here[0].state.mean().tail(others), outside_mean(twin, there[0]).tail(others)) <
            1e-4);
    }
}

// Their covariance is a free parameter too, of two effects a level, in any order of the priors.
TEST_CASE("integrated: another factor's variances are where its moments want them") {
  Shape shape;
  shape.n = 150;
  shape.p = 2;
  const SparseData sparse = nested(shape, 5, 8);  // intercept and slope of eight, intercept of five
  const Problem problem = with(sparse.problem({ridge_prior(1.2, 0.8, {1}), ridge_prior(2, 1, {0}),
                                               ridge_prior(1.2, 0.8, {2})}), "hinge", 1);
  const Engine5 found(problem);
  REQUIRE(found.top.state.layout.p == 2 + 16);
  CHECK(found.engine.progress().end == Termination::converged);
  const Mat root = found.top.state.inverse_factor().triangularView<Eigen::Lower>();
  const Vec square = found.top.state.mean().cwiseAbs2() +
                     (root.transpose() * root).diagonal();
  double intercepts = 0, slopes = 0;
  for (Index level = 0; level < 8; ++level) {
    intercepts += square[2 + 2 * level];
    slopes += square[3 + 2 * level];
  }
  // dense columns' ridge first, then the priors in the order given
  CHECK(found.top.theta[1] ==
        doctest::Approx(0.5 * std::log((1.6 + slopes) / (2.4 + 8))).epsilon(1e-4));
  CHECK(found.top.theta[2] ==
        doctest::Approx(0.5 * std::log((2 + intercepts) / (4 + 8))).epsilon(1e-4));
}

// ---- two effects; the source and the priors are tested elsewhere

TEST_CASE("integrated: two effects and their covariance, climb and slope") {
  const Data data = grouped(2, 60, 8, 2);
  const PriorSpec covariance{"huang_wand", Params("huang_wand", {{"effects", 2}, {"df", 2},
                             {"scale_1", 1}, {"scale_2", 1}}), {0, 1}, 0};
  const Problem problem =
      with(to_problem(data, {normal_prior(3, {0, 1})}, {covariance}), "hinge", 0);
  Options options = close_options();
  options.tolerance = 1e-12;
  Engine5 found(problem, Centre::mode, options);
  CHECK(found.engine.progress().end == Termination::converged);
  IntegratedSource source(problem, 1);
  const Vec unit = units(problem);
  const auto value = [&](const Vec& b, const Vec& theta) {
    Vec point(5), unused(3);
    point << b, theta;
    RowSums sums(5);
    Host host;
    source.sums(point, Depth::value, sums, host);
    return sums.value() - b.cwiseProduct(unit).squaredNorm() / 6 +
           problem.group_priors[0].prior->log_joint(Moments(), theta, unused);
  };
  const Vec b = found.top.state.mean(), theta = found.top.theta;
  const double h = 1e-4;
  for (Index k = 0; k < 2; ++k) {
    const Vec by = h * Vec::Unit(2, k);
    CHECK(std::abs(value(b + by, theta) - value(b - by, theta)) / (2 * h) < 2e-4);
  }
  for (Index k = 0; k < 3; ++k) {
    const Vec by = h * Vec::Unit(3, k);
    CHECK(std::abs(value(b, theta + by) - value(b, theta - by)) / (2 * h) < 2e-4);
  }
  bsvm::Node blind = found.top;
  blind.slope = Mat();
  for (Index k = 0; k < 3; ++k) {
    const Vec by = 5e-3 * Vec::Unit(3, k);
    const Vec expected = (found.engine.at(theta + by, blind).state.mean() -
                          found.engine.at(theta - by, blind).state.mean()) / 1e-2;
    CHECK((found.top.slope.col(k) - expected).norm() < 0.01 * (1 + expected.norm()));
  }
}

TEST_CASE("integrated: the effects' variance may be known") {
  for (const char* likelihood : kLikelihoods) {
    const Data data = grouped(2);
    const Problem problem = with(
        to_problem(data, {normal_prior(3, {0, 1})}, {normal_prior(0.8, {0})}), likelihood, 0);
    const Engine5 found(problem);
    CHECK(found.engine.progress().end == Termination::converged);
    CHECK(found.top.theta.size() == 0);
    const IntegratedTwin twin = integrated_twin(data, likelihood);
    const Real theta = 0.5L * std::log(0.8L);
    const VecL mode = twin.mode(outside_mean(problem, found.top).cast<Real>(), theta);
    CHECK(gap(outside_mean(problem, found.top), mode) < 1e-6);
    const Real prior = log_inverse_gamma(0.8L, 1.2L, 0.8L) + std::log(1.6L);
    CHECK(std::abs(found.top.log_density - static_cast<double>(twin.laplace(mode, theta) - prior)) <
          1e-5);
  }
}

// ---- averages

namespace {

// Of one coefficient at the top's theta, by brute force: log integral, mean, sd.
struct Marginal {
  double log, mean, sd;
  Marginal(const IntegratedTwin& twin, const bsvm::Node& at, double centre, double width) {
    Real total = 0, first = 0, second = 0;
    for (int k = -30; k <= 30; ++k) {
      const Real b = centre + 0.2L * k * width;
      const Real mass =
          0.2L * width *
          std::exp(twin.value(VecL::Constant(1, b), at.theta[0]) - Real(at.log_density));
      total += mass;
      first += mass * b;
      second += mass * b * b;
    }
    log = at.log_density + static_cast<double>(std::log(total));
    mean = static_cast<double>(first / total);
    sd = std::sqrt(static_cast<double>(second / total) - mean * mean);
  }
};

}  // namespace

TEST_CASE("integrated: means in place of modes, where the density is skewed") {
  for (const char* likelihood : kLikelihoods) {
    INFO(std::string(likelihood));
    Data data = grouped(1, 14, 4);
    data.y.setOnes();
    data.y[0] = -1;
    const Problem problem = integrated_problem(data, likelihood);
    Engine5 plain(problem), found(problem, Centre::mean);
    const double mode = outside_mean(problem, plain.top)[0],
                 sd = std::sqrt(outside_covariance(problem, plain.top)(0, 0));
    const Marginal exact(integrated_twin(data, likelihood), plain.top, mode, sd);
    std::vector<bsvm::Node> nodes{found.top};
    found.engine.finish(nodes);
    const double shifted = outside_mean(problem, nodes[0])[0];
    CHECK(std::abs(exact.mean - mode) > 0.05 * sd);
    CHECK(std::abs(shifted - exact.mean) < 0.45 * std::abs(exact.mean - mode));
    nodes[0] = plain.top;
    plain.engine.finish(nodes);
    CHECK(same_bits(Vec(nodes[0].state.mean()), Vec(plain.top.state.mean())));
  }
}

// Effects of hardly any size leave the rows' kinks: the Hessian at a point is that of the few it
// happens to be near.
TEST_CASE("integrated: where kinks are hardly smoothed averages take the Hessian's place") {
  double plain_error = 0, error = 0;
  for (std::uint64_t seed = 1; seed < 9; ++seed) {
    Shape shape = grouped(1, 60, 6).shape;
    shape.seed = seed;
    const Data data = simulate(shape);
    Problem problem = with(to_problem(data, {normal_prior(3, {0})}, {normal_prior(1e-4, {0})}),
                           "hinge", 0);
    Engine5 plain(problem), found(problem, Centre::mean);
    std::vector<bsvm::Node> nodes{found.top};
    found.engine.finish(nodes);
    // the twin has the variance free: its prior there is taken off again
    const IntegratedTwin twin = integrated_twin(data, "hinge");
    const Real theta = 0.5L * std::log(1e-4L);
    const double prior =
        static_cast<double>(log_inverse_gamma(1e-4L, 1.2L, 0.8L) + std::log(2e-4L));
    bsvm::Node at = found.top;
    at.theta = Vec::Constant(1, static_cast<double>(theta));
    at.log_density += prior;
    const Marginal exact(twin, at, outside_mean(problem, nodes[0])[0],
                         std::sqrt(outside_covariance(problem, nodes[0])(0, 0)));
    const auto miss = [&](const bsvm::Node& node) {
      const double sd = std::sqrt(outside_covariance(problem, node)(0, 0));
      return std::abs(std::log(sd / exact.sd)) +
             std::abs(outside_mean(problem, node)[0] - exact.mean) / exact.sd;
    };
    plain_error += miss(plain.top) / 8;
    error += miss(nodes[0]) / 8;
    CHECK(std::abs(found.top.log_density + prior - exact.log) < 0.1);
    CHECK(miss(nodes[0]) < 0.4);
  }
  CHECK(error < 0.25);
  CHECK(plain_error > 2 * error);
}

TEST_CASE("integrated: the effects' law is that at the node's mean") {
  for (const char* likelihood : kLikelihoods) {
    const Data data = grouped(2);
    const Problem problem = integrated_problem(data, likelihood);
    Engine5 found(problem, Centre::mean);
    const IntegratedTwin twin = integrated_twin(data, likelihood);
    std::vector<bsvm::Node> nodes{found.top,
                                  found.engine.at(found.top.theta.array() + 0.5, found.top)};
    found.engine.finish(nodes);
    for (size_t k = 0; k < 2; ++k)
      for (int g : {1, 3, 4}) {
        const EffectTruth truth = twin.effect(g, both(problem, nodes[k]));
        CHECK(nodes[k].groups.mean(0, g - 1) ==
              doctest::Approx(static_cast<double>(truth.mean)).epsilon(1e-6));
        CHECK(1 / nodes[k].groups.precision(0, g - 1) ==
              doctest::Approx(static_cast<double>(truth.variance)).epsilon(1e-5));
        for (Index j = 0; j < 2; ++j)
          CHECK(nodes[k].groups.regression(j, g - 1) ==
                doctest::Approx(static_cast<double>(-truth.slope[j])).epsilon(1e-4));
      }
  }
}

TEST_CASE("integrated: interrupted, it is as far as it came; threads do not change a bit") {
  const Data data = grouped(3, 2000, 300);
  const Problem problem = integrated_problem(data, "hinge");
  Host host;
  Integrated one(problem, Centre::mean, 1, Options(), host),
      three(problem, Centre::mean, 3, Options(), host);
  const bsvm::Node top = one.climb();
  CHECK(same_bits(top.state.x, three.climb().state.x));
  ImpatientHost impatient(40);
  Integrated stopped(problem, Centre::mean, 1, Options(), impatient);
  const bsvm::Node node = stopped.climb();
  CHECK(stopped.progress().end == Termination::interrupted);
  CHECK(std::isfinite(node.log_density));
  CHECK(node.log_density < top.log_density + 1);
}
