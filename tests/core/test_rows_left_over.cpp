// Variance of rows that no coefficient explains, a share of a prior's variance: every engine that
// averages over a row's moments has the bound sum_i l(m_i, v_i + left over) - KL, and its optimum.
#include <doctest/doctest.h>

#include <string>

#include "fitting.hpp"
#include "forward_source.hpp"
#include "gaussian/dense_ascent.hpp"
#include "gaussian/row_newton.hpp"
#include "gaussian_twin.hpp"
#include "rows/make_source.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

Data data_of(Index n, Index p, Index q = 0, Index groups = 0) {
  Shape shape;
  shape.n = n;
  shape.p = p;
  shape.q = q;
  shape.groups = groups;
  return simulate(shape);
}

// Shares of a variance.
Vec left_over_of(Index n) {
  Noise noise(17);
  Vec out(n);
  for (Index i = 0; i < n; ++i) out[i] = i % 4 == 0 ? 0 : 1.5 * noise.uniform();
  return out;
}

// The twin's bound with each row's variance added to.
struct LeftOver {
  GaussianTwin twin;
  Vec left;  // of a variance of 2 that is the first prior's
  LeftOver(GaussianTwin of, const Vec& shares) : twin(std::move(of)), left(2 * shares) {}

  Real bound(const VecL& mean, const MatL& root) const {
    const VecL m = twin.rows.offset + product(twin.rows.c, mean).col(0);
    const MatL spread = product(twin.rows.c, root);
    Real out = twin.bound(mean, root);
    for (Index i = 0; i < m.size(); ++i) {
      const Real v = spread.row(i).squaredNorm();
      out += twin.rows.weight[i] * (twin.expected(twin.rows.y[i], m[i], v + Real(left[i])) -
                                    twin.expected(twin.rows.y[i], m[i], v));
    }
    return out;
  }

  // The largest derivative in the mean, and in the root's lower triangle, by differences.
  double steepest(const VecL& mean, const MatL& root) const {
    const Real h = 1e-5L;
    Real most = 0;
    const auto look = [&](const VecL& a, const MatL& t) {
      const Real up = bound(mean + h * a, root + h * t), down = bound(mean - h * a, root - h * t);
      most = std::max(most, std::abs(up - down) / (2 * h));
    };
    const Index p = mean.size();
    for (Index j = 0; j < p; ++j) look(root.col(j), MatL::Zero(p, p));
    for (Index j = 0; j < p; ++j)
      for (Index i = j; i < p; ++i) {
        MatL t = MatL::Zero(p, p);
        t.col(j) = root.col(i);
        look(VecL::Zero(p), t);
      }
    return static_cast<double>(most);
  }
};

Problem dense_problem(const Data& data, const char* likelihood, const Vec& left) {
  Problem out = to_problem(data, {normal_prior(2, range(0, data.shape.p))}, {});
  out.likelihood = Registry<Likelihood>::make(likelihood, Params());
  out.left_over = left.data();
  out.leaving = {0};
  check(out);
  return out;
}

double bound_of(const Progress& progress) { return progress.trace.back().bound; }

}  // namespace

TEST_CASE("left over: the bound of dense coefficients and its optimum are the twin's") {
  const Data data = data_of(40, 3);
  const Vec left = left_over_of(40);
  for (const char* likelihood : kLikelihoods) {
    CAPTURE(std::string(likelihood));
    const Problem problem = dense_problem(data, likelihood, left);
    const LeftOver plain(gaussian_twin(data, likelihood, Vec::Constant(3, 2)), left);
    for (const bool matched : {false, true}) {  // no moments can be matched
      const Top top = climb(problem, matched);
      CHECK_FALSE(top.node.matched);
      const VecL mean = full_mean(top.outside);
      const MatL root = lower_factor(full_covariance(top.outside));
      CHECK(gap(bound_of(top.progress), plain.bound(mean, root)) < 1e-14);
      CHECK(plain.steepest(mean, root) < 1e-6);
    }
  }
}

TEST_CASE("left over: numbers of rows, of coefficients and sparse ones climb to the same bound") {
  const Data data = data_of(40, 5);
  const Vec left = left_over_of(40);
  Host host;
  const Options options = close_options();
  for (const char* likelihood : kLikelihoods) {
    CAPTURE(std::string(likelihood));
    const Problem problem = dense_problem(data, likelihood, left);
    RowNewton rows(problem, options, host);
    DenseAscent dense(problem, make_source(problem, Use::expected, 1), options, host);
    const Node a = rows.climb(), b = dense.climb();
    CHECK_FALSE(a.matched);
    CHECK(gap(bound_of(rows.progress()), bound_of(dense.progress())) < 1e-11);
    CHECK(gap(a.log_density, bound_of(rows.progress())) < 1e-11);
    CHECK(gap(a.state.mean(), b.state.mean()) < 1e-5);
    // without it the bound is another
    Problem none = dense_problem(data, likelihood, left);
    none.left_over = nullptr;
    none.leaving.clear();
    RowNewton other(none, options, host);
    other.climb();
    CHECK(gap(bound_of(other.progress()), bound_of(rows.progress())) > 1e-3);
  }
}

