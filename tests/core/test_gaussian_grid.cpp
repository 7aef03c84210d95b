// Nodes and weights for densities of theta that are known.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "densities.hpp"
#include "gaussian/grid.hpp"
#include "oracle.hpp"
#include "quadrature.hpp"

using namespace bsvm_test;

namespace {

using Density = std::function<double(const Vec&)>;

class Known : public Conditional {
 public:
  Known(Density density, Vec top, Mat curvature)
      : density_(std::move(density)), top_(std::move(top)), curvature_(std::move(curvature)) {}

  bsvm::Node node(ConstVecRef theta) const {
    bsvm::Node out;
    out.theta = theta;
    out.log_density = density_(theta);
    out.state = State(Layout{1, 0, 0});
    out.state.mean()[0] = 3 * theta.sum();
    return out;
  }
  bsvm::Node climb() override { return node(top_); }
  bsvm::Node at(ConstVecRef theta, const bsvm::Node&) override {
    ++visits;
    if (visits > patience) throw Interrupted();
    return node(theta);
  }
  Mat curvature(const bsvm::Node&) override { return curvature_; }
  void finish(std::vector<bsvm::Node>& nodes) override {
    finished = static_cast<int>(nodes.size());
  }

  int visits = 0, patience = 1000, finished = 0;

 private:
  Density density_;
  Vec top_;
  Mat curvature_;
};

FreeUnits all_logarithms(Index h) { return {Vec::Ones(h), std::vector<bool>(h, true)}; }

Approximation explored(Known& of) {
  Approximation out;
  explore(of, all_logarithms(of.climb().theta.size()), of.climb(), out);
  CHECK(out.weights.sum() == doctest::Approx(1).epsilon(1e-12));
  CHECK(out.weights.minCoeff() > 0);
  REQUIRE(out.nodes.size() == static_cast<size_t>(out.weights.size()));
  CHECK(of.finished == static_cast<int>(out.nodes.size()));
  return out;
}

Vec mean_of(const Approximation& found) {
  Vec out = Vec::Zero(found.nodes[0].theta.size());
  for (size_t k = 0; k < found.nodes.size(); ++k) out += found.weights[k] * found.nodes[k].theta;
  return out;
}

// Of one theta: density, its top, and where it is nothing.
struct Single {
  std::function<long double(long double)> log_density;
  double top, curvature;
  long double low, high;
};

void check_line(const Single& line, double evidence, double moments, size_t most) {
  Known of([&](const Vec& theta) { return static_cast<double>(line.log_density(theta[0])); },
           Vec::Constant(1, line.top), Mat::Constant(1, 1, line.curvature));
  const Approximation found = explored(of);
  const auto integral = [&](auto f) {
    return trapezoid([&](long double t) { return std::exp(line.log_density(t)) * f(t); }, line.low,
                     line.high, 40000);
  };
  const long double total = integral([](long double) { return 1.0L; });
  const long double mean = integral([](long double t) { return t; }) / total;
  const long double variance =
      integral([&](long double t) { return (t - mean) * (t - mean); }) / total;
  CHECK(std::abs(found.evidence - static_cast<double>(std::log(total))) < evidence);
  const double sd = static_cast<double>(std::sqrt(variance));
  CHECK(std::abs(mean_of(found)[0] - static_cast<double>(mean)) < moments * sd);
  CHECK(found.theta_covariance(0, 0) ==
        doctest::Approx(static_cast<double>(variance)).epsilon(3 * moments));
  CHECK(found.nodes.size() <= most);
  for (size_t k = 1; k < found.nodes.size(); ++k)
    CHECK(found.nodes[k].theta[0] > found.nodes[k - 1].theta[0]);
}

Single gaussian_line() {
  return {[](long double t) { return 3 + log_normal(t - 0.7L, 0.25L); }, 0.7, 4, -6, 8};
}

}  // namespace

TEST_CASE("grid: without hyper-parameters the one node is all there is") {
  Known of([](const Vec&) { return -12.5; }, Vec(0), Mat(0, 0));
  const Approximation found = explored(of);
  CHECK(found.nodes.size() == 1);
  CHECK(found.evidence == -12.5);
  CHECK(found.theta_covariance.size() == 0);
  CHECK(of.visits == 0);
}

TEST_CASE("grid: one hyper-parameter, a Gaussian") {
  check_line(gaussian_line(), 2e-3, 0.015, 5);
}

TEST_CASE("grid: one hyper-parameter, skewed") {
  // log of a gamma variable with shape 3 and with shape 1
  check_line({[](long double t) { return 3 * t - std::exp(t) - std::lgamma(3.0L); }, std::log(3.0),
              3, -20, 5},
             0.01, 0.04, 9);
  check_line({[](long double t) { return t - std::exp(t); }, 0, 1, -40, 5}, 0.02, 0.08, 12);
}

