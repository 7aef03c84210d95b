// A Gaussian process of scores, against sums that share no code with it.
#include <doctest/doctest.h>

#include "batch_means.hpp"
#include "factor_data.hpp"
#include "factors/classifier.hpp"
#include "factors/process_coefficients.hpp"
#include "factors/process_links.hpp"
#include "process_limits.hpp"
#include "replicates.hpp"

using namespace bsvm_test;

namespace {

std::unique_ptr<Kernel> squared_exponential(Index k) {
  return Registry<Kernel>::make(
      "se", Params("se", {{"variables", static_cast<double>(k)}, {"ard", 0}}));
}

double pseudo(double y, double f) { return std::exp(-2 * std::max(0.0, 1 - y * f)); }

double normalised(double y, double f) { return pseudo(y, f) / (pseudo(1, f) + pseudo(-1, f)); }

// Scores of one factor for complete rows: N(mean, variance).
Scores scores_of(const Vec& mean, double variance, const std::vector<Index>& place) {
  ScoreSums sums;
  sums.precision = Mat::Constant(1, 1, 1 / variance);
  sums.linear = mean / variance;
  return Scores(sums, place);
}

// A model of one factor and these classes, whose process has the variance and length scale given.
FactorModel plain_process(const std::string& likelihood, const Vec& y, double variance,
                          double length, Index points) {
  FactorKind kind{likelihood, y.size(), 2, 1};
  kind.points = points;
  FactorModel out = plain_factors(kind, y.size(), 3);
  out.y = y;
  out.covariates.resize(y.size(), 0);
  out.parts.clear();
  out.process.numbers[0].reset();
  out.process.start[0] = std::log(length);
  out.process.variance = prior_of("normal", {{"variance", variance}});
  return out;
}

}  // namespace

// f of two rows is normal given their scores: a sum over (w_1, w_2, f_1, f_2).
TEST_CASE("factors: a Gaussian process classifies two rows as a sum over four dimensions has it") {
  const double variance = 4, length = 0.8, spread = 0.6;
  const Vec y = Eigen::Vector2d(1, -1), m = Eigen::Vector2d(0.4, -0.1);
  for (const std::string name : {"hinge", "hinge_normalized"}) {
    const FactorModel model = plain_process(name, y, variance, length, 2);  // much is left over
    const SharedFactors shared(model);
    const Vec theta = model.process.start;
    Host host;
    const Mat v = shared.points;
    const auto k = [&](double a, double b) {
      return std::exp(-0.5 * std::pow((a - b) / length, 2));
    };
    const double k00 = 1 + 1e-8, k01 = k(v(0, 0), v(0, 1)), det = k00 * k00 - k01 * k01;
    Vec sum = Vec::Zero(5);
    double total = 0;
    for (int i = -40; i <= 40; ++i)
      for (int j = -40; j <= 40; ++j) {
        const double z0 = 0.1 * i, z1 = 0.1 * j;
        const double w0 = m[0] + spread * z0, w1 = m[1] + spread * z1;
        const double a0 = k(w0, v(0, 0)), a1 = k(w0, v(0, 1)), b0 = k(w1, v(0, 0)),
                     b1 = k(w1, v(0, 1));
        const double covariance =
            variance * (k00 * (a0 * b0 + a1 * b1) - k01 * (a0 * b1 + a1 * b0)) / det;
        const double root = std::sqrt(variance), slope = covariance / root;
        const double rest = std::sqrt(variance - slope * slope);
        double mass = 0;
        for (int a = -24; a <= 24; ++a)
          for (int b = -24; b <= 24; ++b) {
            const double x0 = 0.25 * a, x1 = 0.25 * b;
            const double f0 = root * x0, f1 = slope * x0 + rest * x1;
            mass += std::exp(-0.5 * (x0 * x0 + x1 * x1)) *
                    (name == "hinge" ? pseudo(1, f0) * pseudo(-1, f1)
                                     : normalised(1, f0) * normalised(-1, f1));
          }
        const double weight = std::exp(-0.5 * (z0 * z0 + z1 * z1));
        Vec seen(5);
        seen << w0, w1, w0 * w0, w1 * w1, w0 * w1;
        sum += weight * mass * seen;
        total += weight * mass;
      }
    const Vec exact = sum / total;
    Draws start({3, 0, 0}, Purpose::hyper, 0);
    const auto classifier = make_process_classifier(shared, m, start);
    const Scores scores = scores_of(m, spread * spread, shared.place);
    const int draws = 30 * replicates(1000);
    BatchMeans means(5, draws);
    for (int s = 0; s < draws; ++s) {
      const DrawKey now{8, 0, static_cast<std::uint64_t>(s + 1)};
      classifier->draw(scores, now, 1, host);
      const Mat w = classifier->draw_scores(scores, now, 1, host);
      Vec seen(5);
      seen << w, w.cwiseAbs2(), w(0) * w(1);
      means.add(seen);
    }
    CHECK(((means.mean() - exact).array() / means.error()).abs().maxCoeff() < 4);
    CHECK(means.error().maxCoeff() < 1.7 / std::sqrt(draws));
  }
}

