// Data that try the arithmetic, and every combination of components.
#include <doctest/doctest.h>

#include "components.hpp"
#include "fitting.hpp"

using namespace bsvm_test;

namespace {

Shape shape_of(Index p, Index q) {
  Shape shape;
  shape.n = 80;
  shape.p = p;
  shape.q = q;
  shape.groups = q > 0 ? 8 : 0;
  return shape;
}

void scale_column(Data& data, Index j, double factor) {
  data.x.col(j) *= factor;
  data.center[j] *= factor;
  if (data.shape.standardised) data.scale[j] *= factor;
}

bool all_finite(const Fit& found) {
  return std::isfinite(found.result.bound) && found.outside.mean.allFinite() &&
         found.outside.covariance.allFinite() && found.outside.groups.mean.allFinite() &&
         found.outside.groups.precision.allFinite();
}

}  // namespace

TEST_CASE("columns times powers of two give the same bits, standardised") {
  for (Index q : {0, 2}) {
    Data data = simulate(shape_of(4, q));
    const Fit before = fit(usual_problem(data), Options());
    scale_column(data, 1, 0x1p300);
    scale_column(data, 2, 0x1p-411);
    const Fit after = fit(usual_problem(data), Options());
    CHECK(same_bits(before.outside.mean, after.outside.mean));
    CHECK(same_bits(before.outside.covariance, after.outside.covariance));
    CHECK(same_bits(before.outside.groups.mean, after.outside.groups.mean));
    CHECK(before.result.bound == after.result.bound);
  }
}

TEST_CASE("columns times powers of two under a prior times them give scaled bits") {
  Shape shape = shape_of(3, 2);
  shape.standardised = false;
  Data data = simulate(shape);
  const auto run = [&](double variance) {
    return fit(to_problem(data, {normal_prior(4, {0, 2}), normal_prior(variance, {1})},
                          usual_group_priors(2)), Options());
  };
  const Fit before = run(2);
  scale_column(data, 1, 0x1p40);
  const Fit after = run(std::ldexp(2, -80));
  const Vec unit = Eigen::Vector3d(1, 0x1p40, 1);
  CHECK(same_bits(before.outside.mean, unit.cwiseProduct(after.outside.mean)));
  CHECK(same_bits(before.outside.covariance,
                  unit.asDiagonal() * after.outside.covariance * unit.asDiagonal()));
  CHECK(gap(after.result.bound, before.result.bound) < 1e-13);
}

TEST_CASE("columns on scales from 1e-150 to 1e150 are fitted, standardised or not") {
  for (bool standardised : {true, false})
    for (double variance : {1.0, 1e8}) {
      Shape shape = shape_of(4, 1);
      shape.standardised = standardised;
      Data data = simulate(shape);
      scale_column(data, 1, 1e150);
      scale_column(data, 2, 1e-150);
      for (const char* name : {"ridge", "half_t"}) {
        CAPTURE(name);
        Problem problem = to_problem(
            data, {normal_prior(variance, {0, 1, 2}), normal_prior(1, {3})}, usual_group_priors(1));
        problem.priors[1].prior = make_any<Prior>(name);
        const Fit found = fit(problem, Options());
        CHECK(found.result.end == Termination::converged);
        CHECK(all_finite(found));
      }
    }
}

TEST_CASE("an inferred variance follows its column to any scale") {
  for (double factor : {1e150, 1e-150})
    for (const char* name : {"ridge", "half_t"}) {
      CAPTURE(factor);
      CAPTURE(name);
      Shape shape = shape_of(2, 0);
      shape.standardised = false;
      Data data = simulate(shape);
      scale_column(data, 1, factor);
      Problem problem = usual_problem(data);
      problem.priors[1].prior = make_any<Prior>(name);
      CHECK(all_finite(fit(problem, Options())));
    }
}

TEST_CASE("separable classes have a finite fit that separates them") {
  Data data = simulate(shape_of(3, 0));
  data.y = (data.x.col(1).array() > 1).select(Vec::Ones(80), -Vec::Ones(80));
  data.offset.setZero();
  const Fit found = fit(to_problem(data, {normal_prior(1e8, {0, 1, 2})}, {}), Options());
  CHECK(found.result.end == Termination::converged);
  CHECK(all_finite(found));
  CHECK(((data.design() * found.outside.mean).array() * data.y.array()).minCoeff() > 0);
}

TEST_CASE("one class, one row, constant and repeated columns are fitted") {
  Data data = simulate(shape_of(4, 1));
  data.y.setOnes();
  data.x.col(2) = data.x.col(1);
  data.x.col(3).setZero();
  data.center.setZero();
  data.scale.setOnes();
  CHECK(all_finite(fit(usual_problem(data), Options())));
  Shape one = shape_of(2, 0);
  one.n = 1;
  one.standardised = false;
  const Data single = simulate(one);
  CHECK(all_finite(fit(usual_problem(single), Options())));
}

TEST_CASE("a column of zeros keeps its prior") {
  Data data = simulate(shape_of(3, 0));
  data.x.col(2).setZero();
  data.center[2] = 0;
  data.scale[2] = 1;
  const Fit found = fit(to_problem(data, {normal_prior(7, {0, 1, 2})}, {}), Options());
  CHECK(found.outside.mean[2] == 0);
  CHECK(found.outside.covariance(2, 2) == doctest::Approx(7).epsilon(1e-14));
}

TEST_CASE("group effects alone, and no coefficients at all, are fitted") {
  const Data groups = simulate(shape_of(0, 1)), nothing = simulate(shape_of(0, 0));
  CHECK(all_finite(fit(usual_problem(groups), Options())));
  const Fit found = fit(usual_problem(nothing), Options());
  CHECK(found.result.end == Termination::converged);
  const Arr short_of = (1 - nothing.y.array() * nothing.offset.array()).max(0);
  CHECK(gap(found.result.bound, -2 * (nothing.weight.array() * short_of).sum()) < 1e-13);
}

TEST_CASE("every engine, likelihood and prior that may be combined can be") {
  const Data data = simulate(shape_of(4, 1));
  for (const std::string& engine_name : Registry<Engine>::names())
    for (const std::string& likelihood : Registry<Likelihood>::names())
      for (const std::string& prior : coefficient_priors()) {
        const auto engine = make_any<Engine>(engine_name, 1);
        Problem problem = usual_problem(data);
        problem.likelihood = any_likelihood(likelihood);
        if (!problem.likelihood->supports(engine->use())) continue;
        problem.priors[1].prior = make_any<Prior>(prior);
        if (!problem.priors[1].prior->supports(engine->use())) continue;
        if (problem.priors[1].prior->exchangeable())
          problem.group_priors[0].prior = make_any<Prior>(prior);
        MemorySource source(problem, engine->use(), 1);
        Host host;
        CAPTURE(engine_name);
        CAPTURE(likelihood);
        CAPTURE(prior);
        const Result result = engine->run(problem, source, Options(), host);
        CHECK(result.end == Termination::converged);
        CHECK(std::isfinite(result.bound));
      }
}
