// Regression by the epsilon-insensitive density: whole fits against sums over grids, a slow twin
// and searches.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "fitting.hpp"
#include "hosts.hpp"
#include "point/estimator.hpp"
#include "rows/make_source.hpp"
#include "tube_data.hpp"

using namespace bsvm_test;

namespace {

Approximation run(const char* engine, const Problem& problem) {
  Host host;
  return Registry<Approximator>::make(engine, Params())
      ->run(problem, source_maker(problem), Options(), 1, host);
}

// The mixture's mean and standard deviation of the first coefficient, log s and log kappa.
GridMoments mixture_moments(const Problem& problem, const Approximation& found) {
  const Coefficients side(problem);
  GridMoments out{VecL::Zero(3), VecL::Zero(3)};
  for (size_t k = 0; k < found.nodes.size(); ++k) {
    const bsvm::Node& node = found.nodes[k];
    const OutsideMoments q = side.outside(node.state, node.groups);
    VecL at(3);
    at << q.mean[0], node.theta[0], node.theta[1];
    VecL square = at.cwiseAbs2();
    square[0] += q.covariance(0, 0);
    out.mean += static_cast<Real>(found.weights[k]) * at;
    out.sd += static_cast<Real>(found.weights[k]) * square;
  }
  out.sd = (out.sd - out.mean.cwiseAbs2()).cwiseSqrt();
  return out;
}

// Of a function that rises and then falls: thirds of an interval are cut off until little is left.
Real highest(const std::function<Real(Real)>& f, Real low, Real high, Real least = 1e-10L) {
  while (high - low > least) {
    const Real a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (f(a) < f(b)) low = a;
    else high = b;
  }
  return (low + high) / 2;
}

// Variational Bayes one thing after the other: latent scales and q(b) given both parameters, each
// parameter given the rest.
struct SlowTwin {
  const Data& data;
  MatL design, covariance;
  VecL mean;
  Real log_s = 0, log_kappa = 0;

  explicit SlowTwin(const Data& of)
      : data(of), design(of.design().cast<Real>()),
        covariance(MatL::Identity(design.cols(), design.cols())),
        mean(VecL::Zero(design.cols())) {}

  void step() {
    const PairLaw law = law_at(log_s, log_kappa);
    const Index n = design.rows(), p = design.cols();
    const VecL off = residuals(), v = variances();
    MatL precision = MatL::Identity(p, p) / 4;
    VecL linear = VecL::Zero(p);
    for (Index i = 0; i < n; ++i) {
      // -a u/2 - w u^2/2 with u = t - f above, u = f - t below.
      const Real u1 = off[i] - law.e1, u2 = -off[i] - law.e2;
      const Real w1 = law.a / (2 * std::sqrt(u1 * u1 + v[i])),
                 w2 = law.b / (2 * std::sqrt(u2 * u2 + v[i]));
      const Real y = Real(data.y[i]) - data.offset[i];
      const Real pull = law.a / 2 + w1 * (y - law.e1) - law.b / 2 + w2 * (y + law.e2);
      precision += data.weight[i] * (w1 + w2) * design.row(i).transpose() * design.row(i);
      linear += data.weight[i] * pull * design.row(i).transpose();
    }
    covariance = inverse(precision);
    mean = covariance * linear;
    log_s = highest([&](Real at) { return rows_and_prior(at, log_kappa); }, log_s - 1, log_s + 1);
    log_kappa =
        highest([&](Real at) { return rows_and_prior(log_s, at); }, log_kappa - 1, log_kappa + 1);
  }

  VecL residuals() const {
    return (data.y - data.offset).cast<Real>() - design * mean;
  }
  VecL variances() const {
    return (design * covariance).cwiseProduct(design).rowwise().sum();
  }
  Real rows_and_prior(Real at_s, Real at_kappa) const {
    const PairLaw law = law_at(at_s, at_kappa);
    const VecL off = residuals(), v = variances();
    Real sum = log_prior(at_s, at_kappa);
    for (Index i = 0; i < off.size(); ++i)
      sum += data.weight[i] * Bound::latent(law, off[i], v[i]);
    return sum;
  }
};

// Two coefficients, at a scale and a tube that are given in units of `unit`.
struct Given {
  Data data;
  PairLaw law;
  double variance;
  Problem problem;

  explicit Given(double unit)
      : data(numbers(shape_of(60, 2))), law{1 / (0.6L * unit), 1 / (0.6L * unit), 0.4L * unit,
                                            0.4L * unit},
        variance(4 * unit * unit) {
    data.y *= unit;
    data.offset *= unit;
    problem = to_problem(data, {normal_prior(variance, {0, 1})}, {});
    problem.likelihood = Registry<Likelihood>::make(
        "eps_insensitive",
        Params("eps_insensitive", {{"scale", 0.6 * unit}, {"epsilon", 0.4 * unit}}));
    check(problem);
  }