// Given scores and many points coefficients are those of a Gaussian process: with numbers as
// responses its mean and variance are known.
TEST_CASE("factors: with its rows as points a process of given scores is the whole one") {
  const Index n = 9;
  Draws random({2, 0, 0}, Purpose::rows, 0);
  const Mat w = normal_numbers(2, n, random);
  const Vec y = normal_numbers(n, 1, random);
  const auto kernel = squared_exponential(2);
  const Vec theta = Vec::Constant(1, 0.2);
  Host host;
  const double sd = 1.7, noise = 0.6;
  const Features features(*kernel, w, theta, host);
  Mat h(n, n), k;
  features.fill(w, h);
  kernel->values(w, w, theta, k);
  CHECK((h.transpose() * h - k).cwiseAbs().maxCoeff() < 1e-6);
  CHECK(features.left_over(w, h).maxCoeff() < 1e-6);
  NormalRows rows{sd * h, Vec::Zero(n), sd * sd * features.left_over(w, h), y, Vec::Ones(n)};
  const auto family = likelihood_of("normal");
  const auto likelihood = family->with(Vec::Constant(1, std::log(noise)));
  const NormalBase base(rows, *likelihood, Vec::Ones(n));
  Mat covariance = sd * sd * k;
  covariance.diagonal().array() += noise * noise;
  const Vec mean = sd * sd * k * Factor(covariance).solve(y);
  CHECK((rows.means(base.from_white(Vec::Zero(n))) - mean).cwiseAbs().maxCoeff() < 1e-6);
  // The normal density is that of x, so that slices accept at once: x' = x cos t + z sin t. Draws are
  // uncorrelated, their squares have correlation E cos^2 t = 1/2 with the next.
  Vec x = Vec::Zero(n), sum = Vec::Zero(n), square = sum;
  const int draws = replicates(4000);
  for (int s = 0; s < draws; ++s) {
    Draws own({5, 0, static_cast<std::uint64_t>(s)}, Purpose::dense, 0);
    draw_by_ellipses(rows, *likelihood, Vec::Ones(n), base, x, own);
    const Vec f = rows.means(x);
    sum += f;
    square += (f - mean).cwiseAbs2();
  }
  const Mat left = sd * sd * k - sd * sd * k * Factor(covariance).solve(Mat(sd * sd * k));
  const Arr error = (left.diagonal().array() / draws).sqrt();
  CHECK(((sum / draws - mean).array() / error).abs().maxCoeff() < 4);
  CHECK(((square / draws).array() / left.diagonal().array() - 1).abs().maxCoeff() <
        4 * std::sqrt(3 * 2.0 / draws));
}

TEST_CASE("factors: points that stand for normal scores") {
  for (const Index k : {1, 2, 5, 10, 30}) {
    const Mat z = normal_points(k);
    const double count = static_cast<double>(z.cols());
    CHECK((z * z.transpose() / count - Mat::Identity(k, k)).cwiseAbs().maxCoeff() < 1e-10);
    CHECK(z.rowwise().sum().cwiseAbs().maxCoeff() < 1e-10);
    CHECK(z.cwiseAbs().maxCoeff() < std::sqrt(count));
  }
}

