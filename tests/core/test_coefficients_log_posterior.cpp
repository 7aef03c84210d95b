// log p(y, b, theta) at any point: against the model written out, and integrals it has to have.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "coefficients/log_posterior.hpp"
#include "densities.hpp"
#include "gaussian_twin.hpp"
#include "grouped_data.hpp"
#include "hosts.hpp"
#include "parameter_data.hpp"
#include "quadrature.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

Shape shape_of(Index n, Index p, Index q = 0, Index groups = 0) {
  Shape shape;
  shape.n = n;
  shape.p = p;
  shape.q = q;
  shape.groups = groups;
  shape.ones = q == 1;
  return shape;
}

Vec at(const Problem& problem, const Mat& points, int threads = 1) {
  Host host;
  return LogPosterior(problem, threads).at(points, host);
}

double at(const Problem& problem, const Vec& point) { return at(problem, Mat(point))[0]; }

Mat random_points(Index size, Index number, std::uint64_t seed = 5) {
  Noise noise(seed);
  Mat out(size, number);
  for (Index k = 0; k < number; ++k) out.col(k) = 0.7 * noise.normals(size);
  return out;
}

// Sum over rows of weight log p(y | f).
Real plain_rows(const Data& data, const char* likelihood, const VecL& f) {
  Real sum = 0;
  for (Index i = 0; i < data.shape.n; ++i)
    sum += data.weight[i] * law_of(likelihood).log_p(data.y[i], f[i] + data.offset[i]);
  return sum;
}

// log N(b; 0, s^2 I) + log p(theta), theta = log s, s^2 inverse-gamma(shape, scale).
Real plain_ridge(const VecL& b, Real theta, Real shape, Real scale) {
  const Real s2 = std::exp(2 * theta);
  Real sum = log_inverse_gamma(s2, shape, scale) + std::log(2 * s2);
  for (Index j = 0; j < b.size(); ++j) sum += log_normal(b[j], s2);
  return sum;
}

Real plain_normal(const VecL& b, Real variance) {
  Real sum = 0;
  for (Index j = 0; j < b.size(); ++j) sum += log_normal(b[j], variance);
  return sum;
}

VecL pair(Real first, Real second) {
  VecL out(2);
  out << first, second;
  return out;
}

// The log of a sum of numbers given by their logs.
double log_sum(const Vec& log) {
  const double top = log.maxCoeff();
  return top + std::log((log.array() - top).exp().sum());
}

}  // namespace

TEST_CASE("log posterior: dense columns in any units") {
  for (const char* likelihood : kLikelihoods)
    for (double by : {1.0, 3000.0}) {
      INFO(std::string(likelihood), " ", by);
      Data data = simulate(shape_of(600, 4));  // several blocks of rows
      data.x.col(2) *= by;
      data.center[2] = data.scale[2] == 1 ? data.center[2] : by * data.center[2];
      data.shape.standardised = false;
      data.scale[2] = 0.5;
      const std::vector<PriorSpec> priors{normal_prior(3, {0, 2}), ridge_prior(1.5, 0.7, {3, 1})};
      const Problem problem = with(to_problem(data, priors, {}), likelihood);
      const Mat points = random_points(5, 7);
      const Vec found = at(problem, points);
      for (Index k = 0; k < 7; ++k) {
        const VecL b = points.col(k).head(4).cast<Real>();
        const VecL f = data.design().cast<Real>() * b;
        const Real expected = plain_rows(data, likelihood, f) +
                              plain_normal(pair(b[0], b[2]), 3) +
                              plain_ridge(pair(b[1], b[3]), points(4, k), 1.5L, 0.7L);
        CHECK(gap(found[k], static_cast<double>(expected)) < 1e-12);
      }
    }
}

TEST_CASE("log posterior: a factor's effects among the coefficients") {
  for (const char* likelihood : kLikelihoods) {
    INFO(std::string(likelihood));
    const Data data = simulate(shape_of(90, 2, 2, 6));
    const Problem problem = with(to_problem(data, {normal_prior(3, {0, 1})},
                                            {normal_prior(0.6, {1}), ridge_prior(1.2, 0.8, {0})}),
                                 likelihood);
    const Mat points = random_points(2 + 12 + 1, 4);
    const Vec found = at(problem, points);
    for (Index k = 0; k < 4; ++k) {
      const VecL point = points.col(k).cast<Real>(), u = point.segment(2, 12);
      VecL f = data.design().cast<Real>() * point.head(2), first(6), second(6);
      for (Index i = 0; i < 90; ++i)
        for (Index a = 0; a < 2; ++a) f[i] += data.z(i, a) * u[2 * (data.group[i] - 1) + a];
      for (Index g = 0; g < 6; ++g) {
        first[g] = u[2 * g];
        second[g] = u[2 * g + 1];
      }
      const Real expected = plain_rows(data, likelihood, f) + plain_normal(point.head(2), 3) +
                            plain_normal(second, 0.6L) + plain_ridge(first, point[14], 1.2L, 0.8L);
      CHECK(gap(found[k], static_cast<double>(expected)) < 1e-12);
    }
  }
}

