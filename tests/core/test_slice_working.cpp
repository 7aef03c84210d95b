// The Gaussian that grouped slice chains move by, against dense algebra.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>

#include "linalg/dense.hpp"
#include "rows/lines/predictors.hpp"
#include "slice/working_gaussian.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

// Z (n, u) of all factors.
Mat dense_effects(const Problem& problem) {
  const SparseColumns& sparse = problem.sparse;
  Mat out = Mat::Zero(problem.n, sparse.columns);
  for (Index k = 0; k < sparse.columns; ++k)
    for (int e = sparse.start[k]; e < sparse.start[k + 1]; ++e)
      out(sparse.row[e], k) = sparse.value[e];
  return out;
}

Mat dense_prior(const std::vector<FactorRows>& factors, const Mat& prior, Index size) {
  Mat out = Mat::Zero(size, size);
  for (const FactorRows& own : factors)
    for (Index g = 0; g < own.levels; ++g)
      out.block(own.at(g), own.at(g), own.effects, own.effects) =
          prior.block(own.first_effect, own.first_effect, own.effects, own.effects);
  return out;
}

struct Case {
  SparseData data;
  Problem problem;
  Predictors rows;
  WorkingRows working;
  Mat prior;

  explicit Case(SparseData of)
      : data(std::move(of)), problem(data.problem()), rows((set_likelihood(problem), problem)),
        working(problem, rows.design()) {
    working.set(*problem.likelihood, Noise(7).normals(problem.n), Vec::Constant(problem.n, 0.7));
    const Index q = problem.effects();
    prior = Mat::Identity(q, q) * 1.3;
  }
  static void set_likelihood(Problem& problem) {
    problem.likelihood = Registry<Likelihood>::make("hinge_normalized", Params());
  }
};

}  // namespace

TEST_CASE("working Gaussian: regressions, axes and precisions are the dense system's") {
  Shape shape;
  shape.n = 60;
  shape.p = 3;
  Case of(crossed(shape, {9, 5}));
  WorkingGaussian gaussian(of.working, of.rows.design());
  gaussian.find(of.prior);
  const Mat z = dense_effects(of.problem), w = of.working.weight().asDiagonal();
  const Mat all = z.transpose() * w * z +
                  dense_prior(of.working.factors(), of.prior, z.cols());
  CHECK((of.working.cross() - z.transpose() * w * of.rows.design()).norm() < 1e-12);

  // Crossed: a few steps of conjugate gradients; lines and precision are those of the regression
  // there is.
  const Mat exact = all.llt().solve(of.working.cross());
  CHECK((gaussian.regression() - exact).norm() < 1e-2 * exact.norm());
  const Mat lines = of.rows.design() - z * gaussian.regression();
  CHECK((gaussian.lines() - lines).norm() < 1e-11);
  const Mat left = lines.transpose() * w * lines +
                   gaussian.regression().transpose() *
                       dense_prior(of.working.factors(), of.prior, z.cols()) *
                       gaussian.regression();
  CHECK((gaussian.precision() - left).norm() < 1e-10 * left.norm());

  // One level of the smaller factor with the larger one following.
  const Index main = of.working.main(), other = 1 - main;
  const FactorRows &large = of.working.factors()[main], &small = of.working.factors()[other];
  CHECK(large.levels == 9);
  const Mat inner = all.block(large.first, large.first, 9, 9);
  for (Index l = 0; l < small.levels; ++l) {
    const Vec cross = all.block(large.first, small.at(l), 9, 1);
    const Vec follow = inner.llt().solve(cross);
    const double schur = all(small.at(l), small.at(l)) - cross.dot(follow);
    CHECK(*gaussian.joint_factor(other, l) == doctest::Approx(std::sqrt(schur)).epsilon(1e-12));
    const WorkingRows::Links& links = of.working.links(other);
    Vec found = Vec::Zero(9);
    for (Index k = links.start[l]; k < links.start[l + 1]; ++k)
      found[links.level[k]] = gaussian.follow(other)(0, k);
    CHECK((found - follow).norm() < 1e-12);
  }
}

TEST_CASE("working rows: what is saved is all there is") {
  Shape shape;
  shape.n = 40;
  shape.p = 2;
  Case of(crossed(shape, {6, 4}));
  const Vec saved = of.working.save();
  const Mat cross = of.working.cross(), gram = of.working.gram(0);
  of.working.set(*of.problem.likelihood, Noise(3).normals(40), Vec::Ones(40));
  CHECK((of.working.cross() - cross).norm() > 1e-3);
  of.working.restore(saved);
  CHECK(of.working.cross() == cross);
  CHECK(of.working.gram(0) == gram);
}
