// Slice sampling in whitened coordinates: draws against quadrature, and the chain's promises.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/error.hpp"
#include "chain/sampler.hpp"
#include "fitting.hpp"
#include "grouped_data.hpp"
#include "hosts.hpp"
#include "tube_data.hpp"
#include "rows/make_source.hpp"
#include "slice/whitening.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

struct Sampling {
  std::unique_ptr<Sampler> sampler;
  std::unique_ptr<Chain> chain;
};

std::unique_ptr<Sampler> slice_of(bool integrate) {
  return Registry<Sampler>::make("slice",
                                 Params("slice", {{"integrate", integrate}}));
}

Sampling chain_of(const Problem& problem, bool integrate, int number = 0, Index burnin = 50,
                  int threads = 1) {
  Sampling out;
  Host host;
  out.sampler = slice_of(integrate);
  out.sampler->prepare(problem, source_maker(problem), threads, host);
  out.chain = out.sampler->start(problem, MakeDraws(), threads, 99, number, burnin);
  return out;
}

// Means and sds of a chain's coefficients and of log of its first hyper-parameter.
struct Sums {
  Vec mean, square;
  Index count = 0;

  explicit Sums(Chain& chain, Index sweeps) {
    Host host;
    Draw draw;
    for (Index k = 0; k < sweeps; ++k) {
      chain.sweep(host);
      if (k < 50) continue;
      chain.read(draw);
      Vec now(draw.coefficients.size() + 1);
      now << draw.coefficients, 0.5 * std::log(draw.hyper.tail(1)[0]);
      if (count++ == 0) mean = square = Vec::Zero(now.size());
      mean += now;
      square += now.cwiseAbs2();
    }
    mean /= static_cast<double>(count);
    square /= static_cast<double>(count);
  }
  double sd(Index k) const { return std::sqrt(square[k] - mean[k] * mean[k]); }
};

// log p(y | b) for one coefficient, each group's effect of this sd summed over a fine grid.
double log_rows(const Data& data, const Likelihood& likelihood, double b, double s) {
  const Mat design = data.design();
  double sum = 0;
  for (int g = 1; g <= data.shape.groups; ++g) {
    double total = 0;
    for (double e = -8; e <= 8; e += 0.05) {
      double log = -0.5 * e * e;
      for (Index i = 0; i < data.shape.n; ++i) {
        if (data.group[i] != g) continue;
        const double f = data.offset[i] + design(i, 0) * b + s * e;
        log += data.weight[i] * likelihood.along({&data.y[i], &f, nullptr, &f, nullptr, 1}, 0);
      }
      total += std::exp(log);
    }
    sum += std::log(total);
  }
  return sum;
}

// log p(y, b, theta), theta of the effects.
double log_posterior(const Data& data, const Likelihood& likelihood, double b, double theta) {
  const double s = std::exp(theta);
  return -b * b / 6 - 2 * 1.2 * theta - 0.8 / (s * s) + log_rows(data, likelihood, b, s);
}

// Of one coefficient and theta, by sums over a grid.
struct Exact {
  Vec mean = Vec::Zero(2), square = Vec::Zero(2);

  template <class LogDensity>
  explicit Exact(const LogDensity& log_density) {
    double total = 0;
    for (double b = -6; b <= 6; b += 0.2)
      for (double theta = -3; theta <= 4.5; theta += 0.15) {
        const double mass = std::exp(log_density(b, theta));
        const Vec at = Eigen::Vector2d(b, theta);
        total += mass;
        mean += mass * at;
        square += mass * at.cwiseAbs2();
      }
    mean /= total;
    square /= total;
  }
  double sd(Index k) const { return std::sqrt(square[k] - mean[k] * mean[k]); }
};

}  // namespace

