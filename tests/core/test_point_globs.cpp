// Point estimates of rows in files: against those of the same rows in memory, and the parts of the
// method against plain sums over all rows.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "hosts.hpp"
#include "point/globs.hpp"
#include "shard_files.hpp"

using namespace bsvm_test;

namespace {

// Variances are given: 1e4 of the first column, 1 of the others and of effects.
Problem ridge_problem(const Data& data) {
  std::vector<PriorSpec> effects;
  for (Index a = 0; a < data.shape.q; ++a) effects.push_back(normal_prior(1, {a}));
  return with(to_problem(data, {normal_prior(1e4, {0}), normal_prior(1, range(1, data.shape.p))},
                         effects), "hinge");
}

Problem lasso_problem(const Data& data) {
  const Params lasso("bridge", {{"alpha", 1}, {"nu", 1e-3}, {"shape", 1}, {"rate", 1}});
  return with(to_problem(data, {normal_prior(1e4, {0}),
                                {"bridge", lasso, range(1, data.shape.p)}}, {}), "hinge");
}

// Two hinges a row.
Problem tube_problem(const Data& data) {
  Problem out = to_problem(data, {normal_prior(1e4, {0}), normal_prior(1, range(1, data.shape.p))}, {});
  out.likelihood = Registry<Likelihood>::make(
      "eps_insensitive", Params("eps_insensitive", {{"epsilon", 0.5}, {"scale", 1}}));
  check(out);
  return out;
}

// As few rows are kept as the method allows: half of these.
EstimateOptions few_rows() {
  EstimateOptions out;
  out.most_numbers = 1;
  return out;
}

std::unique_ptr<Estimator> em() {
  return Registry<Estimator>::make("em", Params("em", {{"accelerate", 1.0}}));
}

RowParts parts_of(Shards& shards) {
  return [&](const std::function<void(const Problem&)>& work) {
    each_shard(shards.view, shards.paths, work);
  };
}

Estimate in_parts(Shards& shards, Host&& host = Host(),
                  const EstimateOptions& options = few_rows()) {
  return em()->run_in_parts(shards.whole(), parts_of(shards), options, host);
}

Estimate in_memory(const Problem& problem) {
  Host host;
  return em()->run(problem, EstimateOptions(), host);
}

// (coefficients, effects) outside.
Vec all_of(const Estimate& found) {
  Vec out(found.coefficients.size() + found.effects.size());
  out << found.coefficients, found.effects;
  return out;
}

// The loss of all rows by plain sums.
double loss_at(const Problem& problem, const Vec& inside) {
  const Design design(problem);
  return design.cost.dot((design.kink - design.times(inside)).cwiseMax(0));
}

double value_at(const Design& design, const Vec& b) {
  return design.cost.dot((design.kink - design.times(b)).cwiseMax(0));
}

void compare(const Data& data, Problem (*make)(const Data&), double accuracy) {
  Shards shards(data, 4, make);
  REQUIRE(shards.paths.size() > 2);
  const Estimate found = in_parts(shards), whole = in_memory(shards.whole());
  CHECK(found.end == Termination::converged);
  CHECK(found.gap <= 1e-10);
  CHECK(found.gap >= -1e-13);
  CHECK(std::abs(found.objective - whole.objective) <= 2e-10 * whole.objective);
  CHECK(found.dual <= whole.objective * (1 + 1e-13));
  CHECK((all_of(found) - all_of(whole)).cwiseAbs().maxCoeff() <= accuracy);
  CHECK(found.multipliers.size() == 0);
  CHECK(found.certified);
  for (size_t k = 1; k < found.trace.size(); ++k) {
    CHECK(found.trace[k].objective <= found.trace[k - 1].objective);
    CHECK(found.trace[k].gap <= found.trace[k - 1].gap);
  }
}

}  // namespace

TEST_CASE("globs: point estimates of rows in files are those of rows in memory") {
  compare(large_data(0, 0), ridge_problem, 2e-6);
  compare(large_data(0, 0), lasso_problem, 2e-6);
  compare(large_data(1, 300), ridge_problem, 1e-5);
  compare(large_data(2, 120), ridge_problem, 1e-5);
}

TEST_CASE("globs: a response of numbers has two hinges a row") {
  Data data = large_data(0, 0);
  const Vec f = data.design().rowwise().sum();
  Noise noise(3);
  data.y = f + 0.7 * noise.normals(data.y.size());
  compare(data, tube_problem, 1e-5);
}

TEST_CASE("globs: a rare class leaves all others on their margin") {
  Shape shape;
  shape.n = 200000;  // of which twenty at a time are joined
  Data data = simulate(shape);
  Noise noise(4);
  // Correlated columns: rows that are joined must keep what the others need in every direction.
  for (Index j = 2; j < data.x.cols(); ++j) data.x.col(j) = 0.6 * data.x.col(1) + 0.8 * data.x.col(j);
  for (Index i = 0; i < data.y.size(); ++i) {
    const double f = -3 + 0.9 * (data.x(i, 1) - data.x(i, 2));
    data.y[i] = noise.uniform() < 1 / (1 + std::exp(-f)) ? 1 : -1;
  }
  data.offset.setZero();
  data.weight.setOnes();
  compare(data, ridge_problem, 1e-6);
}

