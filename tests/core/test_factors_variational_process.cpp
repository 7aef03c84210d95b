#include <doctest/doctest.h>

#include "factor_posterior.hpp"
#include "factors/process_links.hpp"

using namespace bsvm_test;

namespace {

FactorModel process_model(const std::string& likelihood, bool missing, bool ard) {
  FactorKind kind{likelihood, 30, 8, 2};
  kind.points = 12;
  kind.missing = missing;
  kind.each = missing;
  kind.ard = ard;
  return plain_factors(kind, 26, 3);
}

Use use_of_model(const FactorModel& model) {
  return model.likelihood->supports(Use::augmented) ? Use::augmented : Use::expected;
}

}  // namespace

TEST_CASE("factors_variational: with a process no block lowers the bound") {
  for (const char* likelihood : {"hinge", "hinge_normalized", "normal"})
    for (const bool missing : {false, true}) {
      const FactorModel model = process_model(likelihood, missing, missing);
      const SharedFactors shared(model);
      Host host;
      FactorPosterior now(shared, use_of_model(model), shared.start, 1, host);
      for (int k = 0; k < 5; ++k) now.step(1, host);
      now.join();
      CAPTURE(likelihood);
      double before = now.bound();
      const auto rises = [&](const char* block) {
        CAPTURE(block);
        const double there = now.bound();
        CHECK(there > before - 1e-9 * std::abs(before));
        before = there;
      };
      for (int k = 0; k < 10; ++k) {
        now.update_scores(1, host);
        rises("scores");
        now.update_classifier();
        rises("classifier");
        now.update_numbers();
        rises("numbers");
        now.update_loadings(1, host);
        rises("loadings");
      }
    }
}

// By differences in the features of one row at a time, and of the features in the scores.
TEST_CASE("factors_variational: slopes of a process's rows in its features and scores") {
  const FactorModel model = process_model("hinge_normalized", false, true);
  const SharedFactors shared(model);
  Host host;
  FactorPosterior now(shared, Use::expected, shared.start, 1, host);
  now.join();
  ClassifierPosterior classifier(shared, Use::expected);
  const ScorePosterior& w = now.scores();
  Vec left;
  const Mat features = now.features_at(w.mean.transpose(), left);
  classifier.set_features(features.transpose(), left);
  for (int k = 0; k < 3; ++k) classifier.update(w);
  const Mat slopes = classifier.feature_slopes(w);
  const double h = 1e-5;
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < features.rows(); ++j) {
      const Index n = shared.labelled[static_cast<size_t>(i)];
      const auto at = [&](double by) {
        Mat moved = features;
        Vec over = left;
        over[n] += moved.col(n).squaredNorm();
        moved(j, n) += by;
        over[n] -= moved.col(n).squaredNorm();
        ClassifierPosterior other(shared, Use::expected);
        other.set_features(features.transpose(), left);
        for (int k = 0; k < 3; ++k) other.update(w);
        other.set_features(moved.transpose(), over);
        return other.rows_value(w);
      };
      CHECK(std::abs((at(h) - at(-h)) / (2 * h) - slopes(j, i)) < 1e-6);
    }
  // |features|^2 and what they leave over are the process's variance
  const double variance = std::exp(2 * now.log_sd());
  for (Index n = 0; n < model.n(); ++n)
    CHECK(std::abs(features.col(n).squaredNorm() + left[n] - variance) < 1e-9);
}

// At the end of a climb no score can gain: by differences of the bound itself, through a start that
// differs in one score.
TEST_CASE("factors_variational: scores of a process end where the bound is flat") {
  const FactorModel model = process_model("hinge_normalized", true, false);
  const SharedFactors shared(model);
  VariationalOptions options;
  options.starts = 1;
  options.tolerance = 1e-7;
  Host host;
  const VariationalFit fit = fit_variational(shared, options, host);
  CHECK(fit.converged);
  FactorPosterior& now = *fit.posterior;
  const ScorePosterior w = now.scores();
  const Scores given(now.loadings().sums(), shared.place);
  const auto value = [&](Index n, Index k, double by) {
    Mat mean = w.mean;
    mean(n, k) += by;
    Vec left;
    const Mat features = now.features_at(mean.transpose(), left);
    ClassifierPosterior& classifier = const_cast<ClassifierPosterior&>(now.classifier());
    classifier.set_features(features.transpose(), left);
    const Vec away = transposed_product(given.root(n), Vec((mean - given.mean()).row(n)));
    return classifier.rows_value(w) - 0.5 * away.squaredNorm();
  };
  const double h = 1e-4;
  for (const Index n : shared.labelled)
    for (Index k = 0; k < 2; ++k) {
      const double up = value(n, k, h), down = value(n, k, -h), here = value(n, k, 0);
      const double slope = (up - down) / (2 * h), bend = (2 * here - up - down) / (h * h);
      CHECK(slope * slope / std::max(std::abs(bend), 1e-2) < 1e-4);
    }
}

