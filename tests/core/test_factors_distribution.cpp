// Factor models in distribution: two forms of the same posterior, rows in another order, closed
// forms, and what classes that do not depend on the variables do.
#include <doctest/doctest.h>

#include "factor_data.hpp"

using namespace bsvm_test;

namespace {

// Means of numbers of a chain, and their standard errors by batches.
struct Summary {
  Arr mean, error, sd;
};

template <class Seen>
Summary summarise(const FactorModel& model, int sweeps, std::uint64_t seed, Seen see) {
  const SharedFactors shared(model);
  const auto chain = make_factors_chain(shared, 1, seed, 0);
  Host host;
  Draw draw;
  for (int k = 0; k < sweeps / 5; ++k) chain->sweep(host);
  const int batches = 20;
  Mat means, all;
  for (int k = 0; k < sweeps; ++k) {
    chain->sweep(host);
    chain->read(draw);
    const Vec own = see(draw, *chain);
    if (k == 0) {
      means = Mat::Zero(own.size(), batches);
      all = Mat::Zero(own.size(), sweeps);
    }
    means.col(k * batches / sweeps) += own * batches / sweeps;
    all.col(k) = own;
  }
  Summary out;
  out.mean = means.rowwise().mean().array();
  out.error = ((means.array().colwise() - out.mean).square().rowwise().sum() /
               (batches * (batches - 1.0))).sqrt();
  out.sd = (all.array().colwise() - out.mean).square().rowwise().mean().sqrt();
  return out;
}

double distance(const Summary& a, const Summary& b) {
  return ((a.mean - b.mean) / (a.error.square() + b.error.square()).sqrt()).abs().maxCoeff();
}

}  // namespace

// In distribution, of training rows and of a new one whose variables leave the training span.
TEST_CASE("factors: the reduced form has the distribution of the general form") {
  for (const char* likelihood : {"hinge", "normal"}) {
    FactorKind kind{likelihood, 6, 15, 2};
    FactorModel general = plain_factors(kind, 5, 21), reduced = plain_factors(kind, 5, 21);
    reduced.turned = true;
    Draws random({77, 0, 0}, Purpose::rows, 0);
    const Vec fresh = normal_numbers(15, 1, random);
    const auto see = [&](const Draw& draw, const Chain&) {
      const double link = fresh.dot(draw.effects) + draw.hyper[draw.hyper.size() - 1];
      Vec out(draw.hyper.size() + draw.unknowns.size() + 6);
      out << draw.hyper.array().atan().matrix(), draw.unknowns.array().atan().matrix(),
          std::atan(draw.coefficients[0]), std::atan(link), std::pow(std::atan(link), 2),
          std::atan(draw.effects.squaredNorm()), std::atan(draw.effects[0]),
          std::pow(std::atan(draw.effects[0]), 2);
      return out;
    };
    const int sweeps = 12000;
    const double z =
        distance(summarise(general, sweeps, 5, see), summarise(reduced, sweeps, 6, see));
    CHECK(z < 4.5);
  }
}

TEST_CASE("factors: rows in another order have the same distribution") {
  FactorKind kind{"hinge_normalized", 7, 4, 2};
  kind.local = kind.missing = true;
  FactorModel first = plain_factors(kind, 5, 8), second = plain_factors(kind, 5, 8);
  for (Index n = 0; n < 7; ++n) {
    second.x.row(n) = first.x.row(6 - n);
    second.y[n] = first.y[6 - n];
  }
  const auto seer = [](bool back) {
    return [back](const Draw& draw, const Chain&) {
      const Vec links = back ? Vec(draw.unknowns.reverse()) : draw.unknowns;
      Vec out(draw.hyper.size() + links.size());
      out << draw.hyper.array().atan().matrix(), links.array().atan().matrix();
      return out;
    };
  };
  const double z = distance(summarise(first, 8000, 1, seer(false)),
                            summarise(second, 8000, 2, seer(true)));
  CHECK(z < 4.5);
}

// With flat priors and many rows the posterior is about the maximum of the likelihood of
// probabilistic principal components (Tipping & Bishop 1999): noise the mean of the p - K smallest
// eigenvalues, A A' the excess of the others.
TEST_CASE("factors: without responses it is factor analysis") {
  FactorKind kind{"hinge_normalized", 2000, 6, 2};
  FactorModel model = plain_factors(kind, 0, 4);
  model.loadings.priors.clear();
  for (int k = 0; k < 2; ++k)
    model.loadings.priors.push_back(prior_of("normal", {{"variance", 100}}));
  model.noise = {false, 1e-3, 1e-3};
  model.mean_variance = 1e4;
  const auto see = [](const Draw& draw, const Chain& chain) {
    Vec whole;
    chain.read_seldom(whole);
    const Mat a = Eigen::Map<const Mat>(whole.data(), 6, 3).rightCols(2);
    const Mat product = a * a.transpose();
    Vec out(38);
    out << 1 / whole[18], Eigen::Map<const Vec>(product.data(), 36), draw.coefficients[0];
    return out;
  };
  const Summary seen = summarise(model, 1500, 3, see);
  const Mat centred = model.x.rowwise() - model.x.colwise().mean();
  const SymmetricEigen eigen(Mat(centred.transpose() * centred / 2000));
  const double noise = eigen.values.head(4).mean();
  const Vec excess = (eigen.values.array() - noise).max(0.0).matrix();
  Mat product = Mat::Zero(6, 6);
  for (Index k = 4; k < 6; ++k)
    product += excess[k] * eigen.vectors.col(k) * eigen.vectors.col(k).transpose();
  Arr exact(38);
  exact << noise, Eigen::Map<const Arr>(product.data(), 36), 0;
  const Arr off = ((seen.mean - exact) / seen.sd).head(37).abs();
  CHECK(off.maxCoeff() < 0.3);
  // coefficients keep their prior, N(0, 1)
  CHECK(std::abs(seen.mean[37]) < 0.15);
  CHECK(std::abs(std::log(seen.sd[37])) < 0.15);
}

// Classes that do not depend on the variables, and two factors more than these have: under the
// pseudo-likelihood the spare ones separate the classes, row by row, and x determines little of f.
TEST_CASE("factors: spare factors are used by the pseudo-likelihood alone") {
  for (const char* likelihood : {"hinge", "hinge_normalized"}) {
    FactorKind kind{likelihood, 100, 50, 3};
    FactorModel model = plain_factors(kind, 100, 31), spare;
    Draws random({32, 0, 0}, Purpose::rows, 0);
    for (Index n = 0; n < 100; ++n) model.y[n] = random.uniform() < 0.5 ? 1 : -1;
    kind.factors = 5;
    kind.beta = "half_t";
    add_parts(kind, spare);
    spare.x = model.x;
    spare.y = model.y;
    spare.covariates = model.covariates;
    const auto see = [](const Draw& draw, const Chain&) {
      const Index size = draw.hyper.size();
      Vec out(2);
      out << std::log(draw.hyper[size - 4]), draw.hyper[size - 2];  // leftover, determinacy
      return out;
    };
    const Summary seen = summarise(spare, 400, 3, see);
    if (std::string(likelihood) == "hinge") {
      CHECK(seen.mean[0] > 2);
      CHECK(seen.mean[1] < 0.5);
    } else {
      CHECK(seen.mean[0] < 0);
    }
  }
}