TEST_CASE("slice: draws against quadrature, effects kept or integrated out") {
  const Data data = grouped(1, 16, 3);
  for (const char* likelihood : kLikelihoods) {
    const Problem problem = integrated_problem(data, likelihood);
    const Exact exact([&](double b, double theta) {
      return log_posterior(data, *problem.likelihood, b, theta);
    });
    for (const bool integrate : {true, false}) {
      CAPTURE(std::string(likelihood));
      CAPTURE(integrate);
      const Sampling of = chain_of(problem, integrate);
      const Sums found(*of.chain, 30000);
      for (Index k : {0, 1}) {  // effective sizes are some thousand
        CHECK(std::abs(found.mean[k] - exact.mean[k]) < 0.06 * exact.sd(k));
        CHECK(std::abs(std::log(found.sd(k) / exact.sd(k))) < 0.06);
      }
    }
  }
}

// The coefficient's own variance is inferred, that of the effects beside it is known.
TEST_CASE("slice: draws against quadrature, a coefficient's variance beside a grouping factor") {
  const Data data = grouped(1, 16, 3);
  for (const char* likelihood : kLikelihoods) {
    const Problem problem =
        with(to_problem(data, {ridge_prior(1.2, 0.8, {0})}, {normal_prior(1, {0})}), likelihood);
    const Exact exact([&](double b, double theta) {
      const double precision = std::exp(-2 * theta);
      return -0.5 * b * b * precision - theta - 2 * 1.2 * theta - 0.8 * precision +
             log_rows(data, *problem.likelihood, b, 1);
    });
    const Sampling of = chain_of(problem, false);
    const Sums found(*of.chain, 60000);
    CAPTURE(std::string(likelihood));
    for (Index k : {0, 1}) {
      CHECK(std::abs(found.mean[k] - exact.mean[k]) < 0.03 * exact.sd(k));
      CHECK(std::abs(std::log(found.sd(k) / exact.sd(k))) < 0.03);
    }
  }
}

// The variance of the coefficient itself: the path on which it follows its variance counts.
TEST_CASE("slice: draws against quadrature, without groups and with an inferred ridge") {
  Shape shape;
  shape.n = 12;
  shape.p = 1;
  shape.seed = 7;
  const Data data = simulate(shape);
  for (const char* likelihood : kLikelihoods) {
    CAPTURE(std::string(likelihood));
    const Problem problem =
        with(to_problem(data, {ridge_prior(1.2, 0.8, {0})}, {}), likelihood);
    const Exact exact([&](double b, double theta) {
      const double s2 = std::exp(2 * theta);
      double sum = -0.5 * b * b / s2 - theta - 2 * 1.2 * theta - 0.8 / s2;
      for (Index i = 0; i < shape.n; ++i) {
        const double f = data.offset[i] + data.design()(i, 0) * b;
        sum += data.weight[i] *
               problem.likelihood->along({&data.y[i], &f, nullptr, &f, nullptr, 1}, 0);
      }
      return sum;
    });
    const Sampling of = chain_of(problem, true);
    const Sums found(*of.chain, 30000);
    for (Index k : {0, 1}) {
      CHECK(std::abs(found.mean[k] - exact.mean[k]) < 0.04 * exact.sd(k));
      CHECK(std::abs(std::log(found.sd(k) / exact.sd(k))) < 0.04);
    }
  }
}

TEST_CASE(
    "slice: effects drawn after they were integrated out are those of a chain that has them") {
  const Data data = grouped(1, 16, 3);
  const Problem problem = integrated_problem(data, "hinge");
  Mat moments(2 * 3, 2);  // of asinh u: the largest few of all draws decide u's own sd
  for (const bool integrate : {true, false}) {
    const Sampling of = chain_of(problem, integrate);
    Host host;
    Draw draw;
    Vec mean = Vec::Zero(3), square = Vec::Zero(3);
    const int runs = 30000;
    for (int k = 0; k < runs; ++k) {
      of.chain->sweep(host);
      of.chain->read(draw);
      const Vec u = draw.effects.unaryExpr([](double effect) { return std::asinh(effect); });
      mean += u / runs;
      square += u.cwiseAbs2() / runs;
    }
    moments.col(integrate) << mean, (square - mean.cwiseAbs2()).cwiseSqrt();
  }
  for (Index g = 0; g < 3; ++g) {
    CAPTURE(g);
    CHECK(std::abs(moments(g, 0) - moments(g, 1)) < 0.08 * moments(3 + g, 0));
    CHECK(std::abs(std::log(moments(3 + g, 0) / moments(3 + g, 1))) < 0.05);
  }
}