// The same model with a multiplier in other units: u_2, its deviation and its covariance with u_1
// are 300 times smaller, and the density is larger by their Jacobian.
TEST_CASE("log posterior: correlated effects in any units") {
  const auto wishart = [](double by) {
    return PriorSpec{"inverse_wishart", Params("inverse_wishart",
                     {{"effects", 2}, {"df", 3.5}, {"scale_1_1", 1}, {"scale_2_1", 0.4 / by},
                      {"scale_2_2", 2 / by / by}}), {0, 1}};
  };
  const Data data = simulate(shape_of(90, 2, 2, 6));
  Data other = data;
  other.z.col(1) *= 300;
  const Problem one = with(to_problem(data, {normal_prior(3, {0, 1})}, {wishart(1)}), "hinge");
  const Problem two = with(to_problem(other, {normal_prior(3, {0, 1})}, {wishart(300)}), "hinge");
  const Mat points = random_points(2 + 12 + 3, 4);
  Mat moved = points;
  for (Index g = 0; g < 6; ++g) moved.row(3 + 2 * g) /= 300;
  moved.row(15) /= 300;
  moved.row(16).array() -= std::log(300.0);
  CHECK(gap(at(two, moved), (at(one, points).array() + 7 * std::log(300.0)).matrix()) < 1e-12);
}

TEST_CASE("log posterior: crossed factors' effects among the coefficients") {
  for (const char* likelihood : kLikelihoods) {
    INFO(std::string(likelihood));
    const SparseData sparse = crossed(shape_of(90, 2), {7, 5});
    const Problem problem =
        with(sparse.problem({ridge_prior(1.2, 0.8, {1}), normal_prior(0.6, {0})}), likelihood);
    const Mat points = random_points(2 + 12 + 2, 3);
    const Vec found = at(problem, points);
    for (Index k = 0; k < 3; ++k) {
      const VecL point = points.col(k).cast<Real>();
      const VecL f = sparse.data.design().cast<Real>() * point.head(2) +
                     sparse.dense().cast<Real>() * point.segment(2, 12);
      const Real expected = plain_rows(sparse.data, likelihood, f) +
                            plain_normal(point.head(1), 100) +
                            plain_ridge(point.segment(1, 1), point[14], 0.7L, 0.4L) +
                            plain_normal(point.segment(2, 7), 0.6L) +
                            plain_ridge(point.segment(9, 5), point[15], 1.2L, 0.8L);
      CHECK(gap(found[k], static_cast<double>(expected)) < 1e-12);
    }
  }
}

TEST_CASE("log posterior: effects integrated out, as by brute force") {
  for (const char* likelihood : kLikelihoods) {
    INFO(std::string(likelihood));
    Data data = simulate(shape_of(40, 2, 1, 6));
    data.scale[1] *= 700;
    const Problem problem = integrated_problem(data, likelihood);
    const IntegratedTwin twin = integrated_twin(data, likelihood);
    const Mat points = random_points(3, 4);
    const Vec found = at(problem, points);
    for (Index k = 0; k < 4; ++k)
      CHECK(gap(found[k], static_cast<double>(twin.value(points.col(k).cast<Real>()))) < 1e-9);
  }
}

// Given the rest, levels of a factor are independent: their integrals are one-dimensional.
TEST_CASE("log posterior: integrated out is the integral of the whole") {
  for (const char* likelihood : kLikelihoods)
    for (Index term : {0, 1}) {
      INFO(std::string(likelihood), " integrated ", term);
      const SparseData sparse = crossed(shape_of(60, 2), {4, 3});
      const std::vector<PriorSpec> priors{ridge_prior(1.2, 0.8, {1}), ridge_prior(2, 1, {0})};
      const Problem whole = with(sparse.problem(priors), likelihood);
      const Problem less = with(sparse.problem(priors), likelihood, term);
      const Index first = term == 0 ? 2 : 6, levels = term == 0 ? 4 : 3;
      Vec point = random_points(2 + 7 + 3, 1).col(0);
      point.segment(first, levels).setZero();
      Vec rest(point.size() - levels);
      rest << point.head(first), point.tail(point.size() - first - levels);
      const double none = at(whole, point);
      double expected = none;
      const int steps = 4000;
      const double width = 24.0 / steps;
      for (Index level = 0; level < levels; ++level) {
        Mat line = point.replicate(1, steps);
        for (int k = 0; k < steps; ++k) line(first + level, k) = width * (k - steps / 2);
        expected += log_sum(at(whole, line)) + std::log(width) - none;
      }
      CHECK(gap(at(less, rest), expected) < 1e-6);
    }
}

