// A Gaussian process of scores without inducing points: its algebra against dense twins, and draws
// given loadings against sums that share no code with it.
#include <doctest/doctest.h>

#include "batch_means.hpp"
#include "factor_data.hpp"
#include "factors/classifier.hpp"
#include "factors/exact_process.hpp"
#include "factors/leave_one_out.hpp"
#include "kernel/points.hpp"
#include "process_limits.hpp"
#include "replicates.hpp"

using namespace bsvm_test;

namespace {

double hinge(double y, double f) { return std::exp(-2 * std::max(0.0, 1 - y * f)); }

// gamma = 1.5, gamma0 = 0.4
double skewed(double y, double f) {
  const double c = std::sqrt(1 + 0.8 / 1.5), u = 1 - y * f;
  return std::exp(-1.5 * (c * std::abs(u) + u));
}

std::unique_ptr<Likelihood> made(const std::string& name) {
  if (name != "skewed_hinge") return likelihood_of(name);
  return Registry<Likelihood>::make(name, Params(name, {{"gamma", 1.5}, {"gamma0", 0.4}}));
}

// One factor; numbers of the process are given.
FactorModel exact_model(const std::string& name, const Vec& y, double variance, double length) {
  FactorKind kind{"hinge", y.size(), 2, 1};
  kind.exact = true;
  FactorModel out = plain_factors(kind, y.size(), 3);
  out.likelihood = made(name);
  out.y = y;
  out.covariates.resize(y.size(), 0);
  out.parts.clear();
  out.process.numbers[0].reset();
  out.process.start[0] = std::log(length);
  out.process.variance = prior_of("normal", {{"variance", variance}});
  return out;
}

Scores scores_of(const Vec& mean, double variance, const std::vector<Index>& place) {
  ScoreSums sums;
  sums.precision = Mat::Constant(1, 1, 1 / variance);
  sums.linear = mean / variance;
  return Scores(sums, place);
}

// g at the labelled rows' scores, as the classifier keeps it: b, theta, variance, scores.
Vec function_of(const Vec& kept, Index rows) {
  const Index k = (kept.size() - 2) / rows - 1;  // factors, of one number of the kernel
  const double length = std::exp(kept[rows]), sd = std::sqrt(kept[rows + 1]);
  const Eigen::Map<const Mat> w(kept.data() + rows + 2, k, rows);
  Mat covariance(rows, rows);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < rows; ++j)
      covariance(i, j) = std::exp(-0.5 * (w.col(i) - w.col(j)).squaredNorm() / (length * length));
  covariance.diagonal().array() += 1e-8;
  return sd * lower_product(Factor(covariance).lower(), Vec(kept.head(rows)));
}

Mat some_covariance(Index n, Draws& random) {
  const Mat a = normal_numbers(n, n, random);
  return a * a.transpose() / static_cast<double>(n) + 0.3 * Mat::Identity(n, n);
}

}  // namespace

TEST_CASE("factors: rows that change one by one keep the inverse, and what others say of a row") {
  Draws random({4, 0, 0}, Purpose::rows, 0);
  for (const Index n : {1, 2, 9, 40}) {
    Mat c = some_covariance(n, random);
    Vec r = normal_numbers(n, 1, random);
    Host host;
    LeaveOneOut rows(c, r, host);
    for (Index step = 0; step < 60; ++step) {
      const Index i = (7 * step) % n;
      const Mat other = some_covariance(n, random);
      Mat moved = c;
      moved.row(i) = 0.3 * other.row(i);
      moved.col(i) = 0.3 * other.col(i);
      moved(i, i) = 3 + other(i, i);
      // of the joint density less that of the others
      const auto conditional = [&](const Mat& of) {
        std::vector<Index> rest;
        for (Index j = 0; j < n; ++j)
          if (j != i) rest.push_back(j);
        const auto log_density = [&](const Mat& part, const Vec& z) {
          const Factor factor(part);
          return -0.5 * (factor.logdet() + z.dot(factor.solve(z)));
        };
        Mat part(n - 1, n - 1);
        Vec z(n - 1);
        for (Index a = 0; a < n - 1; ++a) {
          z[a] = r[rest[static_cast<size_t>(a)]];
          for (Index b = 0; b < n - 1; ++b)
            part(a, b) = of(rest[static_cast<size_t>(a)], rest[static_cast<size_t>(b)]);
        }
        return log_density(of, r) - (n > 1 ? log_density(part, z) : 0);
      };
      CHECK(rows.here(i).log_density(r[i]) == doctest::Approx(conditional(c)).epsilon(1e-8));
      const Conditional own = rows.here(i);
      r[i] = own.mean + std::sqrt(own.variance);
      rows.set(i, r[i]);
      CHECK(conditional(c) == doctest::Approx(-0.5 * (1 + std::log(own.variance))));
      Vec k = moved.col(i);
      k[i] = 1e9;  // is not read
      CHECK(rows.at(i, k, moved(i, i), 1e-8).log_density(r[i]) ==
            doctest::Approx(conditional(moved)).epsilon(1e-8));
      if (step % 3 == 2) continue;
      rows.accept(i);
      c = moved;
      const Mat inverse = Factor(c).inverse();
      CHECK((rows.inverse() - inverse).cwiseAbs().maxCoeff() <
            1e-9 * inverse.cwiseAbs().maxCoeff());
      CHECK((rows.solved() - inverse * r).cwiseAbs().maxCoeff() <
            1e-9 * (inverse * r).cwiseAbs().maxCoeff());
    }
  }
}

