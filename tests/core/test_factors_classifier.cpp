// Coefficients and scores given loadings, against sums over grids that share no code with them.
#include <doctest/doctest.h>

#include "factor_data.hpp"
#include "factors/classifier.hpp"
#include "replicates.hpp"

using namespace bsvm_test;

namespace {

double likelihood_at(const std::string& name, double y, double f, double sd) {
  if (name == "normal") return std::exp(-0.5 * std::pow((y - f) / sd, 2)) / sd;
  const double up = std::exp(-2 * std::max(0.0, 1 - y * f));
  if (name == "hinge") return up;
  return up / (up + std::exp(-2 * std::max(0.0, 1 + y * f)));
}

// E p(y | f)^weight under f ~ N(mean, v): the trapezoid rule, kinks well resolved.
double averaged_by_grid(const std::string& name, double y, double weight, double mean, double v) {
  const int points = 80;
  const double s = std::sqrt(v), step = 16.0 / points;
  double sum = 0;
  for (int k = 0; k <= points; ++k) {
    const double z = -8 + step * k;
    const double p = likelihood_at(name, y, mean + s * z, 1);
    sum += std::exp(-0.5 * z * z) * (weight == 1 ? p : std::pow(p, weight));
  }
  return sum * step / std::sqrt(2 * 3.14159265358979);
}

// Two factors, six rows of which five have a response; loadings, means and noise are given.
struct Given {
  FactorModel model;
  ScoreSums sums;
  explicit Given(const std::string& name) {
    FactorKind kind{name, 6, 3, 2};
    model = plain_factors(kind, 5, 3);
    model.parts[1].prior = prior_of("normal", {{"variance", 2}});
    if (name != "normal") model.y << 1, -1, 1, 1, -1, kMissing;
    model.weight = model.offset = Vec::Ones(6);
    model.weight[1] = 2;
    model.weight[3] = 0.5;
    model.offset << 0.3, -0.2, 0, 0.5, 0, 0;
    model.x(2, 1) = kMissing;
    sums.precision = (Mat(2, 2) << 2.5, 0.6, 0.6, 1.8).finished();
    sums.linear.resize(6, 2);
    sums.linear << 1.2, -0.4, -0.8, 0.9, 0.1, 1.5, -1.1, -0.6, 0.7, 0.3, 2, 2;
    sums.own.push_back((Mat(2, 2) << 1.6, -0.2, -0.2, 1.4).finished());
  }
};

// Posterior means and second moments of (b0, beta) on a grid.
Vec moments_by_grid(const Given& given, const std::string& name) {
  const int points = 29;
  const double reach = 7.5, step = 2 * reach / (points - 1);
  const Mat common = Factor(given.sums.precision).inverse();
  const Mat own = Factor(given.sums.own[0]).inverse();
  Vec sum = Vec::Zero(6);
  double total = 0;
  for (int i = 0; i < points; ++i)
    for (int j = 0; j < points; ++j)
      for (int k = 0; k < points; ++k) {
        Vec beta(2);
        const double b0 = 0.8 * (-reach + step * i);
        beta << -reach + step * j, -reach + step * k;
        double density = std::exp(-0.5 * b0 * b0 - 0.25 * beta.squaredNorm());
        if (density < 1e-7) continue;
        for (Index n = 0; n < 5; ++n) {
          const Mat& s = n == 2 ? own : common;
          const Vec m = s * given.sums.linear.row(n).transpose();
          density *= averaged_by_grid(name, given.model.y[n], given.model.weight[n],
                                      given.model.offset[n] + b0 + m.dot(beta),
                                      given.model.feedback ? std::max(beta.dot(s * beta), 1e-12)
                                                           : 1e-20);
        }
        Vec seen(6);
        seen << b0, beta[0], beta[1], b0 * b0, beta[0] * beta[0], beta[1] * beta[1];
        sum += density * seen;
        total += density;
      }
  return sum / total;
}

}  // namespace

TEST_CASE("factors: coefficients with scores integrated out against a sum over a grid") {
  for (const std::string name : {"hinge", "hinge_normalized", "mean scores"}) {
    Given given(name == "mean scores" ? "hinge_normalized" : name);
    given.model.feedback = name != "mean scores";
    if (name != "hinge") given.model.weight.setOnes();  // the others' powers are slow
    const SharedFactors shared(given.model);
    const Scores scores(given.sums, shared.place);
    const Vec exact = moments_by_grid(given, name == "hinge" ? name : "hinge_normalized");
    Draws start({1, 0, 0}, Purpose::hyper, 0);
    const auto classifier = make_linear_classifier(shared, start);
    Host host;
    const int draws = 6000, batches = 30;
    Mat means = Mat::Zero(6, batches);
    for (int k = 0; k < draws; ++k) {
      classifier->draw(scores, {1, 0, static_cast<std::uint64_t>(k + 1)}, 1, host);
      const Vec b = classifier->coefficients();
      Vec seen(6);
      seen << b, b.cwiseAbs2();
      means.col(k * batches / draws) += seen * batches / draws;
    }
    const Vec mean = means.rowwise().mean();
    const Arr sd = ((means.colwise() - mean).array().square().rowwise().sum() /
                    (batches * (batches - 1.0))).sqrt();
    const Arr z = (mean - exact).array() / sd;
    CHECK(z.abs().maxCoeff() < 4);
    CHECK(sd.maxCoeff() < 0.12);
  }
}

