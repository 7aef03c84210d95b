// The fixed point: it is the papers', wherever one starts and however one gets there.
#include <doctest/doctest.h>

#include "block/dense.hpp"
#include "fitting.hpp"
#include "linalg/rotate.hpp"

using namespace bsvm_test;

namespace {

std::vector<Shape> shapes() {
  Shape plain, intercept, slope, both, alone;
  for (Shape* shape : {&plain, &intercept, &slope, &both, &alone}) {
    shape->n = 70;
    shape->p = 4;
  }
  intercept.groups = slope.groups = both.groups = alone.groups = 8;
  intercept.q = slope.q = 1;
  both.q = alone.q = 2;
  intercept.ones = true;
  intercept.weights = intercept.offset = false;
  alone.p = 0;
  return {plain, intercept, slope, both, alone};
}

void check_agreement(const OutsideMoments& found, Real bound, const Twin& twin) {
  CHECK(gap(full_mean(found), twin.q.mean) < 1e-9);
  CHECK(gap(full_covariance(found), twin.q.covariance) < 1e-9);
  CHECK(gap(bound, twin.bound()) < 1e-12);
}

}  // namespace

TEST_CASE("the fixed point is that of the papers' updates, run to the end") {
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.p);
    CAPTURE(shape.q);
    const Data data = simulate(shape);
    Twin twin = usual_twin(data);
    REQUIRE(twin.run(100000, 1e-15) < 100000);
    for (bool accelerate : {true, false}) {
      const Fit found = fit(usual_problem(data), exact_options(), 1, accelerate);
      CHECK(found.result.end == Termination::converged);
      check_agreement(found.outside, found.result.bound, twin);
    }
  }
}

TEST_CASE("acceleration takes less than half the passes") {
  Options options;
  const Data data = simulate(shapes()[3]);
  const auto passes = [&](bool accelerate) {
    return fit(usual_problem(data), options, 1, accelerate).result.trace.size();
  };
  CHECK(2 * passes(true) < passes(false));
}

TEST_CASE("without acceleration every pass is the papers', and the bound never falls") {
  const Data data = simulate(shapes()[3]);
  Options options;
  options.max_passes = 40;
  const Fit found = fit(usual_problem(data), options, 1, false);
  Twin twin = usual_twin(data);
  for (int pass = 1; pass < 40; ++pass) {  // the first has no bound yet
    twin.pass();
    CHECK(gap(found.result.trace[pass].bound, twin.bound()) < 1e-12);
    CHECK(found.result.trace[pass].step == 1);
    CHECK(found.result.trace[pass].damping == 1);
    CHECK(found.result.trace[pass].bound >= found.result.trace[pass - 1].bound);
  }
}

TEST_CASE("with acceleration a pass that lowers the bound is taken back") {
  for (Shape shape : shapes())
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
      shape.seed = seed;
      const Data data = simulate(shape);
      Options options;
      options.start = Vec::Constant(shape.p, 20.0);
      const std::vector<TraceEntry> trace = fit(usual_problem(data), options).result.trace;
      double best = -std::numeric_limits<double>::infinity();
      for (size_t k = 0; k + 1 < trace.size(); ++k) {
        const bool fell = trace[k].bound < best - 1e-12 * (1 + std::abs(best));
        if (fell) CHECK(trace[k + 1].step < trace[k].step);
        if (fell) CHECK(trace[k].step > 0);  // the covariance alone cannot lower it
        best = std::max(best, trace[k].bound);
      }
    }
}

TEST_CASE("twenty starts end in one place") {
  const Data data = simulate(shapes()[3]);
  const Fit expected = fit(usual_problem(data));
  Noise draws(21);
  for (int k = 0; k < 20; ++k) {
    Options options = exact_options();
    options.start = 5 * draws.normals(4);
    const Fit found = fit(usual_problem(data), options);
    CHECK(gap(found.result.bound, expected.result.bound) < 1e-12);
    CHECK(gap(full_mean(found.outside), full_mean(expected.outside)) < 1e-9);
  }
}