TEST_CASE("factors: a scan of all rows leaves their joint distribution as it is") {
  const Mat c = (Mat(3, 3) << 1, 0.95, 0.3, 0.95, 1, 0.4, 0.3, 0.4, 2).finished();
  const Mat root = Factor(c).lower();
  const int draws = replicates(8000);
  Mat square = Mat::Zero(3, 3);
  Host host;
  for (int s = 0; s < draws; ++s) {
    Draws random({2, 0, static_cast<std::uint64_t>(s)}, Purpose::rows, 0);
    LeaveOneOut rows(c, root * normal_numbers(3, 1, random), host);
    rows.scan([&](Index, const Conditional& of) {
      return of.mean + std::sqrt(of.variance) * random.normal();
    });
    square += rows.r() * rows.r().transpose();
  }
  const Vec v = c.diagonal();
  const Mat error = ((v * v.transpose() + c.cwiseAbs2()) / draws).cwiseSqrt();
  CHECK(((square / draws - c).array() / error.array()).abs().maxCoeff() < 4);
}

TEST_CASE("factors: a conditional variance is not below its bound") {
  Host host;
  LeaveOneOut rows(Mat::Identity(2, 2), Vec::Ones(2), host);
  const Conditional own = rows.at(0, Eigen::Vector2d(0, 1), 1, 0.5);  // nothing would be left
  CHECK(own.mean == doctest::Approx(1));
  CHECK(own.variance == doctest::Approx(0.5));
  CHECK_THROWS_AS(LeaveOneOut(Mat::Constant(2, 2, 1), Vec::Ones(2), host), NumericalFailure);
}

TEST_CASE("factors: rows with a process and coefficients integrated out, against dense sums") {
  Draws random({6, 0, 0}, Purpose::rows, 0);
  const Index n = 7;
  PseudoRows rows{normal_numbers(n, 2, random), normal_numbers(n, 1, random),
                  normal_numbers(n, 1, random).cwiseAbs2()};
  const Vec prior = Eigen::Vector2d(0.7, 2);
  Host host;
  double difference = 0;
  for (const double sign : {1.0, -1.0}) {
    const Mat k = some_covariance(n, random);
    const IntegratedRows own(rows, k, prior, host);
    Mat all = k + rows.covariates * prior.cwiseInverse().asDiagonal() * rows.covariates.transpose();
    all.diagonal() += rows.noise;
    const Factor factor(all);
    difference += sign * (own.log_density() +
                          0.5 * (factor.logdet() + rows.z.dot(factor.solve(rows.z))));
    Mat c = k;
    c.diagonal() += rows.noise;
    CHECK(log_normal(k, rows.noise, rows.z, host) ==
          doctest::Approx(-0.5 * (Factor(c).logdet() + rows.z.dot(Factor(c).solve(rows.z)))));
    const Vec mean =
        prior.cwiseInverse().asDiagonal() * (rows.covariates.transpose() * factor.solve(rows.z));
    const int draws = replicates(4000);
    Vec sum = Vec::Zero(2), square = sum;
    for (int s = 0; s < draws; ++s) {
      Draws now({3, 0, static_cast<std::uint64_t>(s)}, Purpose::dense, 0);
      const Vec off = own.draw_alpha(now) - mean;
      sum += off;
      square += off.cwiseAbs2();
    }
    CHECK((sum.array() / square.array().sqrt()).abs().maxCoeff() < 4);
  }
  CHECK(std::abs(difference) < 1e-10);  // a term of the prior alone is left
}