TEST_CASE("slice: the Gaussian is the dense system's where that is exact") {
  // Twins agree that the middle's mean is near the draws' and the axes' covariance theirs.
  const Data data = grouped(3, 80, 10);
  for (const char* likelihood : kLikelihoods) {
    const Problem problem = integrated_problem(data, likelihood);
    Host host;
    const Whitening white = whiten(problem, source_maker(problem), 1, host);
    CHECK(white.swept.size() == 10);
    CHECK(white.at.size() == 3);
    const Sampling of = chain_of(problem, false);
    const Sums found(*of.chain, 6000);
    const Mat covariance = white.axes * white.axes.transpose();
    Vec unit = problem.blocks[0]->unit();
    for (Index k = 0; k < 3; ++k) {
      CHECK(std::abs(white.x[k] * unit[k] - found.mean[k]) < 0.4 * found.sd(k));
      CHECK(std::abs(std::log(std::sqrt(covariance(k, k)) * unit[k] / found.sd(k))) < 0.3);
    }
  }
}

TEST_CASE("slice: an interrupt leaves the last whole sweep; save() is all there is") {
  const Data data = grouped(6, 60, 8);
  const Data slopes = grouped(3, 60, 8, 2);
  const Problem one = integrated_problem(data, "hinge"),
                normalised = integrated_problem(data, "hinge_normalized"),
                two = with(to_problem(slopes, {normal_prior(3, range(0, 3))},
                                      usual_group_priors(2)), "hinge");
  for (const Problem* problem : {&one, &normalised, &two})
    for (const bool integrate : {true, false}) {
      const Sampling a = chain_of(*problem, integrate), b = chain_of(*problem, integrate);
      Host host;
      for (int k = 0; k < 4; ++k) a.chain->sweep(host);
      b.chain->restore(a.chain->save());
      ImpatientHost impatient(1);
      const Vec before = a.chain->save();
      CHECK_THROWS_AS(a.chain->sweep(impatient), Interrupted);
      CHECK(same_bits(a.chain->save(), before));
      for (int k = 0; k < 70; ++k) {  // over a refreshment of f
        a.chain->sweep(host);
        b.chain->sweep(host);
      }
      CHECK(same_bits(a.chain->save(), b.chain->save()));
      Draw from_a, from_b;
      a.chain->read(from_a);
      b.chain->read(from_b);
      CHECK(same_bits(from_a.effects, from_b.effects));
      CHECK_THROWS_AS(a.chain->restore(before.head(2)), InvalidInput);
    }
}

TEST_CASE("slice: threads change no bit, chains differ") {
  const Data data = grouped(2, 6000, 400);
  const Problem problem = integrated_problem(data, "hinge");
  const Sampling one = chain_of(problem, true), two = chain_of(problem, true, 0, 50, 2),
                 other = chain_of(problem, true, 1);
  Host host;
  for (int k = 0; k < 3; ++k)
    for (const Sampling* each : {&one, &two, &other}) each->chain->sweep(host);
  CHECK(same_bits(one.chain->save(), two.chain->save()));
  CHECK(!same_bits(one.chain->save(), other.chain->save()));
}