TEST_CASE("grid: one hyper-parameter, an exponential tail to the left") {
  check_line({[](long double t) { return 0.4L * t - std::exp(2 * t); }, 0.5 * std::log(0.2), 0.8,
              -80, 4}, 0.06, 0.15, 14);
}

// What the curvature says need not be so.
TEST_CASE("grid: one hyper-parameter whose curvature is wrong") {
  for (double factor : {1e-9, 0.04, 0.3, 4.0, 30.0, 1e6}) {
    Single line = gaussian_line();
    line.curvature *= factor;
    INFO(factor);
    check_line(line, 0.01, 0.08, 9);
  }
}

namespace {

Mat correlated(Index h) {
  Mat out = Mat::Constant(h, h, 0.6);
  for (Index k = 0; k < h; ++k) out(k, k) = 1 + 0.3 * static_cast<double>(k);
  return 0.2 * out;
}

}  // namespace

TEST_CASE("grid: several hyper-parameters, a Gaussian") {
  for (Index h : {2, 3, 4, 6, 7, 9}) {
    const Mat covariance = correlated(h), precision = covariance.llt().solve(Mat::Identity(h, h));
    const Vec top = Vec::LinSpaced(h, -1, 2);
    Known of(
        [&](const Vec& theta) { return 1.5 - 0.5 * (theta - top).dot(precision * (theta - top)); },
        top, precision);
    const Approximation found = explored(of);
    const double logdet = 2 * Mat(covariance.llt().matrixL()).diagonal().array().log().sum();
    const double expected =
        1.5 + 0.5 * (static_cast<double>(h) * std::log(2 * M_PI) + logdet);
    if (h < 4) {  // a lattice leaves its corners out
      CHECK(std::abs(found.evidence - expected) < 0.03);
      CHECK(gap(mean_of(found), top) < 1e-12);
      CHECK(gap(found.theta_covariance, covariance) < 0.065);
      CHECK(of.visits < (h == 2 ? 25 : 90));
      continue;
    }
    CHECK(found.evidence == doctest::Approx(expected).epsilon(1e-12));  // a design leaves nothing
    CHECK(gap(mean_of(found), top) < 1e-12);
    CHECK(gap(found.theta_covariance, covariance) < 1e-12);
    CHECK(found.nodes.size() == static_cast<size_t>(1 + 2 * h + (h < 7 ? 1 << h : 0)));
    CHECK(of.visits == static_cast<int>(found.nodes.size()) - 1);
  }
}

// Two independent ones, each the log of a gamma variable.
TEST_CASE("grid: several hyper-parameters, skewed") {
  const auto one = [](double t) { return 4 * t - std::exp(t); };
  const double top = std::log(4.0);
  Known of([&](const Vec& theta) { return one(theta[0]) + one(theta[1]); }, Vec::Constant(2, top),
           4 * Mat::Identity(2, 2));
  const Approximation found = explored(of);
  CHECK(std::abs(found.evidence - 2 * std::lgamma(4.0)) < 0.02);
  const double mean = 1.2561176684318;  // digamma(4)
  CHECK(std::abs(mean_of(found)[0] - mean) < 0.015);
  CHECK(found.theta_covariance(1, 1) == doctest::Approx(0.2838229557371).epsilon(0.03));
}

TEST_CASE("grid: many hyper-parameters, skewed") {
  // logarithms of gamma numbers of shape 20, each with its top at zero
  const Index h = 12;
  const auto one = [](long double t) { return 20 * (t - std::exp(t)); };
  const auto integral = [&](auto f) {
    return trapezoid([&](long double t) { return std::exp(one(t) + 20) * f(t); }, -3, 2, 20000);
  };
  const long double total = integral([](long double) { return 1.0L; });
  const double mean = static_cast<double>(integral([](long double t) { return t; }) / total);
  const double variance =
      static_cast<double>(integral([](long double t) { return t * t; }) / total) - mean * mean;
  Known of(
      [&](const Vec& theta) {
        long double sum = 0;
        for (Index k = 0; k < h; ++k) sum += one(theta[k]);
        return static_cast<double>(sum);
      },
      Vec::Zero(h), Mat::Identity(h, h) * 20);
  const Approximation found = explored(of);
  const double sd = std::sqrt(variance);
  for (Index k = 0; k < h; ++k) {
    CHECK(std::abs(mean_of(found)[k] - mean) < 0.02 * sd);
    CHECK(std::abs(std::log(found.theta_covariance(k, k) / variance)) < 0.05);
  }
  CHECK(std::abs(found.evidence - h * static_cast<double>(std::log(total) - 20)) < 0.05);
}