TEST_CASE("factors: draws of a process given pseudo-responses have their mean and covariance") {
  Draws random({9, 0, 0}, Purpose::rows, 0);
  const Index n = 6;
  const double sd = 1.4;
  const Mat root = Factor(some_covariance(n, random)).lower(), k = root * root.transpose();
  const Vec noise = normal_numbers(n, 1, random).cwiseAbs2(), r = 2 * normal_numbers(n, 1, random);
  Mat c = sd * sd * k;
  c.diagonal() += noise;
  const Vec mean = sd * root.transpose() * Factor(c).solve(r);
  const Mat covariance =
      Mat::Identity(n, n) - sd * sd * root.transpose() * Factor(c).solve(root);
  const int draws = replicates(8000);
  Vec sum = Vec::Zero(n);
  Mat square = Mat::Zero(n, n);
  Host host;
  for (int s = 0; s < draws; ++s) {
    Draws now({5, 0, static_cast<std::uint64_t>(s)}, Purpose::dense, 0);
    const Vec off = draw_whitened(root, sd, noise, r, now, host) - mean;
    sum += off;
    square += off * off.transpose();
  }
  const Vec variance = covariance.diagonal();
  CHECK((sum.array() / (draws * variance.array()).sqrt()).abs().maxCoeff() < 4);
  const Mat error =
      ((variance * variance.transpose() + covariance.cwiseAbs2()) / draws).cwiseSqrt();
  CHECK(((square / draws - covariance).array() / error.array()).abs().maxCoeff() < 4.5);
}

// f of two rows is normal given their scores: a sum over (w_1, w_2, f_1, f_2).
TEST_CASE("factors: an exact process classifies two rows as a sum over four dimensions has it") {
  const double variance = 4, length = 0.8, spread = 0.6;
  const Vec y = Eigen::Vector2d(1, -1), m = Eigen::Vector2d(0.4, -0.1);
  const Vec power = Eigen::Vector2d(1.5, 0.6), offset = Eigen::Vector2d(0.3, 0.1);
  for (const std::string name : {"hinge", "skewed_hinge"}) {
    FactorModel model = exact_model(name, y, variance, length);
    model.weight = power;
    model.offset = offset;
    const auto p = [&](Index n, double g) {
      return std::pow((name == "hinge" ? hinge : skewed)(y[n], offset[n] + g), power[n]);
    };
    Vec sum = Vec::Zero(9);
    double total = 0;
    for (int i = -20; i <= 20; ++i)
      for (int j = -20; j <= 20; ++j) {
        const double z0 = 0.2 * i, z1 = 0.2 * j;
        const double w0 = m[0] + spread * z0, w1 = m[1] + spread * z1;
        const double root = std::sqrt(variance * (1 + 1e-8));
        const double slope =
            variance * std::exp(-0.5 * std::pow((w0 - w1) / length, 2)) / root;
        const double rest = std::sqrt(variance * (1 + 1e-8) - slope * slope);
        double mass = 0;
        Vec own = Vec::Zero(4);
        for (int a = -60; a <= 60; ++a) {
          const double x0 = 0.1 * a, g0 = root * x0, first = p(0, g0) * std::exp(-0.5 * x0 * x0);
          for (int b = -60; b <= 60; ++b) {
            const double x1 = 0.1 * b, g1 = slope * x0 + rest * x1;
            const double now = first * std::exp(-0.5 * x1 * x1) * p(1, g1);
            mass += now;
            own += now * Eigen::Vector4d(g0, g1, g0 * g0, g0 * g1);
          }
        }
        const double weight = std::exp(-0.5 * (z0 * z0 + z1 * z1));
        Vec seen(9);
        seen << mass * w0, mass * w1, mass * w0 * w0, mass * w1 * w1, mass * w0 * w1, own;
        sum += weight * seen;
        total += weight * mass;
      }
    const Vec exact = sum / total;
    const SharedFactors shared(model);
    Draws start({3, 0, 0}, Purpose::hyper, 0);
    const auto classifier = make_exact_classifier(shared, m, start);
    const Scores scores = scores_of(m, spread * spread, shared.place);
    const int draws = 30 * replicates(1000);
    BatchMeans means(9, draws);
    Host host;
    for (int s = 0; s < draws; ++s) {
      const DrawKey now{8, 0, static_cast<std::uint64_t>(s + 1)};
      classifier->draw(scores, now, 1, host);
      const Mat w = classifier->draw_scores(scores, now, 1, host);
      // a translation that hardly moves them: f is drawn with it
      classifier->draw_translation(Mat::Constant(1, 1, 1e30), Vec::Zero(1), now, 1, host);
      const Vec g = function_of(classifier->seldom(), 2);
      Vec seen(9);
      seen << w, w.cwiseAbs2(), w(0) * w(1), g, g[0] * g[0], g[0] * g[1];
      means.add(seen);
    }
    CAPTURE(name);
    CHECK(((means.mean() - exact).array() / means.error()).abs().maxCoeff() < 4);
    CHECK(means.error().maxCoeff() < 8 / std::sqrt(draws));
  }
}

