// engine_gaussian() of several responses: coefficients integrated out, and chains that propose about
// the modes.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

#include "hosts.hpp"
#include "replicates.hpp"
#include "responses/independent_chain.hpp"
#include "responses/responses_chain.hpp"

using namespace bsvm_test;
using namespace bsvm;

namespace {

using Named = std::map<std::string, double>;

std::unique_ptr<Prior> make_prior(const std::string& name, const Named& numbers) {
  return Registry<Prior>::make(name, Params(name, numbers));
}

std::unique_ptr<Prior> covariance_prior(Index q) {
  Named numbers{{"effects", static_cast<double>(q)}, {"df", 2}};
  for (Index j = 0; j < q; ++j)
    numbers["scale_" + std::to_string(j + 1)] = 1 + 0.5 * static_cast<double>(j);
  return make_prior("huang_wand", numbers);
}

Mat noise(Index n, Index p, Draws& random) {
  Mat out(n, p);
  for (Index k = 0; k < out.size(); ++k) out.data()[k] = random.normal();
  return out;
}

// An intercept, two small columns of an inferred variance, and a large block of `large` columns.
Responses some_model(Index n, Index q, Index large, bool weighted) {
  Draws random({21, 0, 0}, Purpose::rows, 0);
  Responses out;
  out.x = noise(n, 3 + large, random);
  out.x.col(0).setOnes();
  const Mat b = 0.4 * noise(out.x.cols(), q, random);
  out.y = out.x * b + noise(n, q, random);
  if (q > 1) out.y.col(1) += 0.8 * out.y.col(0);
  if (weighted) {
    out.weight = Vec(n);
    for (Index i = 0; i < n; ++i) out.weight[i] = 0.5 + random.uniform();
  }
  ColumnPart intercept, slopes, block;
  intercept.columns = {0};
  slopes.columns = {1, 2};
  for (Index k = 0; k < large; ++k) block.columns.push_back(3 + k);
  for (Index j = 0; j < q; ++j) {
    intercept.priors.push_back(make_prior("normal", {{"variance", 3.0 + static_cast<double>(j)}}));
    slopes.priors.push_back(make_prior("ridge", {{"shape", 2}, {"scale", 1}}));
    block.priors.push_back(make_prior("half_t", {{"df", 3}, {"scale", 0.7}}));
  }
  out.parts.push_back(std::move(intercept));
  out.parts.push_back(std::move(slopes));
  if (large > 0) out.parts.push_back(std::move(block));
  out.residual = covariance_prior(q);
  return out;
}

// theta: log sds of slopes, of the block, and Sigma's root.
Vec some_theta(const Evidence& evidence, Index q) {
  Vec out(evidence.size());
  for (Index k = 0; k < out.size(); ++k) out[k] = 0.3 * std::sin(static_cast<double>(3 * k + 1));
  out.tail(q * (q + 1) / 2).array() *= 0.7;
  return out;
}

Mat sigma_of(const Vec& theta, Index q) {
  Mat root = Mat::Zero(q, q);
  Index at = theta.size() - q * (q + 1) / 2;
  for (Index i = 0; i < q; ++i)
    for (Index j = 0; j <= i; ++j, ++at)
      root(i, j) = i == j ? std::exp(theta[at]) : std::exp(theta[at + i - j]) * std::sinh(theta[at]);
  return root * root.transpose();
}

struct Dense {
  double value = 0;  // log p(y, theta)
  Mat mean, covariance;  // of vec(B) (p q)
};

// The same with a covariance of all responses of all rows; a row of weight w has w times its part of
// the log likelihood, which is a normal density of covariance Sigma/w but for its constant.
Dense by_dense(const Responses& model, const Vec& theta) {
  const Index n = model.n(), q = model.q(), p = model.p();
  const Mat sigma = sigma_of(theta, q);
  Mat prior = Mat::Zero(p * q, p * q), x = Mat::Zero(n * q, p * q);
  Dense out;
  Index at = 0;
  for (const ColumnPart& part : model.parts)
    for (Index j = 0; j < q; ++j) {
      const Prior& own = *part.priors[static_cast<size_t>(j)];
      const Index size = own.free_size(static_cast<Index>(part.columns.size()));
      double variance = 3.0 + static_cast<double>(j);
      if (size > 0) {
        Vec slope(1);
        variance = std::exp(2 * theta[at]);
        out.value += own.log_joint(Moments(), theta.segment(at, 1), slope);
      }
      at += size;
      for (const Index column : part.columns) prior(column + j * p, column + j * p) = variance;
    }
  // as a density of Sigma's own entries times the Jacobian, found by differences
  Vec slope(q * (q + 1) / 2), free(slope.size());
  const auto entries = [&](const Vec& own) {
    const Mat at_own = sigma_of(own, q);
    Vec lower(slope.size());
    for (Index i = 0, k = 0; i < q; ++i)
      for (Index j = 0; j <= i; ++j) lower[k++] = at_own(i, j);
    return lower;
  };
  const Mat factor = sigma.llt().matrixL();
  for (Index i = 0, k = 0; i < q; ++i)
    for (Index j = 0; j <= i; ++j) free[k++] = i == j ? std::log(factor(i, i)) : factor(i, j);
  const auto of_free = [&](const Vec& given) {
    Mat root = Mat::Zero(q, q);
    for (Index i = 0, k = 0; i < q; ++i)
      for (Index j = 0; j <= i; ++j, ++k) root(i, j) = i == j ? std::exp(given[k]) : given[k];
    const Mat at_free = root * root.transpose();
    Vec lower(slope.size());
    for (Index i = 0, k = 0; i < q; ++i)
      for (Index j = 0; j <= i; ++j) lower[k++] = at_free(i, j);
    return lower;
  };
  const auto log_det = [](const auto& map, const Vec& where) {
    Mat jacobian(where.size(), where.size());
    for (Index k = 0; k < where.size(); ++k) {
      Vec above = where, below = where;
      above[k] += 1e-5;
      below[k] -= 1e-5;
      jacobian.col(k) = (map(above) - map(below)) / 2e-5;
    }
    return std::log(std::abs(jacobian.determinant()));
  };
  const Vec own = theta.tail(slope.size());
  out.value += model.residual->log_joint(Moments(), free, slope) + log_det(entries, own) -
               log_det(of_free, free);
  const Vec weight = model.weight.size() > 0 ? model.weight : Vec(Vec::Ones(n));
  Mat residual = Mat::Zero(n * q, n * q);
  for (Index i = 0; i < q; ++i) {
    x.block(i * n, i * p, n, p) = model.x;
    for (Index j = 0; j < q; ++j)
      residual.block(i * n, j * n, n, n).diagonal() = sigma(i, j) * weight.cwiseInverse();
  }
  const Vec y = Eigen::Map<const Vec>(model.y.data(), n * q);
  const Eigen::LLT<Mat> all(residual + x * prior * x.transpose()), rest(residual);
  const auto logdet = [](const Eigen::LLT<Mat>& of) {
    return 2 * Mat(of.matrixL()).diagonal().array().log().sum();
  };
  const double rows = weight.sum() * static_cast<double>(q);
  const double log_sigma = std::log(sigma.determinant());
  out.value += -0.5 * (rows * kLog2Pi + weight.sum() * log_sigma) -
               0.5 * (y.dot(all.solve(y)) + logdet(all) - logdet(rest));
  out.mean = prior * x.transpose() * all.solve(y);
  out.covariance = prior - prior * x.transpose() * all.solve(x * prior);
  return out;
}

}  // namespace

