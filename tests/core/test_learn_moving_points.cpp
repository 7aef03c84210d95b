// Inducing inputs that move: the gradient against differences of bounds found anew, and what the
// climb promises.
#include <doctest/doctest.h>

#include "additive_data.hpp"
#include "hosts.hpp"
#include "learn/moving_points.hpp"

using namespace bsvm_test;

namespace {

constexpr double kTight = 1e-16;

// Some rows, a little aside.
Mat points_near(const Mat& inputs, Index m, Noise& noise) {
  Mat out(inputs.rows(), m);
  for (Index j = 0; j < m; ++j)
    out.col(j) = inputs.col(j * inputs.cols() / m) + 0.2 * noise.normals(inputs.rows());
  return out;
}

AdditiveSpec with_points(AdditiveSpec spec, const std::vector<Index>& counts) {
  Noise noise(11);
  for (size_t k = 0; k < counts.size(); ++k)
    if (counts[k] > 0)
      spec.summands[k].inducing = points_near(spec.summands[k].inputs, counts[k], noise);
  return spec;
}

SummandSpec with_kernel(SummandSpec spec, const char* kernel, std::map<std::string, double> more) {
  spec.kernel = kernel;
  for (const auto& one : more) spec.numbers[one.first] = one.second;
  return spec;
}

std::vector<bool> all_of(const AdditiveSpec& spec) {
  std::vector<bool> out;
  for (const SummandSpec& one : spec.summands) out.push_back(one.inducing.size() > 0);
  return out;
}

void check_gradient(const AdditiveSpec& spec, double tolerance) {
  Host host;
  MovingPoints points(spec.model(), all_of(spec), host);
  const MovingPoints::Value at = points.at(points.start(), nullptr, kTight);
  REQUIRE(at.at.rows.converged);
  const double h = 6e-4;
  double largest = 0;
  for (Index k = 0; k < at.theta.size(); ++k) {
    const auto objective = [&](double by) {
      Vec theta = at.theta;
      theta[k] += by;
      return points.at(theta, &at, kTight).objective();
    };
    const double expected =
        (8 * (objective(h) - objective(-h)) - (objective(2 * h) - objective(-2 * h))) / (12 * h);
    if (k < at.at.theta.size() && at.gradient[k] == 0) continue;  // a kernel's own number stays
    largest = std::max(largest, std::abs(at.gradient[k] - expected) / (1 + std::abs(expected)));
  }
  CHECK(largest < tolerance);
}

}  // namespace

TEST_CASE("moving points: the gradient is that of bounds found anew") {
  for (const char* likelihood : kAdditiveLikelihoods) {
    CAPTURE(std::string(likelihood));
    AdditiveSpec spec = wavy(40, likelihood, false);
    check_gradient(with_points(spec, {7}), 2e-7);
    SummandSpec& own = spec.summands[0];
    own = with_kernel(own, "matern", {{"nu", 1.5}});
    check_gradient(with_points(spec, {7}), 2e-7);
    own = with_kernel(own, "matern", {{"nu", 2.5}});
    spec.summands.push_back(se_summand(own.inputs, -0.3, Vec(Vec::LinSpaced(2, 0.6, -0.2))));
    check_gradient(with_points(spec, {7, 4}), 2e-7);
    check_gradient(with_points(wavy(30, likelihood, true), {6, 0, 5}), 2e-7);
  }
}

TEST_CASE("moving points: kernels whose variance differs between inputs") {
  AdditiveSpec spec = wavy(30, "hinge_normalized", false);
  SummandSpec own = spec.summands[0];
  own.kernel = "poly";
  own.numbers = {{"variables", 2}, {"ard", 0}, {"degree", 3}, {"offset", 0.5}};
  own.square = own.inputs.cwiseAbs2().rowwise().mean();
  own.start = Vec::Constant(1, -0.5);
  own.length = {false};
  own.free = {true};
  spec.summands[0] = own;
  // the diagonal's raise by 1e-8 moves with it
  check_gradient(with_points(spec, {5}), 1e-6);
}

TEST_CASE("moving points: the bound rises, stays below the full one, and points stay apart") {
  for (const char* likelihood : {"hinge_normalized", "normal"}) {
    CAPTURE(std::string(likelihood));
    AdditiveSpec spec = wavy(80, likelihood, false);
    for (SummandSpec& one : spec.summands) one.free.assign(one.free.size(), false);
    Host host;
    const Additive::Value full = Additive(spec.model(), host).at(
        Additive(spec.model(), host).start(), nullptr, kTight);
    for (const Index m : {2, 5, 10}) {
      const AdditiveSpec some = with_points(spec, {m});
      const MovingPoints::Moved moved =
          MovingPoints(some.model(), all_of(some), host).climb();
      CHECK(moved.value.objective() > moved.before + 0.1);
      CHECK(moved.value.at.bound < full.bound);
      CHECK(moved.points[0].cols() == m);
      const Mat apart = squared_distances(moved.points[0], moved.points[0]) +
                        Mat(Mat::Identity(m, m) * 1e3);
      CHECK(std::sqrt(apart.minCoeff()) > 0.05);
      const MovingPoints::Moved again = MovingPoints(some.model(), all_of(some), host).climb();
      CHECK(again.points[0] == moved.points[0]);
    }
  }
}

TEST_CASE("moving points: those that stay are as they were") {
  AdditiveSpec spec = wavy(40, "hinge_normalized", false);
  spec.summands.push_back(se_summand(spec.summands[0].inputs, -0.3, Vec::Constant(1, -0.5)));
  const AdditiveSpec some = with_points(spec, {6, 4});
  Host host;
  MovingPoints points(some.model(), {false, true}, host);
  const MovingPoints::Moved moved = points.climb();
  CHECK(moved.points[0].size() == 0);
  CHECK(moved.points[1].cols() == 4);
  CHECK(moved.value.theta.size() == 4 + 8);
  CHECK(moved.value.at.theta[1] == some.summands[0].start[1]);
}
