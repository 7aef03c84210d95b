#include <doctest/doctest.h>

#include "factor_data.hpp"
#include "factors/predict.hpp"
#include "factors/process_links.hpp"
#include "process_limits.hpp"

using namespace bsvm_test;

namespace {

FactorModel some_process(const std::string& likelihood, bool ard, bool missing = true) {
  FactorKind kind{likelihood, 80, 12, 2};
  kind.missing = missing;
  kind.points = 15;
  kind.ard = ard;
  return plain_factors(kind, 70, 11);
}

}  // namespace

TEST_CASE("factors: a chain of a Gaussian process goes on to the bit, whatever the threads") {
  for (const char* likelihood : {"hinge_normalized", "normal"}) {
    const FactorModel model = some_process(likelihood, true);
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
    CHECK(draw.coefficients.size() == 3);  // the intercept, and one variance a factor
    CHECK(draw.effects.size() == 0);
  }
}

TEST_CASE("factors: rows of the fit as new rows have the links of a Gaussian process") {
  const FactorModel model = some_process("hinge_normalized", false);
  const SharedFactors shared(model);
  const auto chain = make_factors_chain(shared, 1, 9, 0);
  said(*chain, 3);
  Draw draw;
  Vec whole;
  chain->read(draw);
  chain->read_seldom(whole);
  const Index p = model.p(), m = shared.points.cols(), n = model.n();
  CHECK(whole.size() == 3 * p + 1 + m + 2);
  const Vec b = whole.segment(3 * p + 1, m), theta = whole.segment(3 * p + 1 + m, 1);
  Host host;
  const Features features(*model.process.kernel, shared.points, theta, host);
  const double sd = std::sqrt(whole[whole.size() - 1]);
  const Mat mean = whole.head(p), loadings = whole.segment(p, 2 * p),
            noise = whole.segment(3 * p, 1), alpha = draw.coefficients.head(1);
  const Predicted out = predict_factors(
      {model.x, model.covariates, Vec::Zero(n)}, {mean, loadings, noise, alpha, 2},
      [&](Index, const Scores& scores) {
        return process_links({features, b, sd}, scores, true, false, 1, host);
      },
      1, host);
  CHECK((out.mean - draw.unknowns).cwiseAbs().maxCoeff() < 1e-8);
  const double leftover = draw.hyper[draw.hyper.size() - 3];
  CHECK(std::abs(out.variance.mean() / leftover - 1) < 0.02);
  // and many draws of scores and of what is left over
  double most = 0;
  for (const Index row : {Index{0}, Index{5}}) {
    const Eigen::Map<const Mat> s(
        out.covariance.data() + 4 * out.pattern[static_cast<size_t>(row)], 2, 2);
    const Mat root = Factor(Mat(s)).lower();
    const int draws = 20000;
    Draws random({1, 0, 0}, Purpose::rows, 0);
    Mat w = root * normal_numbers(2, draws, random);
    w.colwise() += Eigen::Vector2d(out.scores(row), out.scores(n + row));
    const LinkMoments links = at_scores({features, b, sd}, w);
    const double average = links.mean.mean();
    const double spread = (links.mean.array() - average).square().mean();
    const double alpha_share = alpha(0, 0);
    most = std::max({most, std::abs(out.mean(row) - alpha_share - average) / std::sqrt(spread),
                     std::abs(out.variance(row) / (spread + links.variance.mean()) - 1)});
  }
  CHECK(most < 0.2);
}

TEST_CASE("factors: a process of long length scales is the linear classifier") {
  FactorKind kind{"hinge_normalized", 60, 12, 2};
  kind.points = 20;
  check_long_process_is_line(kind, 60, 3000, 0.3);
}

TEST_CASE("factors: odd data give finite draws of a Gaussian process") {
  for (const std::string likelihood : {"hinge", "hinge_normalized", "normal", "eps_insensitive"}) {
    FactorKind kind{likelihood, 8, 1, 3};  // one variable, more factors
    kind.points = 30;
    FactorModel one = plain_factors(kind, 2, 6);
    if (one.likelihood->free_size() == 0) one.y.head(2) << 1, -1;
    kind.variables = 5;
    FactorModel constant = plain_factors(kind, 8, 6);
    constant.x.col(2).setZero();
    constant.x.col(3).setConstant(kMissing);
    constant.x.row(4).setConstant(kMissing);
    FactorModel alone = plain_factors(kind, 8, 6);
    alone.feedback = false;
    FactorModel few = plain_factors(kind, 8, 6);
    few.process.points = 1;
    few.covariates.resize(8, 0);
    few.parts.clear();
    for (const FactorModel* model : {&one, &constant, &alone, &few}) {
      const SharedFactors shared(*model);
      const auto chain = make_factors_chain(shared, 1, 4, 1);
      CHECK(said(*chain, 50).allFinite());
    }
  }
}

TEST_CASE("factors: a process that does not fit its factors is refused") {
  const auto refused = [](FactorModel model) {
    CHECK_THROWS_AS(SharedFactors{model}, InvalidInput);
  };
  FactorModel model = some_process("hinge", false);
  model.process.start = Vec::Zero(3);
  refused(std::move(model));
  model = some_process("hinge", false);
  model.process.variance.reset();
  refused(std::move(model));
  model = some_process("hinge", false);
  model.process.points = 0;
  refused(std::move(model));
  model = some_process("hinge", false);
  model.factors = 3;
  refused(std::move(model));
}