TEST_CASE("responses' evidence: it is that of a dense covariance") {
  for (const bool weighted : {false, true})
    for (const Index large : {0, 6, 30})
      for (const Index q : {1, 3}) {
        const Responses model = some_model(12, q, large, weighted);
        const SharedResponses shared(model);
        const Evidence evidence(shared);
        CHECK(evidence.size() == (large > 0 ? 2 : 1) * q + q * (q + 1) / 2);
        const Vec theta = some_theta(evidence, q);
        CHECK(evidence.look(theta, false).value ==
              doctest::Approx(by_dense(model, theta).value).epsilon(1e-9));
      }
}

TEST_CASE("responses' evidence: its gradient is that of differences") {
  for (const Index large : {0, 6, 30})
    for (const bool weighted : {false, true}) {
      const Responses model = some_model(12, 3, large, weighted);
      const SharedResponses shared(model);
      const Evidence evidence(shared);
      const Vec theta = some_theta(evidence, 3);
      const Vec gradient = evidence.look(theta, true).gradient;
      REQUIRE(gradient.size() == theta.size());
      for (Index k = 0; k < theta.size(); ++k) {
        const double step = 1e-3;
        const auto value = [&](double by) {
          Vec there = theta;
          there[k] += by;
          return evidence.look(there, false).value;
        };
        const double near = (value(step) - value(-step)) / (2 * step);
        const double far = (value(2 * step) - value(-2 * step)) / (4 * step);
        CHECK(gradient[k] == doctest::Approx((4 * near - far) / 3).epsilon(1e-8));
      }
    }
}

TEST_CASE("responses' evidence: coefficients given the variances have their normal law") {
  const Responses model = some_model(12, 2, 6, true);
  const SharedResponses shared(model);
  const Evidence evidence(shared);
  const Vec theta = some_theta(evidence, 2);
  const Dense exact = by_dense(model, theta);
  const int draws = replicates(20000);
  Fit fit(shared);
  Vec sum = Vec::Zero(exact.mean.size());
  Mat square = Mat::Zero(sum.size(), sum.size());
  for (int k = 0; k < draws; ++k) {
    const DrawKey key{5, 0, static_cast<std::uint64_t>(k)};
    Draws small(key, Purpose::dense, 0), large(key, Purpose::design, 0);
    Evidence::Coefficients drawn = evidence.draw(theta, small, large);
    fit.set_small(drawn.small);
    fit.set_turned(0, drawn.turned);
    const Mat b = fit.coefficients();
    const Vec off = Eigen::Map<const Vec>(b.data(), b.size()) - Vec(exact.mean);
    sum += off;
    square += off * off.transpose();
  }
  const Vec sd = exact.covariance.diagonal().cwiseSqrt();
  const double root = std::sqrt(static_cast<double>(draws));
  CHECK((sum / draws).cwiseQuotient(sd).cwiseAbs().maxCoeff() < 4 / root);
  const Mat scaled = sd.cwiseInverse().asDiagonal() *
                     (square / draws - exact.covariance) * sd.cwiseInverse().asDiagonal();
  CHECK(scaled.cwiseAbs().maxCoeff() < 4.5 * std::sqrt(2.0) / root);
}