TEST_CASE("globs: equal rows are joined without loss") {
  Shape shape;
  shape.n = 60000;
  Data data = simulate(shape);
  Noise noise(6);
  for (Index i = 0; i < data.y.size(); ++i) {
    data.x.row(i) = data.x.row(i % 4000);
    const double f = -3 + 1.2 * (data.x(i, 1) - data.x(i, 2));
    data.y[i] = noise.uniform() < 1 / (1 + std::exp(-f)) ? 1 : -1;
  }
  data.offset.setZero();
  data.weight.setOnes();
  compare(data, ridge_problem, 1e-6);
}

TEST_CASE("globs: what is kept lies below the loss, and is equal to it where it was looked at") {
  for (Index q : {0, 1}) {
    const Data data = large_data(q, 300 * q);
    Shards shards(data, 4, ridge_problem);
    const RowParts parts = parts_of(shards);
    const Problem& whole = shards.whole();
    Globs globs(whole, parts, 1);
    Host host;
    CHECK(globs.sample(host).rows() < 10000);
    CHECK(!globs.has_all());
    Noise noise(7);
    const Index size = whole.columns() + whole.group_coefficients();
    // far apart: rows beyond have changed sides
    HingePoints points{0.3 * noise.normals(size), 3 * noise.normals(size), Penalties()};
    const double loss = globs.look(points, host);
    CHECK(loss == doctest::Approx(loss_at(whole, points.next)).epsilon(1e-12));
    for (bool at_next : {false, true}) {
      const Design near = globs.near(at_next), some = globs.near_and_some(at_next);
      CHECK(near.rows() < 10002);
      const Vec& at = at_next ? points.next : points.best;
      const double there = loss_at(whole, at);
      CHECK(value_at(near, at) == doctest::Approx(there).epsilon(1e-12));
      const double shift = value_at(some, at) - there;  // the constant of its linear part
      for (int k = 0; k < 20; ++k) {
        const Vec other = at + 0.5 * noise.normals(size);
        CHECK(value_at(near, other) <= loss_at(whole, other) * (1 + 1e-13));
        const Vec close = at + 1e-6 * noise.normals(size);
        const double change = loss_at(whole, close) - there;
        CHECK(std::abs(value_at(near, close) - there - change) <= 1e-9 * there);
        CHECK(std::abs(value_at(some, close) - shift - there - change) <= 1e-9 * value_at(some, at));
      }
    }
  }
}

TEST_CASE("globs: effects at the next point are the best ones for its coefficients") {
  const Data data = large_data(1, 300);
  Shards shards(data, 4, ridge_problem);
  const RowParts parts = parts_of(shards);
  const Problem& whole = shards.whole();
  Globs globs(whole, parts, 1);
  Host host;
  Noise noise(9);
  const Index p = whole.columns(), size = p + whole.group_coefficients();
  const Vec start = 0.3 * noise.normals(size);
  HingePoints points{start, start, {Vec::Constant(1, 2), Vec::Constant(1, std::sqrt(2.0))}};
  const double loss = globs.look(points, host);
  CHECK(points.next.head(p) == start.head(p));
  CHECK(loss == doctest::Approx(loss_at(whole, points.next)).epsilon(1e-12));
  const auto objective = [&](const Vec& b) {
    return loss_at(whole, b) + 0.5 * b.tail(size - p).squaredNorm();
  };
  const double best = objective(points.next);
  CHECK(best < objective(start));
  for (Index level : {0, 1, 150, 298})  // the last one has no rows
    for (double change : {-1e-3, 1e-3}) {
      Vec other = points.next;
      other[p + level] += change;
      CHECK(objective(other) >= best);
    }
}

TEST_CASE("globs: with room for all rows it is the fit in memory, to the bit") {
  const Data data = large_data(0, 0);
  Shards shards(data, 4, ridge_problem);
  const Estimate found = in_parts(shards, Host(), EstimateOptions()),
                 whole = in_memory(shards.whole());
  CHECK(all_of(found) == all_of(whole));
  CHECK(found.objective == whole.objective);
}

TEST_CASE("globs: an interrupted run keeps what all rows were looked at with") {
  const Data data = large_data(0, 0);
  Shards shards(data, 4, ridge_problem);
  const Estimate whole = in_memory(shards.whole());
  int none = 0, some = 0;
  for (int patience = 0; patience < 400; patience += 20) {
    try {
      const Estimate found = in_parts(shards, ImpatientHost(patience));
      if (found.end == Termination::converged) break;
      CHECK(found.end == Termination::interrupted);
      CHECK(found.objective >= whole.objective * (1 - 1e-12));
      ++some;
    } catch (const Interrupted&) {
      ++none;
    }
  }
  CHECK(none > 0);
  CHECK(some > 0);
}