TEST_CASE("slice: several factors, one with two effects a level") {
  Shape shape;
  shape.n = 40;
  shape.p = 2;
  const SparseData all[] = {crossed(shape, {12, 9}), nested(shape, 4, 9)};
  for (const SparseData& data : all) {
    Problem problem = data.problem();
    problem.likelihood = Registry<Likelihood>::make("hinge", Params());
    const Sampling of = chain_of(problem, false);
    Host host;
    Draw draw;
    for (int k = 0; k < 20; ++k) of.chain->sweep(host);
    of.chain->read(draw);
    CHECK(draw.effects.size() == data.columns());
    CHECK(draw.effects.allFinite());
    CHECK(draw.effects.norm() > 0);
    CHECK(draw.hyper.minCoeff() > 0);
  }
}

TEST_CASE("slice: sparse predictors are refused") {
  Shape shape;
  shape.n = 40;
  shape.p = 2;
  const SparseData data = mixed(shape);
  Problem problem = data.problem();
  problem.likelihood = Registry<Likelihood>::make("hinge", Params());
  CHECK_THROWS_AS(chain_of(problem, false), InvalidInput);
}

// Rows that weigh nothing: 1/s^2 of coefficients and of effects are gamma variables, with
// E log s^2 = log 2 - psi(3) and Var log s^2 = psi'(3).
TEST_CASE("slice: without data the variances beside a grouping factor have their prior") {
  Shape shape;
  shape.n = 60;
  shape.p = 3;
  shape.q = 1;
  shape.groups = 8;
  shape.standardised = false;
  Data data = simulate(shape);
  data.weight.setConstant(1e-9);
  data.x.rightCols(2) *= 0.02;  // so that the quadratic of the rows hardly holds them
  const Problem problem = with(to_problem(data, {normal_prior(2, {0}), ridge_prior(3, 2, {1, 2})},
                                          {ridge_prior(3, 2, {0})}), "hinge");
  const Sampling of = chain_of(problem, false);
  Host host;
  Draw draw;
  const int sweeps = 20000;
  Vec sum = Vec::Zero(2), square = Vec::Zero(2);
  for (int k = 0; k < sweeps; ++k) {
    of.chain->sweep(host);
    of.chain->read(draw);
    const Vec now = draw.hyper.array().log();
    sum += now;
    square += now.cwiseAbs2();
  }
  const Vec mean = sum / sweeps, variance = square / sweeps - mean.cwiseAbs2();
  for (Index k : {0, 1}) {
    CHECK(std::abs(mean[k] - (std::log(2) - 0.9227843351)) < 0.04);
    CHECK(std::abs(variance[k] - 0.3949340668) < 0.03);
  }
}

// Effects integrated out or kept, one likelihood with two parameters: the same posterior.
TEST_CASE("slice: numbers with inferred scale and tube, effects kept or integrated out") {
  const Data data = numbers(shape_of(60, 2, 8));
  Problem problem = usual_problem(data);
  infer_both(problem);
  problem.integrated = 0;
  check(problem);
  constexpr Index sweeps = 40000;
  Mat mean(6, 2), sd(6, 2);
  for (Index k = 0; k < 2; ++k) {
    Sampling of = chain_of(problem, k == 1, 0, 1000);
    Host host;
    Draw draw;
    Mat all(6, sweeps);
    for (Index j = 0; j < sweeps; ++j) {
      of.chain->sweep(host);
      of.chain->read(draw);
      Vec hyper = draw.hyper.tail(3).array().log();
      hyper[1] = 1 / (1 + std::exp(0.5 * hyper[1]));  // log kappa has a long tail
      all.col(j) << draw.coefficients.head(2), hyper, draw.effects[0];
    }
    const Mat kept = all.rightCols(sweeps - 1000);
    mean.col(k) = kept.rowwise().mean();
    sd.col(k) = (kept.colwise() - mean.col(k)).rowwise().norm() /
                std::sqrt(static_cast<double>(kept.cols()));
  }
  for (Index j = 0; j < 6; ++j) {
    CAPTURE(j);
    CHECK(std::abs(mean(j, 0) - mean(j, 1)) < 0.15 * sd(j, 0));
    CHECK(std::abs(std::log(sd(j, 0) / sd(j, 1))) < 0.1);
  }
}
