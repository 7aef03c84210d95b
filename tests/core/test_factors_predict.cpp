#include <doctest/doctest.h>

#include "factor_data.hpp"
#include "factors/predict.hpp"

using namespace bsvm_test;

namespace {

// Draws of a linear model, as they are kept.
struct Kept {
  Mat mean, loadings, noise, alpha, beta;
  FactorDraws draws() const { return {mean, loadings, noise, alpha, beta.rows()}; }
  LinkOfDraw links(bool feedback = true) const {
    return [this, feedback](Index draw, const Scores& scores) {
      return linear_links(scores, beta.col(draw), feedback);
    };
  }
};

Kept some_draws(Index p, Index k, Index d, bool each, Index m, Draws& random) {
  return {normal_numbers(p, m, random), normal_numbers(p * k, m, random),
          normal_numbers(each ? p : 1, m, random).array().exp(), normal_numbers(d, m, random),
          normal_numbers(k, m, random)};
}

NewRows some_rows(Index n, Index p, Index d, Draws& random) {
  NewRows out{normal_numbers(n, p, random), normal_numbers(n, d, random),
              normal_numbers(n, 1, random)};
  out.x(1, 0) = out.x(2, 0) = kMissing;  // the same in two rows
  out.x.row(3).tail(p - 1).setConstant(kMissing);
  out.x.row(4).setConstant(kMissing);
  return out;
}

}  // namespace

// (w, x) are jointly normal: of a row w | x by the covariance of what is seen.
TEST_CASE("factors: new rows against the conditional distribution of a joint normal one") {
  Draws random({3, 0, 0}, Purpose::rows, 0);
  const Index n = 6, p = 5, k = 2, d = 2, m = 3;
  const NewRows rows = some_rows(n, p, d, random);
  for (const bool each : {false, true}) {
    const Kept kept = some_draws(p, k, d, each, m, random);
    Host host;
    const Predicted out = predict_factors(rows, kept.draws(), kept.links(), 2, host);
    CHECK(out.pattern == std::vector<Index>{0, 1, 1, 2, 3, 0});
    double most = 0;
    for (Index draw = 0; draw < m; ++draw) {
      const Eigen::Map<const Mat> a(kept.loadings.col(draw).data(), p, k);
      const Vec psi = each ? Vec(kept.noise.col(draw)) : Vec::Constant(p, kept.noise(0, draw));
      for (Index row = 0; row < n; ++row) {
        std::vector<Index> seen;
        for (Index i = 0; i < p; ++i)
          if (!std::isnan(rows.x(row, i))) seen.push_back(i);
        const Index q = static_cast<Index>(seen.size());
        Mat own(q, k);
        Vec centred(q), noise(q);
        for (Index i = 0; i < q; ++i) {
          const Index at = seen[static_cast<size_t>(i)];
          own.row(i) = a.row(at);
          centred[i] = rows.x(row, at) - kept.mean(at, draw);
          noise[i] = 1 / psi[at];
        }
        Vec w = Vec::Zero(k);
        Mat s = Mat::Identity(k, k);
        if (q > 0) {
          const Mat covariance = own * own.transpose() + Mat(noise.asDiagonal());
          const Mat inverse = Factor(covariance).inverse();
          w = own.transpose() * (inverse * centred);
          s -= own.transpose() * inverse * own;
        }
        const Vec beta = kept.beta.col(draw);
        const double f = rows.offset[row] + rows.covariates.row(row).dot(kept.alpha.col(draw)) +
                         w.dot(beta);
        const Index law = out.pattern[static_cast<size_t>(row)];
        const Eigen::Map<const Mat> covariance(out.covariance.col(draw).data() + k * k * law, k, k);
        most = std::max({most, (covariance - s).cwiseAbs().maxCoeff(),
                         std::abs(out.scores(row, draw) - w[0]),
                         std::abs(out.scores(n + row, draw) - w[1]),
                         std::abs(out.mean(row, draw) - f),
                         std::abs(out.variance(row, draw) - beta.dot(s * beta))});
      }
    }
    CHECK(most < 1e-12);
    const Predicted alone = predict_factors(rows, kept.draws(), kept.links(false), 1, host);
    CHECK((alone.mean.array() == out.mean.array()).all());  // threads change no bit
    CHECK(alone.variance.isZero(0));
  }
}

TEST_CASE("factors: rows of the fit as new rows have the links of the chain") {
  for (const bool turned : {false, true}) {
    FactorKind kind{"hinge_normalized", 12, 40, 2};
    kind.turned = turned;
    kind.missing = kind.each = !turned;
    const FactorModel model = plain_factors(kind, 9, 11);
    const SharedFactors shared(model);
    const auto chain = make_factors_chain(shared, 1, 9, 0);
    Host host;
    for (int k = 0; k < 3; ++k) chain->sweep(host);
    Draw draw;
    Vec whole;
    chain->read(draw);
    chain->read_seldom(whole);
    const Index p = model.p();
    const Kept kept{whole.head(p), whole.segment(p, 2 * p), whole.tail(kind.each ? p : 1),
                    draw.coefficients.head(1), draw.coefficients.segment(1, 2)};
    const Predicted out = predict_factors({model.x, model.covariates, Vec::Zero(model.n())},
                                          kept.draws(), kept.links(), 1, host);
    CHECK((out.mean - draw.unknowns).cwiseAbs().maxCoeff() < 1e-9);
    CHECK((out.scores - draw.law.head(2 * model.n())).cwiseAbs().maxCoeff() < 1e-9);
    CHECK(std::abs(out.variance(10, 0) - draw.hyper[draw.hyper.size() - 4]) < 1e-9);
  }
}

TEST_CASE("factors: new rows that do not fit the draws are refused") {
  Draws random({5, 0, 0}, Purpose::rows, 0);
  const Kept kept = some_draws(4, 2, 1, false, 3, random);
  const auto refused = [&](const NewRows& rows, const Kept& own) {
    Host host;
    CHECK_THROWS_AS(predict_factors(rows, own.draws(), own.links(), 1, host), InvalidInput);
  };
  refused(some_rows(5, 3, 1, random), kept);
  refused(some_rows(5, 4, 2, random), kept);
  NewRows rows = some_rows(5, 4, 1, random);
  rows.x(0, 0) = std::numeric_limits<double>::infinity();
  refused(rows, kept);
  rows = some_rows(5, 4, 1, random);
  Kept other = kept;
  other.noise(0, 1) = 0;
  refused(rows, other);
  other = kept;
  other.alpha.resize(1, 2);
  refused(rows, other);
}
