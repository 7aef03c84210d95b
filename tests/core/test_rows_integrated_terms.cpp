#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "components.hpp"
#include "hosts.hpp"
#include "rows/integrated/integrated_source.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

Data grouped(Index q) {
  Shape shape;
  shape.n = 60;
  shape.q = q;
  shape.groups = 9;
  return simulate(shape);
}

Problem problem_of(const Data& data, const char* likelihood) {
  Problem out = to_problem(data, usual_priors(data.shape.p), usual_group_priors(data.shape.q));
  out.likelihood = Registry<Likelihood>::make(likelihood, Params());
  out.integrated = 0;
  return out;
}

double value_at(const Problem& problem, const Vec& point) {
  IntegratedSource source(problem, 1);
  Host host;
  RowSums out(point.size());
  source.sums(point, Depth::value, out, host);
  return out.value();
}

}  // namespace

TEST_CASE("integrated terms: groups add up, a row's term is what leaving it out takes away") {
  for (const char* likelihood : kLikelihoods)
    for (Index q : {1, 2}) {
      Data data = grouped(q);
      const Problem problem = problem_of(data, likelihood);
      IntegratedSource source(problem, 1);
      Noise noise(3);
      Mat points(3 + q, 2);
      for (Index k = 0; k < 2; ++k) points.col(k) = 0.5 * noise.normals(3 + q);
      Host host;
      const Mat groups = source.group_terms(points, host), rows = source.row_terms(points, host);
      REQUIRE(groups.rows() == 9);
      REQUIRE(rows.rows() == 60);
      const double tolerance = std::string(likelihood) == "hinge" ? 1e-8 : q == 1 ? 1e-6 : 1e-4;
      for (Index k = 0; k < 2; ++k) {
        INFO(likelihood << " effects " << q << " point " << k);
        const double all = value_at(problem, points.col(k));
        CHECK(std::abs(groups.col(k).sum() - all) < 9 * tolerance);
        for (Index i : {0, 7, 31, 59}) {
          const double weight = data.weight[i];
          data.weight[i] = 0;
          CHECK(std::abs(rows(i, k) - (all - value_at(problem, points.col(k)))) < tolerance);
          data.weight[i] = weight;
        }
      }
    }
}

TEST_CASE("integrated terms: a group of one row is its own term; threads do not change a bit") {
  for (const char* likelihood : kLikelihoods) {
    Data data = grouped(1);
    for (int& code : data.group) code = code == 1 ? 2 : code;
    data.group[20] = 1;
    const Problem problem = problem_of(data, likelihood);
    IntegratedSource one(problem, 1), three(problem, 3);
    const Mat points = Mat::Constant(4, 1, 0.3);
    Host host;
    const Mat rows = one.row_terms(points, host);
    CHECK(std::abs(rows(20, 0) - one.group_terms(points, host)(0, 0)) < 1e-6);
    CHECK(rows == three.row_terms(points, host));
    CHECK(one.group_terms(points, host) == three.group_terms(points, host));
  }
}