// The curvature at the top knows nothing of a shoulder with a third of the mass.
TEST_CASE("grid: several hyper-parameters, two hills and a wrong curvature") {
  const auto hill = [](const Vec& at, double x, double y, double variance) {
    return std::exp(-0.5 * (std::pow(at[0] - x, 2) + std::pow(at[1] - y, 2)) / variance) / variance;
  };
  for (double factor : {1.0, 3.0, 40.0}) {
    Known of(
        [&](const Vec& at) { return std::log(hill(at, 0, 0, 0.5) + 0.5 * hill(at, 2, 1, 0.7)); },
        Vec::Zero(2), 2 * factor * Mat::Identity(2, 2));
    const Approximation found = explored(of);
    INFO(factor);
    CHECK(std::abs(found.evidence - std::log(2 * M_PI * 1.5)) < 0.03);
    CHECK(std::abs(mean_of(found)[0] - 2.0 / 3) < 0.03);
    CHECK(found.theta_covariance(0, 0) ==
          doctest::Approx((0.5 * 2 + 0.7) / 3 + 4 * 2.0 / 9).epsilon(0.05));
    CHECK(found.theta_covariance(0, 1) == doctest::Approx(2 * 2.0 / 9).epsilon(0.06));
  }
}

TEST_CASE("grid: several hyper-parameters, a density that never falls is left") {
  Known of([](const Vec& theta) { return -0.5 * theta[0] * theta[0]; }, Vec::Zero(2),
           Mat::Identity(2, 2));
  const Approximation found = explored(of);
  CHECK(of.visits < 400);
  CHECK(std::isfinite(found.evidence));
  CHECK(found.unbounded == std::vector<bool>{false, true});
}

TEST_CASE("grid: one hyper-parameter that nothing bounds from above") {
  Known of([](const Vec& theta) { return -0.5 * std::pow(std::min(theta[0], 0.0), 2); },
           Vec::Zero(1), Mat::Identity(1, 1));
  const Approximation found = explored(of);
  CHECK(found.unbounded == std::vector<bool>{true});
  for (const bsvm::Node& node : found.nodes) CHECK(node.theta[0] <= 8);
}

// A free parameter in units of a thousandth, no logarithm.
TEST_CASE("grid: units of the hyper-parameters change nothing else") {
  const auto density = [](const Vec& t) {
    return -0.5 * t.squaredNorm() - 0.3 * t[0] * t[1] - 0.05 * std::exp(t[0]);
  };
  Known of(density, Vec::Zero(2), Mat::Identity(2, 2));
  const Vec unit = Eigen::Vector2d(1, 1e-3);
  Known small([&](const Vec& t) { return density(t.cwiseQuotient(unit)); }, Vec::Zero(2),
              Mat(unit.cwiseInverse().asDiagonal()) * Mat(unit.cwiseInverse().asDiagonal()));
  const Approximation expected = explored(of);
  Approximation found;
  explore(small, {unit, {true, false}}, small.climb(), found);
  CHECK(found.nodes.size() == expected.nodes.size());
  CHECK(gap(found.weights, expected.weights) < 1e-9);
  CHECK(found.evidence == doctest::Approx(expected.evidence + std::log(1e-3)).epsilon(1e-9));
}

TEST_CASE("grid: a node that counts for nothing is left out") {
  for (Index h : {2, 4}) {
    Known of([](const Vec& theta) {
               return theta[0] > 1 ? -50.0 : -0.5 * theta.squaredNorm();
             }, Vec::Zero(h), Mat::Identity(h, h));
    const Approximation found = explored(of);
    for (const bsvm::Node& node : found.nodes) CHECK(node.theta[0] <= 1);
    CHECK(static_cast<int>(found.nodes.size()) < of.visits + 1);
    Index highest = 0;
    found.weights.maxCoeff(&highest);
    CHECK(found.nodes[highest].theta.isZero(0));  // weights stay with their nodes
  }
}