TEST_CASE("factors_variational: draws of a process have what its links are made of") {
  for (const bool feedback : {true, false}) {
    FactorModel model = process_model("hinge_normalized", true, false);
    model.feedback = feedback;
    const SharedFactors shared(model);
    VariationalOptions options;
    options.starts = 1;
    Host host;
    const VariationalFit fit = fit_variational(shared, options, host);
    const VariationalDraw own = draw_variational(shared, *fit.posterior, 5, 2);
    const Index p = model.p(), m = shared.points.cols();
    REQUIRE(own.whole.size() == 3 * p + p + m + 1 + 1);
    REQUIRE(own.hyper.size() == static_cast<Index>(factor_numbers(model).size()));
    CHECK(own.coefficients.size() == 3);
    const Vec b = own.whole.segment(4 * p, m);
    const Features features(*model.process.kernel, shared.points, own.whole.segment(4 * p + m, 1),
                            host);
    const Eigen::Map<const Mat> drawn(own.whole.data(), p, 3);
    for (const Index n : {0, 5}) {
      Mat precision = Mat::Identity(2, 2);
      Vec linear = Vec::Zero(2);
      for (Index i = 0; i < p; ++i) {
        if (std::isnan(model.x(n, i))) continue;
        const Vec a = drawn.row(i).tail(2);
        precision += own.whole[3 * p + i] * a * a.transpose();
        linear += own.whole[3 * p + i] * (model.x(n, i) - drawn(i, 0)) * a;
      }
      const Vec mean = Factor(precision).solve(linear);
      double link = 0;
      const Mat root = Factor(precision).lower();
      const Mat z = feedback ? normal_points(2) : Mat(Mat::Zero(2, 1));
      for (Index j = 0; j < z.cols(); ++j) {
        Vec w = z.col(j);
        solve_transposed(root, w);
        link += features.product(mean + w, b)[0] / static_cast<double>(z.cols());
      }
      link *= std::sqrt(own.whole[4 * p + m + 1]);
      CHECK(std::abs(own.coefficients[0] + link - own.links[n]) < 1e-9);
    }
  }
}

// A class that is a quadratic function of one factor.
TEST_CASE("factors_variational: a process finds what a linear classifier can't") {
  FactorKind kind{"hinge_normalized", 200, 40, 2};
  kind.points = 40;
  const auto errors = [&](FactorModel model) {
    Draws random({12, 0, 0}, Purpose::rows, 0);
    const Mat w = normal_numbers(200, 2, random);
    model.x = w * normal_numbers(2, 40, random) + 0.5 * normal_numbers(200, 40, random);
    Vec truth(200);
    for (Index n = 0; n < 200; ++n) truth[n] = std::abs(w(n, 0)) > 0.67 ? 1 : -1;
    model.y = truth;
    model.y.tail(100).setConstant(kMissing);
    const SharedFactors shared(model);
    VariationalOptions options;
    options.starts = 1;
    Host host;
    const VariationalFit fit = fit_variational(shared, options, host);
    Vec links = Vec::Zero(200);
    for (std::uint64_t k = 0; k < 20; ++k)
      links += draw_variational(shared, *fit.posterior, 5, k).links;
    return (links.tail(100).array() * truth.tail(100).array() < 0).count();
  };
  CHECK(errors(plain_factors(kind, 100, 3)) < 20);
  kind.points = 0;
  CHECK(errors(plain_factors(kind, 100, 3)) > 30);
}
