#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/error.hpp"
#include "block/dense.hpp"
#include "components.hpp"
#include "hosts.hpp"
#include "integral_oracle.hpp"
#include "integrated_groups.hpp"
#include "integrated_sums.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

Data grouped(Index q, Index n = 150) {
  Shape shape;
  shape.n = n;
  shape.q = q;
  shape.groups = 12;
  shape.large = 30;
  return simulate(shape);
}

PriorSpec joint_prior() { return {"huang_wand", Params("huang_wand", {{"effects", 2}, {"df", 2},
                                  {"scale_1", 1}, {"scale_2", 1}}), {0, 1}}; }

Problem problem_of(const Data& data, const std::vector<PriorSpec>& group_priors,
                   const char* likelihood) {
  Problem out = to_problem(data, usual_priors(data.shape.p), group_priors);
  out.likelihood = Registry<Likelihood>::make(likelihood, Params());
  out.integrated = 0;
  return out;
}

Mat whole(RowSums& sums) { return sums.curvature().selfadjointView<Eigen::Lower>(); }

void check_derivatives(IntegratedSource& source, const Vec& point, double tolerance) {
  RowSums sums = sums_at(source, point);
  for (Index j = 0; j < point.size(); ++j) {
    const double h = 1e-5;
    RowSums up = sums_at(source, point + h * Vec::Unit(point.size(), j), Depth::gradient);
    RowSums down = sums_at(source, point - h * Vec::Unit(point.size(), j), Depth::gradient);
    CAPTURE(j);
    CHECK(std::abs(sums.linear()[j] - (up.value() - down.value()) / (2 * h)) <
          tolerance * (1 + sums.linear().norm()));
    CHECK((whole(sums).col(j) + (up.linear() - down.linear()) / (2 * h)).norm() <
          tolerance * (1 + whole(sums).norm()));
  }
}

}  // namespace

TEST_CASE("integrated source: one effect is the long double twin's, at any variance") {
  for (bool ones : {false, true}) {
    Data data = grouped(1);
    data.shape.ones = ones;
    const Problem problem = problem_of(data, {ridge_prior(1, 1, {0})}, "hinge");
    IntegratedGroups twin(problem);
    IntegratedSource source(problem, 1);
    const double unit = problem.multipliers->unit()[0];
    for (double s2 : {1e-8, 0.1, 3.0, 100.0}) {
      Vec inside(4), point(4);
      inside << 0.3, -0.5, 0.4, std::log(s2);
      point << inside.head(3), 0.5 * std::log(s2) + std::log(unit);
      State state(Layout{4, 0, 0});
      state.mean() = inside;
      RowSums expected(4);
      Host host;
      twin.sums(state, expected, host);
      expected.linear()[3] *= 2;  // log s2 = 2 log s
      expected.curvature().row(3).head(3) *= 2;
      expected.curvature()(3, 3) *= 4;
      RowSums sums = sums_at(source, point);
      INFO("s2 " << s2);
      CHECK(gap(sums.value(), expected.value()) < 1e-12);
      CHECK(sums.rows() == 150);
      CHECK((sums.linear() - expected.linear()).norm() < 1e-8 * (1 + expected.linear().norm()));
      CHECK((whole(sums) - whole(expected)).norm() < 1e-6 * (1 + whole(expected).norm()));
    }
  }
}

TEST_CASE("integrated source: derivatives on the outside scale, one effect or two") {
  for (const char* likelihood : kLikelihoods) {
    Data one = grouped(1), two = grouped(2, 80);
    one.z *= 37;
    two.z.col(1) *= 0.02;
    INFO(likelihood);
    const Problem single = problem_of(one, {ridge_prior(1, 1, {0})}, likelihood);
    IntegratedSource scalar(single, 1);
    REQUIRE(scalar.free() == 1);
    check_derivatives(scalar, (Vec(4) << 0.3, -0.5, 0.4, -3.2).finished(), 1e-5);
    const Problem both = problem_of(two, {joint_prior()}, likelihood);
    IntegratedSource joint(both, 1);
    REQUIRE(joint.free() == 3);
    check_derivatives(joint, (Vec(6) << 0.3, -0.5, 0.4, 0.1, 20, 3).finished(), 1e-3);
    const Problem apart =
        problem_of(two, {ridge_prior(1, 1, {1}), ridge_prior(1, 1, {0})}, likelihood);
    IntegratedSource independent(apart, 1);  // the second effect's prior comes first
    REQUIRE(independent.free() == 2);
    const Vec point = (Vec(5) << 0.3, -0.5, 0.4, 3, 0.1).finished();
    check_derivatives(independent, point, 1e-3);
    const Vec twin = (Vec(6) << 0.3, -0.5, 0.4, 0.1, 0, 3).finished();
    CHECK(gap(sums_at(independent, point).value(), sums_at(joint, twin).value()) < 1e-9);
    const Problem fixed = problem_of(two, {normal_prior(std::exp(0.2), {0}),
                                           normal_prior(std::exp(6), {1})}, likelihood);
    IntegratedSource known(fixed, 1);
    REQUIRE(known.free() == 0);
    CHECK(gap(sums_at(known, point.head(3)).value(), sums_at(joint, twin).value()) < 1e-9);
  }
}

