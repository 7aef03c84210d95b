#include <doctest/doctest.h>

#include <cmath>

#include "coefficients/free_parameters.hpp"
#include "components.hpp"
#include "oracle.hpp"
#include "simulate.hpp"

using namespace bsvm_test;

namespace {

struct Case {
  std::unique_ptr<Prior> prior;
  Moments moments;
};

std::vector<Case> variances() {
  std::vector<Case> out;
  const Params half_t("half_t", {{"df", 2}, {"scale", 1.5}});
  const Params ridge("ridge", {{"shape", 0.6}, {"scale", 0.3}});
  for (const Moments& moments : {Moments(), Moments{Vec::Constant(1, 7.0), 12, 0},
                                 Moments{Vec::Constant(1, 1e-6), 3, 0},
                                 Moments{Vec::Constant(1, 1e5), 400, 100}}) {
    out.push_back({Registry<Prior>::make("half_t", half_t), moments});
    out.push_back({Registry<Prior>::make("ridge", ridge), moments});
  }
  return out;
}

std::vector<Case> covariances() {
  std::vector<Case> out;
  const Params wishart("inverse_wishart", {{"effects", 2}, {"df", 3.5}, {"scale_1_1", 1},
                                           {"scale_2_1", 0.4}, {"scale_2_2", 2}});
  const Params huang_wand("huang_wand",
                          {{"effects", 2}, {"df", 2}, {"scale_1", 1}, {"scale_2", 2}});
  Moments known{Vec(4), 2 * 15, 0};
  known.square << 20, 9, 9, 30;
  for (const Moments& moments : {Moments(), known}) {
    out.push_back({Registry<Prior>::make("inverse_wishart", wishart), moments});
    out.push_back({Registry<Prior>::make("huang_wand", huang_wand), moments});
  }
  return out;
}

double value(const Case& of, const Vec& theta) {
  Vec unused(theta.size());
  return of.prior->log_joint(of.moments, theta, unused);
}

// The highest point of a grid that goes where it is, and shrinks when that is its centre.
Vec by_grids(const Case& of, Index size) {
  Vec best = Vec::Zero(size), centre = best;
  const int half = size == 1 ? 40 : 5;
  for (double width = size == 1 ? 20 : 3; width > 1e-6; width /= best == centre ? 2 : 1) {
    centre = best;
    for (Index at = 0; at < static_cast<Index>(std::pow(2 * half + 1, size)); ++at) {
      Vec theta = centre;
      for (Index k = 0, rest = at; k < size; ++k, rest /= 2 * half + 1)
        theta[k] += width * static_cast<double>(rest % (2 * half + 1) - half) / half;
      if (value(of, theta) > value(of, best)) best = theta;
    }
  }
  return best;
}

void check_maximum(const Case& of, Index size, double far) {
  const Vec best = by_grids(of, size);
  for (double start : {0.0, far, -far}) {
    const Vec found = maximise_joint(*of.prior, of.moments, Vec::Constant(size, start));
    INFO("from ", start);
    CHECK(value(of, found) >= value(of, best) - 1e-9 * (1 + std::abs(value(of, best))));
    if (of.moments.count > 0 || size == 1) CHECK((found - best).norm() < 1e-4);
  }
}

}  // namespace

TEST_CASE("free parameters: the best variance is found from far away") {
  for (const Case& each : variances()) check_maximum(each, 1, 10);
}

TEST_CASE("free parameters: the best covariance is found from far away") {
  for (const Case& each : covariances()) check_maximum(each, 3, 4);
}

// With k coefficients and a ridge prior it is (2 B + E b^2) / (2 A + k).
TEST_CASE("free parameters: the best variance of a ridge prior, in closed form") {
  const Case of{Registry<Prior>::make("ridge", Params("ridge", {{"shape", 0.6}, {"scale", 0.3}})),
                {Vec::Constant(1, 7.0), 12, 0}};
  const Vec found = maximise_joint(*of.prior, of.moments, Vec::Zero(1));
  CHECK(std::exp(2 * found[0]) == doctest::Approx(7.6 / 13.2).epsilon(1e-9));
}

TEST_CASE("free parameters: second derivatives are differences of the value") {
  const auto check = [](const Case& of, const Vec& theta) {
    const Index size = theta.size();
    const Mat found = joint_hessian(*of.prior, of.moments, theta);
    const double h = 1e-3;
    for (Index i = 0; i < size; ++i)
      for (Index j = 0; j < size; ++j) {
        const Vec a = h * Vec::Unit(size, i), b = h * Vec::Unit(size, j);
        const double second = (value(of, theta + a + b) - value(of, theta + a - b) -
                               value(of, theta - a + b) + value(of, theta - a - b)) / (4 * h * h);
        CHECK(std::abs(found(i, j) - second) < 1e-4 * (1 + found.norm()));
      }
  };
  for (const Case& each : variances()) check(each, Vec::Constant(1, 0.4));
  for (const Case& each : covariances()) check(each, Eigen::Vector3d(0.4, -0.6, -0.2));
}

TEST_CASE("free parameters: a root's off-diagonal entries go by their row's diagonal one") {
  Problem problem;
  const Params ridge("ridge", {{"shape", 1}, {"scale", 1}});
  const Params wishart("inverse_wishart",
                       {{"effects", 3}, {"df", 4}, {"scale_1_1", 1}, {"scale_2_1", 0},
                        {"scale_2_2", 1}, {"scale_3_1", 0}, {"scale_3_2", 0}, {"scale_3_3", 1}});
  problem.priors.push_back({Registry<Prior>::make("ridge", ridge), {0, 1}, 0});
  problem.group_priors.push_back({Registry<Prior>::make("inverse_wishart", wishart), {0, 1, 2}, 0});
  Vec theta(7);
  theta << 0.3, 1, 20, -2, 30, 40, 0.5;
  const FreeUnits found = free_units(problem, theta);
  Vec expected(7);
  expected << 1, 1, std::exp(-2), 1, std::exp(0.5), std::exp(0.5), 1;
  CHECK(gap(found.unit, expected) < 1e-15);
  CHECK(found.logarithm == std::vector<bool>{true, true, false, true, false, false, true});
}
