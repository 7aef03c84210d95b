// Chains of a factor model whose Gaussian process has no inducing points.
#include <doctest/doctest.h>

#include "factor_data.hpp"
#include "factors/predict.hpp"
#include "factors/process_links.hpp"
#include "factors/variational.hpp"
#include "process_limits.hpp"
#include "replicates.hpp"

using namespace bsvm_test;

namespace {

FactorModel some_exact(const std::string& likelihood, bool ard) {
  FactorKind kind{likelihood, 40, 12, 2};
  kind.missing = kind.exact = true;
  kind.ard = ard;
  return plain_factors(kind, 33, 11);
}

}  // namespace

TEST_CASE("factors: a chain of an exact process goes on to the bit, whatever the threads") {
  for (const char* likelihood : {"hinge", "normal"})
    for (const bool feedback : {true, false}) {
      FactorModel model = some_exact(likelihood, true);
      model.feedback = feedback;
      const SharedFactors shared(model);
      const auto chain = make_factors_chain(shared, 1, 9, 2);
      const auto again = make_factors_chain(shared, 1, 9, 2);
      const auto three = make_factors_chain(shared, 3, 9, 2);
      said(*chain, 4);
      again->restore(chain->save());
      CHECK(same(said(*chain, 0), said(*again, 0)));
      CHECK(same(said(*chain, 3), said(*again, 3)));
      CHECK(same(said(*three, 7), said(*chain, 0)));
      Draw draw;
      chain->read(draw);
      CHECK(static_cast<size_t>(draw.hyper.size()) == factor_numbers(model).size());
    }
}

TEST_CASE("factors: rows of the fit as new rows have the links of an exact process") {
  const FactorModel model = some_exact("hinge", false);
  const SharedFactors shared(model);
  const auto chain = make_factors_chain(shared, 1, 9, 0);
  said(*chain, 3);
  Draw draw;
  Vec whole;
  chain->read(draw);
  chain->read_seldom(whole);
  const Index p = model.p(), m = 33, n = model.n(), first = 3 * p + 1;
  CHECK(whole.size() == first + m + 2 + 2 * m);
  const Vec b = whole.segment(first, m), theta = whole.segment(first + m, 1);
  const double sd = std::sqrt(whole[first + m + 1]);
  const Mat inputs = Eigen::Map<const Mat>(whole.data() + first + m + 2, 2, m);
  Host host;
  const Features features(*model.process.kernel, inputs, theta, host);
  const Mat mean = whole.head(p), loadings = whole.segment(p, 2 * p),
            noise = whole.segment(3 * p, 1), alpha = draw.coefficients.head(1);
  const Predicted out = predict_factors(
      {model.x, model.covariates, Vec::Zero(n)}, {mean, loadings, noise, alpha, 2},
      [&](Index, const Scores& scores) {
        return process_links({features, b, sd}, scores, true, false, 1, host);
      },
      1, host);
  CHECK((out.mean - draw.unknowns).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("factors: an exact process of long length scales is the linear classifier") {
  FactorKind kind{"hinge", 30, 12, 2};
  kind.exact = true;
  const int draws = replicates(4500);
  check_long_process_is_line(kind, 30, draws, 20 / std::sqrt(draws));
}

TEST_CASE("factors: odd data give finite draws of an exact process") {
  for (const std::string likelihood : {"hinge", "normal", "eps_insensitive"}) {
    FactorKind kind{likelihood, 8, 1, 3};  // one variable, more factors
    kind.exact = true;
    FactorModel one = plain_factors(kind, 2, 6);
    if (one.likelihood->free_size() == 0) one.y.head(2) << 1, -1;
    FactorModel single = plain_factors(kind, 1, 6);
    kind.variables = 5;
    FactorModel constant = plain_factors(kind, 8, 6);
    constant.x.col(2).setZero();
    constant.x.col(3).setConstant(kMissing);
    constant.x.row(4).setConstant(kMissing);
    FactorModel alone = plain_factors(kind, 8, 6);
    alone.feedback = false;
    FactorModel few = plain_factors(kind, 8, 6);
    few.covariates.resize(8, 0);
    few.parts.clear();
    for (const FactorModel* model : {&one, &single, &constant, &alone, &few}) {
      const SharedFactors shared(*model);
      const auto chain = make_factors_chain(shared, 1, 4, 1);
      CHECK(said(*chain, 50).allFinite());
    }
  }
}

TEST_CASE("factors: an exact process that can't be is refused") {
  FactorModel model = some_exact("hinge_normalized", false);
  CHECK_THROWS_AS(SharedFactors{model}, InvalidInput);
  model = some_exact("hinge", false);
  model.y.setConstant(kMissing);
  CHECK_THROWS_AS(SharedFactors{model}, InvalidInput);
  model = some_exact("hinge", false);
  const SharedFactors shared(model);
  Host host;
  CHECK_THROWS_AS(fit_variational(shared, VariationalOptions(), host), InvalidInput);
}
