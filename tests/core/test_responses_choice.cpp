// Sets of columns of which the model has one, and hyper-parameters that are held at estimates.
#include <doctest/doctest.h>

#include <cmath>
#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <limits>

#include "hosts.hpp"
#include "latent_data.hpp"
#include "replicates.hpp"
#include "responses/responses_chain.hpp"

using namespace bsvm_test;

namespace {

using Named = std::map<std::string, double>;

std::unique_ptr<Prior> prior(const std::string& name, const Named& numbers) {
  return Registry<Prior>::make(name, Params(name, numbers));
}

Mat normal(Index n, Index p, Draws& random) {
  Mat out(n, p);
  for (Index k = 0; k < out.size(); ++k) out.data()[k] = random.normal();
  return out;
}

Mat known_sigma(Index q) {
  Mat out = Mat::Constant(q, q, 0.4);
  out.diagonal().array() += 0.5;
  return out;
}

// Narrow about known_sigma().
std::unique_ptr<Prior> known_residual(Index q) {
  Named numbers{{"effects", static_cast<double>(q)}, {"df", 1e10}};
  for (Index j = 0; j < q; ++j)
    for (Index i = j; i < q; ++i)
      numbers["scale_" + std::to_string(i + 1) + "_" + std::to_string(j + 1)] =
          1e10 * known_sigma(q)(i, j);
  return prior("inverse_wishart", numbers);
}

// Of n rows, q responses, an intercept, and three sets of columns; the prior of coefficients has
// variances of 0.3, 0.6, ... by response.
Responses with_sets(Index n, Index q, const std::vector<Index>& sizes, bool own_variances) {
  Draws random({11, 0, 0}, Purpose::rows, 0);
  Responses out;
  Index p = 1;
  ColumnPart first, sets;
  for (const Index size : sizes) {
    sets.choices.emplace_back();
    for (Index k = 0; k < size; ++k, ++p) {
      sets.choices.back().push_back(p);
      sets.columns.push_back(p);
    }
  }
  out.x = normal(n, p, random);
  out.x.col(0).setOnes();
  first.columns = {0};
  out.y = 0.4 * out.x.col(2) * normal(1, q, random) + normal(n, q, random);
  for (Index j = 0; j < q; ++j) {
    const double variance = 0.3 * static_cast<double>(j + 1);
    first.priors.push_back(prior("normal", {{"variance", 2}}));
    sets.priors.push_back(own_variances
                              ? prior("relevance", {{"shape", 1e9}, {"scale", 1e9 * variance}})
                              : prior("normal", {{"variance", variance}}));
  }
  out.parts.push_back(std::move(first));
  out.parts.push_back(std::move(sets));
  out.residual = known_residual(q);
  return out;
}

// Posterior probabilities of the sets: the responses are normal under each.
Vec exact_shares(const Responses& model) {
  const Index n = model.n(), q = model.q();
  Vec logs(static_cast<Index>(model.parts[1].choices.size()));
  for (Index c = 0; c < logs.size(); ++c) {
    Mat covariance = Mat::Zero(n * q, n * q);
    const Mat sigma = known_sigma(q);
    Mat x(n, 0);
    for (const Index column : model.parts[1].choices[static_cast<size_t>(c)]) {
      x.conservativeResize(n, x.cols() + 1);
      x.rightCols(1) = model.x.col(column);
    }
    for (Index i = 0; i < q; ++i)
      for (Index j = 0; j < q; ++j)
        covariance.block(i * n, j * n, n, n).diagonal().array() = sigma(i, j);
    for (Index j = 0; j < q; ++j)
      covariance.block(j * n, j * n, n, n) +=
          0.3 * static_cast<double>(j + 1) * x * x.transpose() + Mat::Constant(n, n, 2);
    const Eigen::LLT<Mat> factor(covariance);
    const Vec y = Eigen::Map<const Vec>(model.y.data(), n * q);
    logs[c] = -0.5 * y.dot(factor.solve(y)) -
              Mat(factor.matrixL()).diagonal().array().log().sum();
  }
  const Vec share = (logs.array() - logs.maxCoeff()).exp().matrix();
  return share / share.sum();
}

// The largest |z| of how often each set is in the model, of so many draws.
double worst(const Responses& model, const Vec& expected, int most, int thin) {
  const int draws = replicates(most);
  const SharedResponses shared(model);
  const auto chain = make_responses_chain(shared, 5, 0);
  Host host;
  Draw draw;
  Vec count = Vec::Zero(expected.size());
  for (int k = 0; k < draws; ++k) {
    for (int l = 0; l < thin; ++l) chain->sweep(host);
    chain->read(draw);
    const Index now = static_cast<Index>(draw.hyper[draw.hyper.size() - 1]);
    ++count[now];
    // the coefficients of the others are zero
    const auto& sets = model.parts[1].choices;
    for (size_t c = 0; c < sets.size(); ++c)
      for (const Index column : sets[c])
        for (Index j = 0; j < model.q(); ++j)
          REQUIRE((draw.coefficients[column + j * model.p()] != 0) ==
                  (static_cast<Index>(c) == now));
  }
  double out = 0;
  for (Index c = 0; c < expected.size(); ++c)
    out = std::max(out, std::abs(count[c] - draws * expected[c]) /
                            std::sqrt(draws * expected[c] * (1 - expected[c])));
  return out;
}

}  // namespace

