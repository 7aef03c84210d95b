// The covariance that variational Bayes implies, against the twin's optimum with a tilt added.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.hpp"
#include "fitting.hpp"
#include "hosts.hpp"
#include "rows/make_source.hpp"
#include "sparse_data.hpp"
#include "variational/linear_response.hpp"

using namespace bsvm_test;

namespace {

// A pass of the papers' updates under a log density with t'b added.
void tilted_pass(Twin& twin, const VecL& tilt) {
  twin.set_prior();
  Oracle& q = twin.q;
  const VecL w = q.terms().weight;
  q.covariance = inverse(q.precision(w));
  const VecL linear = (q.weight + w).cwiseProduct(q.y) - w.cwiseProduct(q.offset);
  q.mean = product(q.covariance, product(q.c.transpose(), linear) + tilt).col(0);
  q.begun = true;
  for (TwinPrior& prior : twin.priors) prior.update(twin.square(prior));
}

VecL tilted_mean(Twin twin, const VecL& tilt) {
  for (int k = 0; k < 20000; ++k) {
    const VecL before = twin.q.mean;
    tilted_pass(twin, tilt);
    if ((twin.q.mean - before).norm() < 1e-16L) break;
  }
  return twin.q.mean;
}

// (p, p) d E b / d tilt of the dense coefficients.
MatL implied(const Twin& twin) {
  const Index p = twin.q.p;
  const Real h = 1e-4L;
  MatL out(p, p);
  for (Index j = 0; j < p; ++j) {
    const VecL tilt = h * VecL::Unit(twin.q.size(), j);
    out.col(j) = (tilted_mean(twin, tilt) - tilted_mean(twin, -tilt)).head(p) / (2 * h);
  }
  return out;
}

Mat response(Problem& problem, const Options& options = Options()) {
  const auto source = make_source(problem, Use::augmented, 1);
  Host host;
  return linear_response(problem, *engine_vb(), *source, options, host);
}

Data data_of(Index q) {
  Shape shape;
  shape.n = 60;
  shape.p = 3;
  shape.q = q;
  if (q > 0) shape.groups = 6;
  return simulate(shape);
}

}  // namespace

TEST_CASE("linear response: it is the derivative of the optimum's mean in a tilt") {
  for (Index q : {0, 1, 2}) {
    INFO("effects ", q);
    const Data data = data_of(q);
    Problem problem = usual_problem(data);
    Twin twin = usual_twin(data);
    REQUIRE(twin.run(100000, 1e-15) < 100000);
    const MatL expected = implied(twin);
    const Mat found = response(problem);
    CHECK(gap(found, expected) < 2e-3);  // its differences are a thirtieth of an sd
    CHECK(problem.tilt.size() == 0);
    CHECK(found == found.transpose());
    // q's own variances are smaller: that is why anyone asks.
    const OutsideMoments own = fit(problem).outside;
    for (Index j = 0; j < 3; ++j) CHECK(found(j, j) > 1.1 * own.covariance(j, j));
  }
}

TEST_CASE("linear response: with known variances too") {
  const Data data = data_of(0);
  Problem problem = to_problem(data, {normal_prior(100, {0}), normal_prior(2, {1, 2})}, {});
  Twin twin{Oracle(data, data.design(), Mat()),
            {fixed_variance(100, {0}), fixed_variance(2, {1, 2})}};
  REQUIRE(twin.run(100000, 1e-15) < 100000);
  CHECK(gap(response(problem), implied(twin)) < 2e-3);
}

// Rows that weigh next to nothing: the posterior is the prior, a Gaussian, and q is exact.
TEST_CASE("linear response: of a Gaussian it is the covariance") {
  Data data = data_of(0);
  data.weight.setConstant(1e-9);
  Problem problem = to_problem(data, {normal_prior(4, {0}), normal_prior(0.5, {1, 2})}, {});
  CHECK(gap(response(problem), Mat(Eigen::Vector3d(4, 0.5, 0.5).asDiagonal())) < 1e-6);
}

TEST_CASE("linear response: columns in other units") {
  const Data data = data_of(0);
  Data other = data;
  other.x.col(1) *= 1000;  // in units of a thousandth, not standardised
  other.center[1] *= 1000;
  Problem problem = to_problem(data, {normal_prior(9, {0, 1, 2})}, {});
  Problem scaled = to_problem(other, {normal_prior(9, {0, 2}), normal_prior(9e-6, {1})}, {});
  const Vec unit = Eigen::Vector3d(1, 1e-3, 1);
  CHECK(gap(response(scaled), unit.asDiagonal() * response(problem) * unit.asDiagonal()) < 1e-4);
}

TEST_CASE("linear response: of crossed factors it is that of their columns written out") {
  Shape shape;
  shape.n = 70;
  shape.p = 2;
  const SparseData sparse = crossed(shape, {6, 4});
  Problem problem = sparse.problem({normal_prior(1.5, {0}), normal_prior(0.7, {1})});
  Data dense = sparse.data;
  dense.shape.p = 12;
  dense.x.resize(70, 12);
  dense.x << sparse.data.design(), sparse.dense();
  dense.center = Vec::Zero(12);
  dense.scale = Vec::Ones(12);
  std::vector<PriorSpec> priors = usual_priors(2);
  priors.push_back(normal_prior(1.5, range(2, 8)));
  priors.push_back(normal_prior(0.7, range(8, 12)));
  Problem twin = to_problem(dense, priors, {});
  CHECK(gap(response(problem), response(twin).topLeftCorner(2, 2)) < 1e-4);
}

TEST_CASE("linear response: an interrupt leaves the problem as it was") {
  const Data data = data_of(1);
  Problem problem = usual_problem(data);
  const auto source = make_source(problem, Use::augmented, 1);
  ImpatientHost counting(1000000);
  const auto run = [&](Host& host) {
    return linear_response(problem, *engine_vb(), *source, Options(), host);
  };
  run(counting);
  ImpatientHost host(counting.calls / 2);
  CHECK_THROWS_AS(run(host), Interrupted);
  CHECK(problem.tilt.size() == 0);
}