TEST_CASE("integrated source: threads do not change a bit") {
  for (const char* likelihood : kLikelihoods)
    for (Index q : {1, 2}) {
      if (q == 2 && std::string(likelihood) != "hinge") continue;  // slow, and no other path
      const Data data = grouped(q, q == 1 ? 5000 : 1100);
      const Problem problem = problem_of(data, usual_group_priors(q), likelihood);
      Vec point = Vec::Constant(3 + q, 0.2);
      IntegratedSource one(problem, 1), three(problem, 3);
      CHECK(sums_at(one, point).x == sums_at(three, point).x);
      Host host;
      CHECK(one.law(point, host).mean == three.law(point, host).mean);
    }
}

// Rows shuffled within what the factor sees, columns of the other factor written out.
TEST_CASE("integrated source: the other factors' effects are columns like the rest") {
  Shape shape;
  shape.n = 90;
  shape.p = 2;
  for (const char* likelihood : kLikelihoods)
    for (Index at : {0, 1}) {
      const SparseData sparse = crossed(shape, {7, 5});
      Problem problem = sparse.problem();
      problem.likelihood = Registry<Likelihood>::make(likelihood, Params());
      problem.integrated = at;
      IntegratedSource source(problem, 1);
      const Index others = at == 0 ? 5 : 7, levels = 12 - others, d = 2 + others;
      REQUIRE(source.coefficients() == d);

      // The twin: dense columns divided so that inside scales agree.
      const Mat z = sparse.dense();
      Data data = sparse.data;
      data.shape.p = d;
      data.shape.q = 1;
      data.shape.ones = true;
      data.shape.groups = levels;
      data.x.resize(90, d);
      data.x << inside(problem).transpose(), (at == 0 ? z.rightCols(5) : z.leftCols(7));
      data.center = Vec::Zero(d);
      data.scale = Vec::Ones(d);
      data.group.assign(90, 0);
      for (Index i = 0; i < 90; ++i)
        for (Index level = 0; level < levels; ++level)
          if (z(i, (at == 0 ? 0 : 7) + level) != 0) data.group[i] = static_cast<int>(level) + 1;
      const Problem dense = problem_of(data, usual_group_priors(1), likelihood);
      IntegratedSource twin(dense, 1);
      const Vec unit = dense.blocks[0]->unit();
      Noise noise(5);
      Vec point = noise.normals(d + 1), there = point;
      there.head(d) = point.head(d).cwiseQuotient(unit);
      Vec scale = Vec::Ones(d + 1);
      scale.head(d) = unit;
      RowSums sums = sums_at(source, point), expected = sums_at(twin, there);
      CHECK(gap(sums.value(), expected.value()) < 1e-12);
      CHECK(gap(sums.linear(), expected.linear().cwiseQuotient(scale)) < 1e-9);
      const Mat expected_curvature =
          scale.cwiseInverse().asDiagonal() * whole(expected) * scale.cwiseInverse().asDiagonal();
      CHECK(gap(whole(sums), expected_curvature) < 1e-9);
      Host host;
      const GroupPosterior law = source.law(point, host), twin_law = twin.law(there, host);
      CHECK(gap(law.mean, twin_law.mean) < 1e-9);
      CHECK(gap(law.regression, unit.cwiseInverse().asDiagonal() * twin_law.regression) < 1e-8);
    }
}

