// Rows as the likelihood's atoms see them, one or two a row, against the likelihood itself.
#include <doctest/doctest.h>

#include "point/design.hpp"
#include "point/estimator.hpp"
#include "sparse_data.hpp"
#include "two_atoms.hpp"

using namespace bsvm_test;

namespace {

constexpr double kRate = 1.7, kWidth = 0.4;

Shape shape_of(bool groups) {
  Shape shape;
  shape.n = 30;
  shape.p = 3;
  shape.q = groups ? 2 : 0;
  shape.groups = groups ? 5 : 0;
  return shape;
}

// (n) f of dense columns, groups or sparse columns, b outside.
Vec predictors(const Problem& problem, const Design& design, const Vec& b) {
  const Vec inside_b = b.cwiseQuotient(design.unit);
  const Mat c = inside(problem);
  Vec f = Eigen::Map<const Vec>(problem.offset, problem.n);
  f += c.transpose() * inside_b.head(c.rows());
  Index at = c.rows();
  if (problem.multipliers) {
    const Mat z = inside(*problem.multipliers, problem.n);
    for (Index i = 0; i < problem.n; ++i)
      f[i] += z.col(i).dot(inside_b.segment(at + (problem.group[i] - 1) * z.rows(), z.rows()));
  }
  for (Index j = 0; j < problem.sparse.columns; ++j)
    for (int e = problem.sparse.start[j]; e < problem.sparse.start[j + 1]; ++e)
      f[problem.sparse.row[e]] += problem.sparse.value[e] * b[at + j];
  return f;
}

void check_rows(Problem problem) {
  problem.likelihood.reset(new Insensitive(kRate, kWidth));
  const Insensitive law(kRate, kWidth);
  const Design design(problem);
  const Index n = problem.n;
  REQUIRE(design.rows() == 2 * n);
  Noise noise(5);
  for (int trial = 0; trial < 4; ++trial) {
    const Vec b = noise.normals(design.columns()).cwiseProduct(design.unit);
    const Vec f = predictors(problem, design, b), inside_b = b.cwiseQuotient(design.unit);
    double expected = 0;
    for (Index i = 0; i < n; ++i)
      expected -= (problem.weight ? problem.weight[i] : 1) * law.log_p(problem.y[i], f[i]);
    const Vec left = design.kink - design.times(inside_b);
    CHECK(design.cost.dot(left.cwiseMax(0)) == doctest::Approx(expected).epsilon(1e-12));
  }
  // A itself, by its columns; and what is made of it.
  const Index p = design.columns();
  Mat a(design.rows(), p);
  for (Index j = 0; j < p; ++j) a.col(j) = design.times(Vec::Unit(p, j));
  CHECK((a.topRows(n) + a.bottomRows(n)).norm() == 0);
  const Vec rows = noise.normals(design.rows()), w = rows.cwiseAbs(),
            columns = noise.normals(p).cwiseAbs();
  CHECK((design.transposed(rows) - a.transpose() * rows).norm() < 1e-12);
  CHECK((design.column_squares(w) - a.cwiseAbs2().transpose() * w).norm() < 1e-12);
  CHECK((design.row_squares(columns) - a.cwiseAbs2() * columns).norm() < 1e-12);
  Host host;
  Mat gram = Mat::Zero(design.rows(), design.rows());
  design.add_row_gram(columns, gram, host);
  const Mat whole = a * columns.asDiagonal() * a.transpose();
  CHECK(Mat((gram - whole).triangularView<Eigen::Lower>()).norm() < 1e-11);
  const std::vector<Index> chosen{0, 1, p - 1};
  Mat picked(design.rows(), 3);
  for (Index k = 0; k < 3; ++k) picked.col(k) = a.col(chosen[k]);
  CHECK((design.columns_at(chosen) - picked).norm() == 0);
  const Design part = design.select(chosen);
  CHECK((part.times(columns.head(3)) - picked * columns.head(3)).norm() < 1e-13);
  Mat square = Mat::Zero(3, 3);
  design.add_gram(chosen, w, square, host);
  CHECK(Mat((square - picked.transpose() * w.asDiagonal() * picked)
                .triangularView<Eigen::Lower>()).norm() < 1e-11);
}

Estimate estimate(const Problem& problem) {
  Host host;
  return Registry<Estimator>::make("em", Params("em", {{"accelerate", 1}}))
      ->run(problem, EstimateOptions(), host);
}

}  // namespace

TEST_CASE("point design: two atoms a row, dense, in groups and sparse, with offsets and weights") {
  const Data plain = simulate(shape_of(false)), groups = simulate(shape_of(true));
  check_rows(to_problem(plain, {normal_prior(2, range(0, 3))}, {}));
  check_rows(to_problem(groups, {normal_prior(2, range(0, 3))},
                        {normal_prior(1, {0}), normal_prior(1, {1})}));
  const SparseData sparse = mixed(shape_of(false));
  check_rows(sparse.problem());
}

TEST_CASE("point design: a hinge in two halves has the same optimum") {
  const Data data = simulate(shape_of(false));
  Problem one = to_problem(data, {normal_prior(2, range(0, 3))}, {}),
          two = to_problem(data, {normal_prior(2, range(0, 3))}, {});
  two.likelihood.reset(new Halves);
  const Estimate expected = estimate(one), found = estimate(two);
  CHECK(found.end == Termination::converged);
  CHECK((found.coefficients - expected.coefficients).norm() < 1e-7);
  CHECK(found.objective == doctest::Approx(expected.objective).epsilon(1e-9));
  const Index n = one.n;
  REQUIRE(found.multipliers.size() == 2 * n);
  CHECK((found.multipliers.head(n) + found.multipliers.tail(n) - expected.multipliers).norm() <
        1e-5);
}

TEST_CASE("point design: the optimum of an insensitive loss, by the objective around it") {
  const Data data = simulate(shape_of(false));
  Problem problem = to_problem(data, {normal_prior(2, range(0, 3))}, {});
  problem.likelihood.reset(new Insensitive(kRate, kWidth));
  const Estimate found = estimate(problem);
  CHECK(found.gap < 1e-9);
  const Insensitive law(kRate, kWidth);
  const auto objective = [&](const Vec& b) {
    const Vec f = data.design() * b + data.offset;
    double sum = b.squaredNorm() / 4;
    for (Index i = 0; i < f.size(); ++i) sum -= data.weight[i] * law.log_p(data.y[i], f[i]);
    return sum;
  };
  const double best = objective(found.coefficients);
  CHECK(best == doctest::Approx(found.objective).epsilon(1e-9));
  Noise noise(8);
  for (int trial = 0; trial < 200; ++trial)
    for (double size : {1e-3, 1e-2, 0.3})
      CHECK(objective(found.coefficients + size * noise.normals(3)) >= best - 1e-9);
}