// E k(w, v) and E k(w, v) k(w, u) of the squared exponential are known for normal w.
TEST_CASE("factors: moments of a process given x alone against closed forms") {
  const Index k = 2, m = 12;
  Draws random({7, 0, 0}, Purpose::rows, 0);
  const auto kernel = squared_exponential(k);
  const Mat v = normal_numbers(k, m, random);
  const Vec b = normal_numbers(m, 1, random), theta = Vec::Constant(1, 0.6);
  const double l2 = std::exp(1.2), sd = 1.5;
  Host host;
  const Features features(*kernel, v, theta, host);
  Mat kvv;
  kernel->values(v, v, theta, kvv);
  kvv.diagonal().array() += 1e-8;
  const Factor factor(kvv);
  Vec c = b;
  solve_transposed(factor.lower(), c);  // g(w) = sd k(w, v)'c
  const Mat inverse = factor.inverse();
  ScoreSums sums;
  const double tight = 0.02;
  sums.precision = (Mat(2, 2) << 1.5, 0.4, 0.4, 1.2).finished() / tight;
  sums.linear = normal_numbers(6, k, random) / tight;
  const std::vector<Index> place(6, -1);
  const Scores scores(sums, place);
  const LinkMoments links = process_links({features, b, sd}, scores, true, false, 1, host);
  const Mat s = scores.covariance();
  for (Index n = 0; n < 6; ++n) {
    const Vec at = scores.mean().row(n);
    const Mat one = l2 * Mat::Identity(k, k) + s, two = 0.5 * l2 * Mat::Identity(k, k) + s;
    const Factor first(one), second(two);
    double mean = 0, square = 0, told = 0;
    for (Index i = 0; i < m; ++i) {
      const Vec away = at - v.col(i);
      mean += c[i] * l2 * std::exp(-0.5 * (first.logdet() + away.dot(first.solve(away))));
      for (Index j = 0; j < m; ++j) {
        const Vec middle = at - 0.5 * (v.col(i) + v.col(j));
        const double both = 0.5 * l2 *
                            std::exp(-0.25 * (v.col(i) - v.col(j)).squaredNorm() / l2) *
                            std::exp(-0.5 * (second.logdet() + middle.dot(second.solve(middle))));
        square += c[i] * c[j] * both;
        told += inverse(i, j) * both;
      }
    }
    const double variance = sd * sd * (square - mean * mean + 1 - told);
    CHECK(std::abs(links.mean[n] - sd * mean) < 1e-4);
    CHECK(std::abs(links.variance[n] - variance) < 0.04 * variance);
  }
  const LinkMoments alone = process_links({features, b, sd}, scores, false, true, 2, host);
  const LinkMoments direct = at_scores({features, b, sd}, scores.mean().transpose());
  CHECK((alone.mean - direct.mean).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((alone.variance - direct.variance).cwiseAbs().maxCoeff() < 1e-12);
}

// Far from its point a process is all left-over: f_n ~ N(0, s^2), and s alone is unknown.
TEST_CASE("factors: the variance of a process against a sum over it, where all is left over") {
  const Index n = 6;
  FactorModel model = plain_process("hinge", Vec::Ones(n), 1, 0.8, 1);
  model.process.variance = prior_of("ridge", {{"shape", 3}, {"scale", 4}});
  const SharedFactors shared(model);
  const Eigen::Vector2d exact = log_sd_of_independent_rows(n);
  const Vec m = Vec::Constant(n, shared.points(0, 0) + 30);
  const Scores scores = scores_of(m, 1e-6, shared.place);
  Draws start({3, 0, 0}, Purpose::hyper, 0);
  const auto classifier = make_process_classifier(shared, m, start);
  const int draws = 30 * replicates(500);
  BatchMeans means(2, draws);
  Host host;
  for (int s = 0; s < draws; ++s) {
    classifier->draw(scores, {8, 0, static_cast<std::uint64_t>(s + 1)}, 1, host);
    const double u = 0.5 * std::log(classifier->drawn()[0].second);
    means.add(Eigen::Vector2d(u, u * u));
  }
  CHECK(((means.mean() - exact).array() / means.error()).abs().maxCoeff() < 4);
  CHECK(means.error().maxCoeff() < 0.02);
}