  Real log_joint(Real b0, Real b1) const {
    const Mat design = data.design();
    Real sum = log_normal(b0, variance) + log_normal(b1, variance);
    for (Index i = 0; i < 60; ++i)
      sum += data.weight[i] *
             law.log_p(data.y[i] - data.offset[i] - design(i, 0) * b0 - design(i, 1) * b1);
    return sum;
  }

  VecL best(Real unit) const {
    const auto first = [&](Real b1) {
      return highest([&](Real b0) { return log_joint(b0, b1); }, -5 * unit, 5 * unit,
                     1e-12L * unit);
    };
    const Real b1 = highest([&](Real at) { return log_joint(first(at), at); }, -5 * unit, 5 * unit,
                            1e-9L * unit);
    return (VecL(2) << first(b1), b1).finished();
  }
};

}  // namespace

// Averaged over the engine's own lattice, whose 20 nodes leave out a little of the tails, and over
// one as fine as the sums of the posterior.
TEST_CASE("tube: a Gaussian fit has the posterior by sums over a grid") {
  const Data data = numbers(shape_of(60, 1));
  Problem problem = fixed_prior(data);
  infer_both(problem);
  const GridMoments truth = grid_moments(data);
  const auto check_close = [&](const Approximation& of, Real mean, Real sd) {
    const GridMoments found = mixture_moments(problem, of);
    for (Index k = 0; k < 3; ++k) {
      INFO("of ", k, " ratio of sd ", double(found.sd[k] / truth.sd[k]));
      CHECK(std::abs(found.mean[k] - truth.mean[k]) < mean * truth.sd[k]);
      CHECK(std::abs(found.sd[k] / truth.sd[k] - 1) < sd);
    }
  };
  const Approximation fitted = run("gaussian", problem);
  CHECK(fitted.climb.end == Termination::converged);
  check_close(fitted, 0.02L, 0.03L);
  Host host;
  const auto conditional = ascent(problem, Options(), host, true);
  const bsvm::Node top = conditional->climb();
  Approximation fine;
  std::vector<double> shares;
  for (double log_s = -2.5; log_s < 1; log_s += 0.1)
    for (double log_kappa = -6; log_kappa < 3; log_kappa += 0.2) {
      fine.nodes.push_back(conditional->at(Eigen::Vector2d(log_s, log_kappa), top));
      shares.push_back(std::exp(fine.nodes.back().log_density - top.log_density));
    }
  fine.weights = Eigen::Map<Vec>(shares.data(), static_cast<Index>(shares.size()));
  fine.weights /= fine.weights.sum();
  check_close(fine, 0.005L, 0.005L);
}

TEST_CASE("tube: variational Bayes is its slow twin") {
  for (const Index p : {1, 3}) {
    const Data data = numbers(shape_of(60, p));
    Problem problem = fixed_prior(data);
    infer_both(problem);
    const Fit found = fit(problem, close_options());
    INFO("passes ", found.result.trace.size());
    REQUIRE(found.result.end == Termination::converged);
    SlowTwin twin(data);
    for (int k = 0; k < 400; ++k) twin.step();
    CHECK(gap(found.outside.mean, twin.mean) < 1e-6);
    CHECK(gap(found.outside.covariance, twin.covariance) < 1e-6);
    CHECK(std::abs(found.result.state.parameters()[0] - twin.log_s) < 1e-6L);
    CHECK(std::abs(found.result.state.parameters()[1] - twin.log_kappa) < 1e-6L);
  }
}

TEST_CASE("tube: given scale and tube point estimates are where a search ends, in any unit") {
  for (const double unit : {1e-3, 1.0, 1e3}) {
    const Given given(unit);
    const VecL best = given.best(unit);
    Host host;
    const Estimate em = Registry<Estimator>::make("em", Params("em", {{"accelerate", 1}}))
                            ->run(given.problem, EstimateOptions(), host);
    INFO("unit ", unit);
    CHECK(em.end == Termination::converged);
    CHECK(em.gap < 1e-9);
    CHECK(gap(em.coefficients, best) < 1e-6);
    const Approximation map = run("map", given.problem);
    CHECK(map.climb.end == Termination::converged);
    REQUIRE(map.nodes.size() == 1);
    const Vec b = map.nodes[0].state.mean().cwiseProduct(given.problem.blocks[0]->unit());
    CHECK(gap(b, best) < 1e-5);
    CHECK(gap(map.evidence - std::log(2 * kPi * given.variance),
              given.log_joint(best[0], best[1])) < 1e-5);
  }
}