// E of w and ww' given y of one row: with f known w is normal, and f has one dimension.
TEST_CASE("factors: scores given a response against a sum over f") {
  for (const std::string name : {"hinge", "hinge_normalized", "normal"}) {
    const Given given(name);
    const SharedFactors shared(given.model);
    const Scores scores(given.sums, shared.place);
    Draws start({4, 0, 0}, Purpose::hyper, 0);
    const auto classifier = make_linear_classifier(shared, start);
    Host host;
    for (int k = 0; k < 3; ++k)
      classifier->draw(scores, {4, 0, static_cast<std::uint64_t>(k + 1)}, 1, host);
    const Vec beta = classifier->coefficients().tail(2);
    const Vec links = shared.offset() + shared.model.covariates * classifier->alpha() +
                      classifier->links(scores, 1).mean;
    double sd = 1;
    for (const auto& number : classifier->drawn())
      if (number.first == "theta_1") sd = std::exp(number.second);
    const int draws = replicates(20000);
    Mat sum = Mat::Zero(6, 5), square = sum;
    for (int k = 0; k < draws; ++k) {
      const Mat w = classifier->draw_scores(scores, {5, 0, static_cast<std::uint64_t>(k + 1)}, 1,
                                            host);
      Mat seen(6, 5);
      seen << w, w.cwiseAbs2(), w.col(0).cwiseProduct(w.col(1));
      sum += seen;
      square += seen.cwiseAbs2();
    }
    double most = 0;
    for (Index n = 0; n < 6; ++n) {
      const Mat s = Factor(n == 2 ? given.sums.own[0] : given.sums.precision).inverse();
      const Vec m = s * given.sums.linear.row(n).transpose(), along = s * beta;
      const double v = beta.dot(along);
      Vec exact = Vec::Zero(5);
      double total = 0;
      for (int k = -4000; k <= 4000; ++k) {
        const double z = 0.002 * k, f = links[n] + std::sqrt(v) * z;
        const double y = given.model.y[n];
        const double density = std::exp(-0.5 * z * z) *
                               (std::isnan(y) ? 1 : std::pow(likelihood_at(name, y, f, sd),
                                                             given.model.weight[n]));
        const Vec w = m + along * (f - links[n]) / v;
        const Mat left = s - along * along.transpose() / v;
        Vec seen(5);
        seen << w, w[0] * w[0] + left(0, 0), w[1] * w[1] + left(1, 1), w[0] * w[1] + left(0, 1);
        exact += density * seen;
        total += density;
      }
      const Arr mean = sum.row(n).transpose().array() / draws;
      const Arr variance = square.row(n).transpose().array() / draws - mean.square();
      const Arr error = (variance / draws).sqrt();
      most = std::max(most, ((mean - exact.array() / total) / error).abs().maxCoeff());
    }
    CHECK(most < 4.5);
  }
}

TEST_CASE("factors: without factors coefficients are those of the covariates") {
  FactorKind kind{"hinge_normalized", 12, 2, 0};
  FactorModel model = plain_factors(kind, 10, 5);
  const SharedFactors shared(model);
  const auto chain = make_factors_chain(shared, 1, 3, 0);
  Host host;
  Draw draw;
  double sum = 0, square = 0;
  const int draws = 6000;
  for (int k = 0; k < draws; ++k) {
    chain->sweep(host);
    chain->read(draw);
    sum += draw.coefficients[0];
    square += std::pow(draw.coefficients[0], 2);
  }
  double total = 0, mean = 0, second = 0;
  for (double b = -6; b <= 6; b += 0.001) {
    double density = std::exp(-0.5 * b * b);
    for (Index n = 0; n < 10; ++n) density *= likelihood_at("hinge_normalized", model.y[n], b, 1);
    total += density;
    mean += b * density;
    second += b * b * density;
  }
  const double sd = std::sqrt(second / total - std::pow(mean / total, 2));
  CHECK(std::abs(sum / draws - mean / total) < 6 * sd / std::sqrt(draws));
  CHECK(std::abs(std::log((square / draws) / (second / total))) < 0.15);
}