TEST_CASE("more columns than rows: the rotated problem is the one with all coefficients") {
  Shape shape;
  shape.n = 15;
  shape.p = 40;
  const Data data = simulate(shape);
  Twin twin{Oracle(data, data.design(), Mat()), {inferred_variance(0.7, 0.4, range(0, 40))}};
  REQUIRE(twin.run(100000, 1e-15) < 100000);

  const Rotation rotation = rotate(data.x, data.center, data.scale);
  Problem problem = to_problem(data, {ridge_prior(0.7, 0.4, range(0, 15), 25)}, {});
  problem.blocks[0].reset(
      new DenseBlock(rotation.features.data(), 15, Vec::Zero(15), Vec::Ones(15)));
  const Fit found = fit(problem);
  const MatL basis = rotation.basis.cast<Real>();
  const Real variance = 1 / twin.priors[0].precision();
  const MatL unseen = MatL::Identity(40, 40) - product(basis, basis.transpose());
  const MatL seen =
      product(product(basis, found.outside.covariance.cast<Real>()), basis.transpose());
  CHECK(gap(product(basis, found.outside.mean.cast<Real>()), twin.q.mean) < 1e-9);
  CHECK(gap(seen + variance * unseen, twin.q.covariance) < 1e-9);
  CHECK(gap(found.result.bound, twin.bound()) < 1e-12);
}

TEST_CASE("a fixed variance at the inferred mean precision has the same q") {
  const Data data = simulate(shapes()[0]);
  const Fit inferred = fit(usual_problem(data));
  const auto hyper = inferred.result.state.hyper();
  const Fit fixed = fit(to_problem(
      data, {normal_prior(100, {0}), normal_prior(hyper[1] / hyper[0], range(1, 4))}, {}));
  CHECK(gap(fixed.outside.mean, inferred.outside.mean) < 1e-9);
  CHECK(gap(fixed.outside.covariance, inferred.outside.covariance) < 1e-9);
}

namespace {

Real log_determinant(const MatL& a) {
  return 2 * lower_factor(a).diagonal().array().log().sum();
}

}  // namespace

TEST_CASE("the certificate is the gradient's norm in q's own metric") {
  const Data data = simulate(shapes()[0]);
  for (int passes : {2, 3, 6, 9}) {
    Options options;
    options.max_passes = passes;
    const Fit found = fit(usual_problem(data), options);
    const TraceEntry& last = found.result.trace.back();
    if (last.bound != found.result.bound) continue;  // was taken back
    const Oracle q = twin_at(data, found).q;
    const TermsL rows = q.terms();
    const VecL damped = rows.curvature + last.damping * (rows.weight - rows.curvature);
    const VecL g = q.gradient();
    const MatL next = q.precision(rows.weight);
    const Real change = product(q.covariance, next).trace() - 4 - log_determinant(next) -
                        log_determinant(q.covariance);
    const Real square =
        product(g.transpose(), product(inverse(q.precision(damped)), g))(0, 0) + change;
    CHECK(gap(last.gradient, std::sqrt(square)) < 1e-10);
  }
}

TEST_CASE("threads do not change a bit of a fit") {
  Shape shape;
  shape.n = 9000;
  shape.q = 2;
  shape.groups = 1200;
  shape.large = 300;
  const Data data = simulate(shape);
  Options options;
  options.max_passes = 8;
  const Fit one = fit(usual_problem(data), options, 1);
  for (int threads : {2, 4}) {
    const Fit more = fit(usual_problem(data), options, threads);
    CHECK(same_bits(one.result.state.x, more.result.state.x));
    CHECK(same_bits(one.outside.groups.mean, more.outside.groups.mean));
    CHECK(one.result.bound == more.result.bound);
  }
}