TEST_CASE("integrated source: the law of the effects moves with the coefficients as it says") {
  for (const char* likelihood : kLikelihoods)
    for (Index q : {1, 2}) {
      const Data data = grouped(q, 60);
      const Problem problem = problem_of(data, usual_group_priors(q), likelihood);
      IntegratedSource source(problem, 1);
      Vec point = Vec::Constant(3 + q, 0.3);
      Host host;
      const GroupPosterior law = source.law(point, host);
      REQUIRE(law.mean.cols() == 12);
      for (Index j = 0; j < 3; ++j) {
        const double h = 1e-4;
        const Mat up = source.law(point + h * Vec::Unit(3 + q, j), host).mean;
        const Mat down = source.law(point - h * Vec::Unit(3 + q, j), host).mean;
        for (Index g = 0; g < 12; ++g)
          for (Index a = 0; a < q; ++a)
            CHECK(std::abs((up(a, g) - down(a, g)) / (2 * h) + law.regression(a * 3 + j, g)) <
                  1e-4);
      }
      for (Index a = 0; a < q; ++a) {  // the last group has no rows: its prior
        const double s = std::exp(0.3) / problem.multipliers->unit()[a];
        CHECK(std::abs(law.mean(a, 11)) < 1e-8);
        CHECK(law.precision(a * (q + 1), 11) == doctest::Approx(1 / (s * s)).epsilon(1e-6));
      }
    }
}

TEST_CASE("integrated source: quantiles are where the mixture's distribution is") {
  for (const char* likelihood : kLikelihoods)
    for (Index q : {1, 2}) {
      const Data data = grouped(q, 40);
      const Problem problem = problem_of(data, usual_group_priors(q), likelihood);
      IntegratedSource source(problem, 1);
      Mat points(3 + q, 2);
      points.col(0) = Vec::Constant(3 + q, 0.3);
      points.col(1) = Vec::Constant(3 + q, -0.4);
      const Vec weights = (Vec(2) << 0.3, 0.7).finished();
      const Vec probabilities = (Vec(4) << 0.01, 0.4, 0.5, 0.999).finished();
      Host host;
      const Mat found = source.quantiles(points, weights, probabilities, host);
      // The last group has no rows: there the mixture is of its two priors.
      for (Index a = 0; a < q; ++a)
        for (Index k = 0; k < 4; ++k) {
          const Real x = found(k, 11 * q + a);
          const Real p = 0.3L * (1 - 0.5L * std::erfc(x * std::exp(-0.3L) / std::sqrt(2.0L))) +
                         0.7L * (1 - 0.5L * std::erfc(x * std::exp(0.4L) / std::sqrt(2.0L)));
          CHECK(std::abs(p - probabilities[k]) < 1e-7);
        }
      if (q == 2) continue;
      // Another group by brute force.
      const RowLaw& law = std::string(likelihood) == "hinge" ? kPseudo : kNormalised;
      const Mat c = inside(problem), z = inside(*problem.multipliers, 40);
      for (Index k = 0; k < 4; ++k) {
        Real p = 0;
        for (Index point : {0, 1}) {
          std::vector<Index> rows;
          for (Index i = 0; i < 40; ++i)
            if (data.group[i] == 2) rows.push_back(i);
          const Index r = static_cast<Index>(rows.size());
          RowsData own{Vec(r), Vec(r), Vec(r), Vec(r), Mat::Ones(1, r)};
          for (Index i = 0; i < r; ++i) {
            own.y[i] = data.y[rows[i]];
            own.weight[i] = data.weight[rows[i]];
            own.z[i] = z(0, rows[i]) / problem.multipliers->unit()[0];
            own.o[i] = data.offset[rows[i]] + c.col(rows[i]).dot(points.col(point).head(3));
          }
          const Real s = std::exp(static_cast<Real>(points(3, point)));
          p += weights[point] * brute_force(law, own, s, {found(k, 1)}).cdf[0];
        }
        CHECK(std::abs(p - probabilities[k]) < 1e-7);
      }
    }
}

TEST_CASE("integrated source: it stops when asked, and refuses what it can't do") {
  const Data data = grouped(1, 4000), three = grouped(3, 60);
  const Problem problem = problem_of(data, usual_group_priors(1), "hinge");
  IntegratedSource source(problem, 1);
  ImpatientHost host(3);
  RowSums sums(4);
  CHECK_THROWS_AS(source.sums(Vec::Zero(4), Depth::gradient, sums, host), Interrupted);
  const Problem many = problem_of(three, usual_group_priors(3), "hinge");
  CHECK_THROWS_AS(IntegratedSource(many, 1), InvalidInput);
  CHECK_THROWS_AS(sums_at(source, (Vec(4) << 0, 0, 0, -2000).finished()), NumericalFailure);
  Shape shape;
  shape.n = 40;
  SparseData overlapping(shape);
  Noise noise(3);
  overlapping.add_predictors(Mat::Ones(40, 2));
  Problem predictors = overlapping.problem();
  predictors.integrated = 0;
  CHECK_THROWS_AS(IntegratedSource(predictors, 1), InvalidInput);
}