TEST_CASE("left over: a grouping factor and sparse columns have it too") {
  const Data data = data_of(50, 2, 1, 6);
  const Vec left = left_over_of(50);
  for (const char* likelihood : kLikelihoods) {
    CAPTURE(std::string(likelihood));
    Problem problem = to_problem(data, {normal_prior(2, range(0, 2))}, {normal_prior(0.8, {0})});
    problem.likelihood = Registry<Likelihood>::make(likelihood, Params());
    problem.left_over = left.data();
    problem.leaving = {0};
    check(problem);
    const Top top = climb(problem);
    const LeftOver plain(
        gaussian_twin(data, likelihood, Vec::Constant(2, 2), Vec::Constant(1, 0.8)), left);
    const VecL mean = full_mean(top.outside);
    const MatL root = lower_factor(full_covariance(top.outside));
    CHECK(gap(bound_of(top.progress), plain.bound(mean, root)) < 1e-14);
    CHECK(plain.steepest(mean, root) < 1e-5);

    // the same factor as sparse columns, of which no term is eliminated group by group
    Data flat = data;
    flat.shape.q = flat.shape.groups = 0;
    SparseData sparse(flat.shape);
    sparse.data = flat;
    std::vector<int> codes;
    for (const int g : data.group) codes.push_back(g - 1);
    sparse.add_factor(codes, 6, data.z);
    Problem other = sparse.problem({normal_prior(0.8, {0})});
    other.priors.clear();
    other.priors.push_back(to_slot(normal_prior(2, range(0, 2))));
    other.likelihood = Registry<Likelihood>::make(likelihood, Params());
    other.left_over = left.data();
    other.leaving = {0};
    const Top found = climb(other);
    CHECK(gap(bound_of(found.progress), bound_of(top.progress)) < 1e-13);
  }
}

// E log N(y; f, s2) is what it is without, less left over / (2 s2); so is the best bound.
TEST_CASE("left over: with a normal likelihood the bound falls by a known number") {
  Data data = data_of(30, 3);
  const Vec left = left_over_of(30);
  Noise noise(23);
  data.y = noise.normals(30);
  const auto made = [&](bool with) {
    Problem out = to_problem(data, {normal_prior(2, range(0, 3))}, {});
    out.likelihood = Registry<Likelihood>::make("normal", Params("normal", {{"sd", 0.7}}));
    if (with) out.left_over = left.data(), out.leaving = {0};
    check(out);
    return out;
  };
  const Problem with = made(true), without = made(false);
  const double expected = -1 / 0.49 * left.dot(data.weight);
  const Top a = climb(with), b = climb(without);
  CHECK(std::abs(bound_of(a.progress) - bound_of(b.progress) - expected) < 1e-12);
  CHECK(gap(a.outside.mean, b.outside.mean) < 1e-12);
  CHECK(gap(a.outside.covariance, b.outside.covariance) < 1e-12);
  Host host;
  const Options options = close_options();
  RowNewton rows(with, options, host), plain(without, options, host);
  rows.climb();
  plain.climb();
  CHECK(std::abs(bound_of(rows.progress()) - bound_of(plain.progress()) - expected) < 1e-12);
  // less than with a coefficient for each row, whose posterior is not its prior
  Real evidence = 0;
  {
    const MatL c = data.design().cast<Real>();
    MatL total = 2 * product(c, c.transpose());
    VecL off(30);
    for (Index i = 0; i < 30; ++i) {
      total(i, i) += 2 * Real(left[i]) + 0.49L / Real(data.weight[i]);
      off[i] = Real(data.y[i]) - Real(data.offset[i]);
      const Real w = data.weight[i];
      evidence += 0.5L * ((1 - w) * (std::log(2 * std::acos(-1.0L)) + std::log(0.49L)) -
                          std::log(w));
    }
    const MatL factor = lower_factor(total);
    evidence -= factor.diagonal().array().log().sum() + 15 * std::log(2 * std::acos(-1.0L)) +
                0.5L * off.dot(product(inverse(total), off).col(0));
  }
  CHECK(bound_of(a.progress) < static_cast<double>(evidence));
}