// Rows that weigh nothing leave the prior, whose integral is one, unseen coefficients or not.
TEST_CASE("log posterior: a density in the coefficients and free parameters") {
  Data data = simulate(shape_of(12, 1));
  data.weight.setConstant(1e-14);
  data.x *= 50;
  for (double unseen : {0.0, 6.0}) {
    const Problem problem = with(to_problem(data, {ridge_prior(2, 1, {0}, unseen)}, {}), "hinge");
    const int side = 700;
    Mat points(2, side * side);
    for (int k = 0; k < side * side; ++k)
      points.col(k) << 0.1 * (k % side - side / 2), -4 + 0.02 * (k / side);
    CHECK(std::abs(log_sum(at(problem, points)) + std::log(0.1 * 0.02)) < 2e-3);
  }
}

TEST_CASE("log posterior: the tilt counts on the outside scale") {
  const Data data = simulate(shape_of(50, 2));
  Problem problem = with(to_problem(data, {normal_prior(3, {0, 1})}, {}), "hinge");
  const Mat points = random_points(2, 3);
  const Vec before = at(problem, points);
  problem.tilt = Eigen::Vector2d(0.3, -2);
  CHECK(gap(at(problem, points) - before, points.transpose() * problem.tilt) < 1e-12);
}

TEST_CASE("log posterior: the same bits for any threads") {
  const Data dense = simulate(shape_of(3000, 3)), grouped = simulate(shape_of(900, 2, 1, 60));
  const Problem joint = with(to_problem(dense, usual_priors(3), {}), "hinge");
  const Problem less =
      with(to_problem(grouped, usual_priors(2), {ridge_prior(1, 1, {0})}), "hinge", 0);
  for (const Problem* problem : {&joint, &less}) {
    const Mat points = random_points(4, 5);
    CHECK((at(*problem, points, 1).array() == at(*problem, points, 4).array()).all());
  }
}

TEST_CASE("log posterior: impossible points, wrong sizes, interrupts") {
  const Data data = simulate(shape_of(900, 2));
  const Problem problem = with(to_problem(data, usual_priors(2), {}), "hinge");
  Mat points = random_points(3, 2);
  points(2, 1) = -500;
  const Vec found = at(problem, points);
  CHECK(std::isfinite(found[0]));
  CHECK(found[1] == -std::numeric_limits<double>::infinity());
  CHECK_THROWS_AS(at(problem, random_points(2, 1)), InvalidInput);
  ImpatientHost host(1);
  LogPosterior density(problem, 1);
  CHECK_THROWS_AS(density.at(random_points(3, 5), host), Interrupted);
}

TEST_CASE("log posterior: at parameters of a likelihood, each point at its own") {
  Shape shape;
  shape.n = 50;
  const NumberData numbers(shape);
  const Problem problem = numbers.problem(true);
  LogPosterior posterior(problem, 1);
  const Index d = posterior.coefficients();
  REQUIRE(posterior.free() == 3);  // log sd of the slopes, log scale, log odds
  Mat points(d + 3, 3);
  points << 0.3, -0.2, 0.3, -0.4, 0.5, -0.4, 0.2, 0.1, 0.2, -0.3, 0.4, -0.3, -0.6, 0.3, -800, 0.4,
      -0.5, 0.4;
  Host host;
  const Vec found = posterior.at(points, host);
  for (Index k = 0; k < 2; ++k) {
    const long double sd = std::exp(points(d, k)), scale = std::exp(points(d + 1, k)),
                      odds = std::exp(points(d + 2, k)), width = scale / odds;
    const Vec f = numbers.data.design() * points.col(k).head(d) + numbers.data.offset;
    long double expected = log_normal(points(0, k), 100) + log_normal(points(1, k), sd * sd) +
                           log_normal(points(2, k), sd * sd) +
                           log_inverse_gamma(sd * sd, 0.7L, 0.4L) +
                           std::log(2 * sd * sd);
    for (const auto& [value, prior] : {std::pair(scale, 0.7L), std::pair(odds, 1.5L)})
      expected += log_half_t_square(value * value, 3, prior) + std::log(2 * value * value);
    for (Index i = 0; i < shape.n; ++i)
      expected -= numbers.data.weight[i] *
                  (std::log(2 * (scale + width)) +
                   std::max(0.0L, std::abs(numbers.data.y[i] - Real(f[i])) - width) / scale);
    CHECK(found[k] == doctest::Approx(static_cast<double>(expected)).epsilon(1e-12));
  }
  CHECK(found[2] == -std::numeric_limits<double>::infinity());
}