TEST_CASE("responses: a set of columns with one variance is in the model with its probability") {
  const Responses model = with_sets(9, 2, {3, 2, 6}, false);
  const Vec expected = exact_shares(model);
  REQUIRE(expected.minCoeff() > 0.03);
  CHECK(worst(model, expected, 4000, 4) < 4);
}

// One response: half-t(3, 1) of the amplitude and half-t(2, 1) of the residual's standard deviation
// summed over a fine grid of their logarithms.
TEST_CASE("responses: so is one whose variance is inferred, with the residual's") {
  Responses model = with_sets(9, 1, {3, 2, 6}, false);
  model.parts[1].priors[0] = prior("half_t", {{"df", 3}, {"scale", 1}});
  model.residual = prior("huang_wand", {{"effects", 1}, {"df", 2}, {"scale_1", 1}});
  const Index n = model.n();
  const Vec y = model.y.col(0);
  Vec expected(3);
  std::vector<double> logs[3];
  double most = -std::numeric_limits<double>::infinity();
  for (size_t c = 0; c < 3; ++c) {
    Mat k = Mat::Zero(n, n);
    for (const Index column : model.parts[1].choices[c])
      k += model.x.col(column) * model.x.col(column).transpose();
    for (double tau = -7; tau < 5; tau += 0.1)
      for (double sigma = -5; sigma < 4; sigma += 0.1) {
        Mat covariance = std::exp(2 * tau) * k + Mat::Constant(n, n, 2);
        covariance.diagonal().array() += std::exp(2 * sigma);
        const Eigen::LLT<Mat> factor(covariance);
        const double value = -0.5 * y.dot(factor.solve(y)) -
                             Mat(factor.matrixL()).diagonal().array().log().sum() -
                             2 * std::log1p(std::exp(2 * tau) / 3) + tau -
                             1.5 * std::log1p(std::exp(2 * sigma) / 2) + sigma;
        logs[c].push_back(value);
        most = std::max(most, value);
      }
  }
  for (size_t c = 0; c < 3; ++c) {
    expected[static_cast<Index>(c)] = 0;
    for (const double value : logs[c]) expected[static_cast<Index>(c)] += std::exp(value - most);
  }
  expected /= expected.sum();
  REQUIRE(expected.minCoeff() > 0.03);
  CHECK(worst(model, expected, 6000, 6) < 4);
}

TEST_CASE("responses: so is one with variances of its own") {
  const Responses model = with_sets(9, 2, {3, 3, 3}, true);
  const Vec expected = exact_shares(model);
  REQUIRE(expected.minCoeff() > 0.03);
  CHECK(worst(model, expected, 4000, 4) < 4);
}

TEST_CASE("responses: sets of columns that can't be chosen are refused") {
  Responses model = with_sets(9, 2, {3, 2, 6}, true);
  CHECK_THROWS_AS(SharedResponses{model}, InvalidInput);  // of different size
  model = with_sets(9, 2, {3, 3}, false);
  model.parts[1].columns.pop_back();
  CHECK_THROWS_AS(SharedResponses{model}, InvalidInput);
  model = with_sets(9, 2, {3, 3}, true);
  LevelPart factor;
  factor.code.assign(9, 0);
  factor.levels = 1;
  factor.z = Mat::Ones(9, 1);
  factor.prior = known_residual(2);
  model.factors.push_back(std::move(factor));
  CHECK_THROWS_AS(SharedResponses{model}, InvalidInput);
}

// With one response, known noise s^2 and orthogonal columns of squared length n, the evidence of a
// coefficient's variance v is that of N(estimate; 0, v + s^2/n), highest at estimate^2 - s^2/n, or
// zero.
TEST_CASE("responses: empirical Bayes brings relevance variances to where evidence is highest") {
  const Index n = 64, p = 5;
  const double s2 = known_sigma(1)(0, 0);
  Draws random({12, 0, 0}, Purpose::rows, 0);
  Responses model;
  model.x = Eigen::HouseholderQR<Mat>(normal(n, p, random)).householderQ() * Mat::Identity(n, p);
  model.x *= std::sqrt(static_cast<double>(n));
  Vec truth(p);
  truth << 2, -1, 0.5, 0, 0;
  model.y = model.x * truth + std::sqrt(s2) * normal(n, 1, random);
  const Vec estimate = model.x.transpose() * model.y / static_cast<double>(n);
  ColumnPart part;
  for (Index j = 0; j < p; ++j) part.columns.push_back(j);
  part.priors.push_back(prior("relevance", {{"shape", 1e-8}, {"scale", 1e-10}}));
  model.parts.push_back(std::move(part));
  model.residual = known_residual(1);
  model.settled = 6000;
  const SharedResponses shared(model);
  const auto chain = make_responses_chain(shared, 3, 0);
  Host host;
  Draw draw;
  for (Index k = 0; k < model.settled; ++k) chain->sweep(host);
  Vec sum = Vec::Zero(p), square = Vec::Zero(p);
  const int draws = 20000;
  chain->read(draw);
  const double held = draw.hyper[0];
  for (int k = 0; k < draws; ++k) {
    chain->sweep(host);
    chain->read(draw);
    REQUIRE(draw.hyper[0] == held);
    sum += draw.coefficients;
    square += draw.coefficients.cwiseAbs2();
  }
  for (Index j = 0; j < p; ++j) {
    const double noise = s2 / static_cast<double>(n);
    const double v = std::max(estimate[j] * estimate[j] - noise, 0.0);
    const double mean = estimate[j] * v / (v + noise), sd = std::sqrt(v * noise / (v + noise));
    CHECK(std::abs(sum[j] / draws - mean) < 0.03 * std::sqrt(noise));
    CHECK(std::abs(std::sqrt(square[j] / draws - std::pow(sum[j] / draws, 2)) - sd) <
          0.03 * std::sqrt(noise));
  }
}