// One response and two numbers, the block's standard deviation and the residual's: their density
// summed over a fine grid.
TEST_CASE("responses' evidence: importance weights have the mean that a grid has") {
  Responses model = some_model(10, 1, 6, false);
  model.parts[1].priors[0] = make_prior("normal", {{"variance", 4}});
  const SharedResponses shared(model);
  const Evidence evidence(shared);
  REQUIRE(evidence.size() == 2);
  double top = -1e300;
  std::vector<double> values;
  const double step = 0.05;
  Vec mean = Vec::Zero(2);
  for (double a = -9; a < 5; a += step)
    for (double b = -6; b < 5; b += step)
      values.push_back(evidence.look(Eigen::Vector2d(a, b), false).value);
  for (const double value : values) top = std::max(top, value);
  double total = 0;
  size_t at = 0;
  for (double a = -9; a < 5; a += step)
    for (double b = -6; b < 5; b += step, ++at) {
      total += std::exp(values[at] - top);
      mean += std::exp(values[at] - top) * Eigen::Vector2d(a, b);
    }
  const double exact = top + std::log(total * step * step);
  Host host;
  const EvidenceModes modes(evidence, host);
  const auto chain = make_independent_chain(evidence, modes, 4, 0);
  const int draws = replicates(20000);
  Draw draw;
  double sum = 0, square = 0;
  Vec logs = Vec::Zero(2);
  for (int k = 0; k < draws; ++k) {
    chain->sweep(host);
    chain->read(draw);
    const double weight = std::exp(draw.hyper[2] - exact);
    sum += weight;
    square += weight * weight;
    logs += Eigen::Vector2d(0.5 * std::log(draw.hyper[0]), 0.5 * std::log(draw.hyper[1]));
  }
  const double share = sum / draws;
  const double error = std::sqrt((square / draws - share * share) / draws);
  CHECK(std::abs(share - 1) < 4 * error);
  CHECK(error < 0.02 * std::sqrt(20000.0 / draws));
  CHECK((logs / draws - mean / total).cwiseAbs().maxCoeff() <
        0.04 * std::sqrt(20000.0 / draws));
}

// What mixes worst, the block's variances, and what is asked of most, Sigma.
TEST_CASE("responses' evidence: its chain and Gibbs sampling have the same posterior") {
  const Responses model = some_model(20, 2, 8, false);
  const SharedResponses shared(model);
  const Evidence evidence(shared);
  Host host;
  const EvidenceModes modes(evidence, host);
  const int blocks = 40, each = replicates(500);
  Mat means[2];
  for (int which = 0; which < 2; ++which) {
    const auto chain = which == 0 ? make_independent_chain(evidence, modes, 8, 0)
                                  : make_responses_chain(shared, 8, 0);
    Draw draw;
    for (int k = 0; k < 300; ++k) chain->sweep(host);
    means[which] = Mat::Zero(8, blocks);
    for (int b = 0; b < blocks; ++b)
      for (int k = 0; k < each; ++k) {
        chain->sweep(host);
        chain->read(draw);
        Vec now(8);
        // drawn: by response its slopes' and block's variance, then Sigma
        now << draw.hyper.segment(0, 4).array().log(), std::log(draw.hyper[4]),
            draw.hyper[5] / std::sqrt(draw.hyper[4] * draw.hyper[6]), std::log(draw.hyper[6]),
            draw.coefficients[5];
        means[which].col(b) += now / each;
      }
  }
  for (Index k = 0; k < 8; ++k) {
    double center[2], error = 0;
    for (int which = 0; which < 2; ++which) {
      const Vec own = means[which].row(k);
      center[which] = own.mean();
      error += (own.array() - center[which]).square().sum() / (blocks * (blocks - 1.0));
    }
    CHECK(std::abs(center[0] - center[1]) < 4 * std::sqrt(error));
  }
}

TEST_CASE("responses' evidence: what it can't be of is refused") {
  Responses model = some_model(12, 2, 6, false);
  model.y(3, 1) = std::nan("");
  {
    const SharedResponses shared(model);
    CHECK_THROWS_AS(Evidence{shared}, InvalidInput);
  }
  model = some_model(12, 2, 6, false);
  LevelPart factor;
  factor.code.assign(12, 0);
  factor.levels = 1;
  factor.z = Mat::Ones(12, 1);
  factor.prior = covariance_prior(2);
  model.factors.push_back(std::move(factor));
  const SharedResponses shared(model);
  CHECK_THROWS_AS(Evidence{shared}, InvalidInput);
}