TEST_CASE("left over: the augmented bound of variational Bayes has it") {
  const Data data = data_of(40, 3);
  const Vec left = left_over_of(40);
  const Problem problem = dense_problem(data, "hinge", left);
  const Fit found = fit(problem);
  const VecL mean = found.outside.mean.cast<Real>();
  const MatL c = data.design().cast<Real>();
  const auto bound = [&](const VecL& m, const MatL& s) {
    Real out = -0.5L * (s.trace() / 2 + m.squaredNorm() / 2 - 3 + 3 * std::log(2.0L)) +
               lower_factor(s).diagonal().array().log().sum();
    for (Index i = 0; i < 40; ++i) {
      const Real u = 1 - Real(data.y[i]) * (c.row(i).dot(m) + Real(data.offset[i]));
      const Real v = c.row(i).dot(product(s, c.row(i).transpose()).col(0)) + 2 * Real(left[i]);
      out += Real(data.weight[i]) * (-u - std::sqrt(u * u + v));
    }
    return out;
  };
  const MatL covariance = found.outside.covariance.cast<Real>();
  const Real top = bound(mean, covariance);
  CHECK(gap(found.result.trace.back().bound, top) < 1e-14);
  for (Index j = 0; j < 3; ++j) {
    const VecL step = 1e-4L * VecL::Unit(3, j);
    CHECK(bound(mean + step, covariance) < top);
    CHECK(bound(mean - step, covariance) < top);
    CHECK(std::abs(bound(mean + step, covariance) - bound(mean - step, covariance)) < 5e-11L);
  }
  CHECK(bound(mean, 1.01L * covariance) < top);
  CHECK(bound(mean, 0.99L * covariance) < top);
}

TEST_CASE("left over: an inferred variance goes to where the bound that has it is highest") {
  const Data data = data_of(40, 3, 0, 0);
  const Data grouped = data_of(50, 3, 1, 6);
  const Vec left = left_over_of(50);
  const auto problem_of = [&](const Data& of, const PriorSpec& prior) {
    std::vector<PriorSpec> effects;
    if (of.shape.q > 0) effects.push_back(normal_prior(0.8, {0}));
    Problem out = to_problem(of, {prior}, effects);
    out.likelihood = Registry<Likelihood>::make("hinge_normalized", Params());
    out.left_over = left.data();
    out.leaving = {0};
    check(out);
    return out;
  };
  for (const Data* of : {&data, &grouped}) {
    const std::vector<Index> columns = range(0, 3);
    const Problem problem =
        problem_of(*of, {"half_t", Params("half_t", {{"df", 3}, {"scale", 1.5}}), columns});
    const double theta = climb(problem).node.theta[0];
    // log density of theta = log s besides that of the coefficients
    const auto objective = [&](double at) {
      const double ratio = std::exp(2 * at) / (3 * 1.5 * 1.5);
      const Top top = climb(problem_of(*of, normal_prior(std::exp(2 * at), columns)));
      return bound_of(top.progress) + at - 2 * std::log1p(ratio);
    };
    const double h = 0.005, here = objective(theta);
    CHECK(std::abs(objective(theta + h) - objective(theta - h)) / (2 * h) < 1e-4);
    CHECK(objective(theta + 0.3) < here);
    CHECK(objective(theta - 0.3) < here);
  }
}

TEST_CASE("left over: an inferred variance is the same with a factor's effects as sparse columns") {
  const Data data = data_of(50, 3, 1, 6);
  const Vec left = left_over_of(50);
  const PriorSpec prior{"half_t", Params("half_t", {{"df", 3}, {"scale", 1.5}}), range(0, 3), 0};
  const auto with_left = [&](Problem out) {
    out.likelihood = Registry<Likelihood>::make("hinge_normalized", Params());
    out.left_over = left.data();
    out.leaving = {0};
    check(out);
    return out;
  };
  const std::vector<PriorSpec> effects{normal_prior(0.8, {0})};
  Problem grouped = to_problem(data, {prior}, effects);
  for (PriorSlot& slot : grouped.group_priors) slot.levels = 6;
  SparseData sparse(Shape{50, 3});
  sparse.data = data;
  sparse.data.shape.q = sparse.data.shape.groups = 0;
  std::vector<int> codes(data.group);
  for (int& code : codes) --code;
  sparse.add_factor(codes, 6, data.z.cols() > 0 ? data.z : Mat::Ones(50, 1));
  Problem columns = to_problem(sparse.data, {prior}, effects);
  columns.sparse = sparse.view();
  for (PriorSlot& slot : columns.group_priors) slot.levels = 6;
  const double expected = climb(with_left(std::move(grouped))).node.theta[0];
  CHECK(climb(with_left(std::move(columns))).node.theta[0] == doctest::Approx(expected).epsilon(1e-7));
}