TEST_CASE("responses: empirical Bayes of a large block's variance maximises the evidence") {
  const Index n = 40, p = 8;
  const double s2 = known_sigma(1)(0, 0);
  Draws random({13, 0, 0}, Purpose::rows, 0);
  Responses model;
  model.x = normal(n, p, random);
  model.y = model.x * (0.6 * normal(p, 1, random)) + std::sqrt(s2) * normal(n, 1, random);
  ColumnPart part;
  for (Index j = 0; j < p; ++j) part.columns.push_back(j);
  part.priors.push_back(prior("ridge", {{"shape", 0.01}, {"scale", 0.02}}));
  model.parts.push_back(std::move(part));
  model.residual = known_residual(1);
  model.settled = 4000;
  const SharedResponses shared(model);
  const auto chain = make_responses_chain(shared, 3, 0);
  Host host;
  Draw draw;
  for (Index k = 0; k < model.settled; ++k) chain->sweep(host);
  chain->read(draw);
  // log p(y | v) + log p(log v), by a fine grid
  double best = -std::numeric_limits<double>::infinity(), at = 0;
  for (double log_v = -6; log_v < 4; log_v += 0.001) {
    const double v = std::exp(log_v);
    Mat covariance = v * model.x * model.x.transpose();
    covariance.diagonal().array() += s2;
    const Eigen::LLT<Mat> factor(covariance);
    const double value = -0.5 * model.y.col(0).dot(factor.solve(model.y.col(0))) -
                         Mat(factor.matrixL()).diagonal().array().log().sum() - 0.01 * log_v -
                         0.02 / v;
    if (value > best) best = value, at = log_v;
  }
  CHECK(std::abs(std::log(draw.hyper[0]) - at) < 0.03);
}

// Two sets of different size, of which the first can't be: the variance is that of the second alone.
TEST_CASE("responses: empirical Bayes counts the coefficients of the set that is in the model") {
  const Index n = 60;
  Draws random({14, 0, 0}, Purpose::rows, 0);
  double found[2];
  for (const bool alone : {false, true}) {
    Draws numbers = random;
    Responses model;
    model.x = normal(n, 13, numbers);
    model.y = model.x.leftCols(12) * normal(12, 1, numbers) + 0.1 * normal(n, 1, numbers);
    ColumnPart part;
    for (Index j = 0; j < (alone ? 12 : 13); ++j) part.columns.push_back(j);
    if (alone) {
      model.x.conservativeResize(n, 12);
    } else {
      part.choices = {{12}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
    }
    part.priors.push_back(prior("ridge", {{"shape", 0.01}, {"scale", 0.02}}));
    model.parts.push_back(std::move(part));
    model.residual = prior("inverse_wishart", {{"effects", 1}, {"df", 3}, {"scale_1_1", 1}});
    model.settled = 1500;
    const SharedResponses shared(model);
    const auto chain = make_responses_chain(shared, 3, 0);
    Host host;
    Draw draw;
    for (Index k = 0; k < model.settled; ++k) chain->sweep(host);
    chain->read(draw);
    found[alone] = draw.hyper[0];
    if (!alone) REQUIRE(draw.hyper[draw.hyper.size() - 1] == 1);
  }
  CHECK(std::abs(std::log(found[0] / found[1])) < 0.05);
}

TEST_CASE("responses: a chain goes on from where it was saved, with choices and estimates") {
  for (const bool own : {false, true}) {
    Responses model = with_sets(9, 2, {3, 3, 3}, own);
    if (own) model.settled = 30;
    const SharedResponses shared(model);
    const auto chain = make_responses_chain(shared, 5, 0);
    const auto again = make_responses_chain(shared, 5, 0);
    Host host;
    Draw one, other;
    for (int k = 0; k < 20; ++k) chain->sweep(host);
    again->restore(chain->save());
    for (int k = 0; k < 20; ++k) {
      chain->sweep(host);
      again->sweep(host);
    }
    chain->read(one);
    again->read(other);
    CHECK(one.coefficients == other.coefficients);
    CHECK(one.hyper == other.hyper);
  }
}