// Rows far from one another are independent: f_n ~ N(0, s^2), and s alone is unknown.
TEST_CASE("factors: the variance of an exact process against a sum over it") {
  const Index n = 6;
  FactorModel model = exact_model("hinge", Vec::Ones(n), 1, 0.8);
  model.process.variance = prior_of("ridge", {{"shape", 3}, {"scale", 4}});
  const SharedFactors shared(model);
  const Eigen::Vector2d exact = log_sd_of_independent_rows(n);
  const Vec m = 30 * Vec::LinSpaced(n, 1, static_cast<double>(n));
  const Scores scores = scores_of(m, 1e-6, shared.place);
  Draws start({3, 0, 0}, Purpose::hyper, 0);
  const auto classifier = make_exact_classifier(shared, m, start);
  const int draws = 30 * replicates(500);
  BatchMeans means(2, draws);
  Host host;
  for (int s = 0; s < draws; ++s) {
    const DrawKey now{8, 0, static_cast<std::uint64_t>(s + 1)};
    classifier->draw(scores, now, 1, host);
    classifier->draw_scores(scores, now, 1, host);
    classifier->draw_translation(Mat::Identity(1, 1), Vec::Zero(1), now, 1, host);
    const double u = 0.5 * std::log(classifier->drawn()[0].second);
    means.add(Eigen::Vector2d(u, u * u));
  }
  CHECK(((means.mean() - exact).array() / means.error()).abs().maxCoeff() < 4);
  CHECK(means.error().maxCoeff() < 2.5 / std::sqrt(draws));
}

// Without feedback f is at mean scores, with coefficients. The two rows are near each other.
TEST_CASE("factors: an exact process at mean scores, and an intercept, against a sum") {
  const double variance = 2, length = 1.1;
  const Vec y = Eigen::Vector2d(1, -1), m = Eigen::Vector2d(0.4, 0);
  FactorModel model = exact_model("hinge", y, variance, length);
  model.feedback = false;
  model.covariates = Mat::Ones(2, 1);
  model.parts.emplace_back();
  model.parts.back().places = {0};
  model.parts.back().prior = prior_of("normal", {{"variance", 1}});
  const double slope = std::exp(-0.5 * std::pow((m[0] - m[1]) / length, 2));
  Vec sum = Vec::Zero(6);
  double total = 0;
  for (int a = -40; a <= 40; ++a)
    for (int b = -40; b <= 40; ++b)
      for (int c = -40; c <= 40; ++c) {
        const double x0 = 0.15 * a, x1 = 0.15 * b, alpha = 0.15 * c;
        const double g0 = std::sqrt(variance) * x0;
        const double g1 = std::sqrt(variance) * (slope * x0 + std::sqrt(1 - slope * slope) * x1);
        const double mass = std::exp(-0.5 * (x0 * x0 + x1 * x1 + alpha * alpha)) *
                            hinge(1, alpha + g0) * hinge(-1, alpha + g1);
        Vec seen(6);
        seen << alpha, alpha * alpha, g0, g1, (g0 - g1) * (g0 - g1), alpha * g0;
        sum += mass * seen;
        total += mass;
      }
  const SharedFactors shared(model);
  Draws start({3, 0, 0}, Purpose::hyper, 0);
  const auto classifier = make_exact_classifier(shared, Vec::Zero(2), start);
  const Scores scores = scores_of(m, 0.5, shared.place);
  const int draws = 30 * replicates(500);
  BatchMeans means(6, draws);
  Host host;
  for (int s = 0; s < draws; ++s) {
    const DrawKey now{8, 0, static_cast<std::uint64_t>(s + 1)};
    classifier->draw(scores, now, 1, host);
    const Vec g = function_of(classifier->seldom(), 2);
    const double alpha = classifier->alpha()[0];
    Vec seen(6);
    seen << alpha, alpha * alpha, g, (g[0] - g[1]) * (g[0] - g[1]), alpha * g[0];
    means.add(seen);
  }
  CHECK(((means.mean() - sum / total).array() / means.error()).abs().maxCoeff() < 4);
  CHECK(means.error().maxCoeff() < 5 / std::sqrt(draws));
}