namespace {

// log of a half-Cauchy standard deviation with this scale.
long double log_half_cauchy(long double theta, long double scale) {
  const long double s = std::exp(theta) / scale;
  return std::log(2 / kPi) + std::log(s) - std::log1p(s * s);
}

// Rows that like s small as well as s about one: an evidence of `zero` where s is nothing, which
// falls at `edge`, and a hill of height one and variance `wide` about theta = 0.
struct TwoModes {
  long double zero, edge, scale, wide = 0.09L;
  long double evidence(long double theta) const {
    const long double s = std::exp(theta) / edge;
    return zero / std::pow(1 + s * s, 2) + std::exp(-0.5L * theta * theta / wide) + 1e-6L;
  }
  long double log_density(long double theta) const {
    return std::log(evidence(theta)) + log_half_cauchy(theta, scale);
  }
};

void check_two_modes(const TwoModes& two, double start) {
  Known of([&](const Vec& at) { return static_cast<double>(two.log_density(at[0])); },
           Vec::Constant(1, start), Mat::Constant(1, 1, 11));
  Approximation found;
  explore(of, all_logarithms(1), of.climb(), found, [&](ConstVecRef at) {
    return static_cast<double>(log_half_cauchy(at[0], two.scale));
  });
  const auto integral = [&](auto f) {
    return trapezoid([&](long double t) { return std::exp(two.log_density(t)) * f(t); }, -40, 20,
                     60000);
  };
  const long double total = integral([](long double) { return 1.0L; });
  const long double low =
      integral([](long double t) { return t < -1.5L ? 1.0L : 0.0L; }) / total;
  const long double mean = integral([](long double t) { return t; }) / total;
  const long double sd =
      std::sqrt(integral([&](long double t) { return (t - mean) * (t - mean); }) / total);
  INFO("zero ", static_cast<double>(two.zero), " edge ", static_cast<double>(two.edge), " low ",
       static_cast<double>(low));
  CHECK(std::abs(found.evidence - static_cast<double>(std::log(total))) < 0.03);
  double below = 0;
  for (size_t k = 0; k < found.nodes.size(); ++k)
    if (found.nodes[k].theta[0] < -1.5) below += found.weights[k];
  CHECK(std::abs(below - static_cast<double>(low)) < 0.08);
  CHECK(std::abs(mean_of(found)[0] - static_cast<double>(mean)) < 0.08 * static_cast<double>(sd));
  CHECK(std::sqrt(found.theta_covariance(0, 0)) ==
        doctest::Approx(static_cast<double>(sd)).epsilon(0.1));
  CHECK(of.visits < 45);
}

}  // namespace

// The top is the hill's; up to two thirds of the mass lie behind a dip, a tail to the left.
TEST_CASE("grid: a second mode where a standard deviation is nothing") {
  for (long double zero : {0.0L, 0.5L, 2.0L, 8.0L, 20.0L})
    for (long double edge : {0.05L, 0.15L}) check_two_modes({zero, edge, 0.5L}, 0);
}

// The top is the low mode's.
TEST_CASE("grid: a second mode above one that the data hardly prefer to nothing") {
  check_two_modes({3, 0.15L, 0.5L, 0.25L}, -2.4);
  check_two_modes({10, 0.15L, 0.5L, 0.25L}, -2.4);
}

TEST_CASE("grid: a middle that is not the highest place moves there") {
  for (double start : {-2.0, -1.0, 3.0}) {
    Single line = gaussian_line();
    line.top = start;
    INFO(start);
    check_line(line, 0.01, 0.08, 9);
  }
}

// Nodes that know their slopes: three are enough, wherever the first one is.
TEST_CASE("grid: three nodes have a Gaussian's mass, mean and variance") {
  class WithSlope : public Known {
   public:
    using Known::Known;
    bsvm::Node at(ConstVecRef theta, const bsvm::Node& from) override {
      bsvm::Node out = Known::at(theta, from);
      out.pull = Vec::Constant(1, -4 * (theta[0] - 0.7));
      return out;
    }
  };
  for (double start : {0.55, 0.7, 0.8}) {
    INFO(start);
    WithSlope of([](const Vec& theta) {
                   return static_cast<double>(3 + log_normal(theta[0] - 0.7L, 0.25L));
                 }, Vec::Constant(1, start), Mat::Constant(1, 1, 4));
    const Approximation found = explored(of);
    CHECK(found.nodes.size() == 3);
    CHECK(found.evidence == doctest::Approx(3).epsilon(1e-10));
    CHECK(mean_of(found)[0] == doctest::Approx(0.7).epsilon(1e-10));
    CHECK(found.theta_covariance(0, 0) == doctest::Approx(0.25).epsilon(1e-10));
  }
}

TEST_CASE("grid: where the density is nothing at all it ends") {
  Known of([](const Vec& theta) {
             return theta[0] > 0.3 ? -std::numeric_limits<double>::infinity()
                                   : -0.5 * theta.squaredNorm();
           }, Vec::Zero(1), Mat::Identity(1, 1));
  const Approximation found = explored(of);
  CHECK(of.visits < 40);
  CHECK(std::isfinite(found.evidence));
}

TEST_CASE("grid: an interrupt is passed on") {
  for (Index h : {1, 3}) {
    Known of([](const Vec& theta) { return -0.5 * theta.squaredNorm(); }, Vec::Zero(h),
             Mat::Identity(h, h));
    of.patience = 2;
    Approximation out;
    CHECK_THROWS_AS(explore(of, all_logarithms(of.climb().theta.size()), of.climb(), out),
                    Interrupted);
  }
}
