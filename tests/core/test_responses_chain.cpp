#include <cmath>

#include <doctest/doctest.h>
#include "hosts.hpp"
#include "random/draws.hpp"
#include "responses/responses_chain.hpp"

using namespace bsvm_test;
using namespace bsvm;

namespace {

// A prior of a covariance so narrow that it is known.
std::unique_ptr<Prior> known_covariance(const Mat& covariance) {
  const double df = 1e10;
  std::map<std::string, double> numbers{{"effects", static_cast<double>(covariance.rows())},
                                        {"df", df}};
  for (Index j = 0; j < covariance.cols(); ++j)
    for (Index i = j; i < covariance.rows(); ++i)
      numbers["scale_" + std::to_string(i + 1) + "_" + std::to_string(j + 1)] =
          df * covariance(i, j);
  return Registry<Prior>::make("inverse_wishart", Params("inverse_wishart", numbers));
}

std::unique_ptr<Prior> half_t(Index q) {
  std::map<std::string, double> numbers{{"effects", static_cast<double>(q)}, {"df", 2}};
  for (Index j = 0; j < q; ++j) numbers["scale_" + std::to_string(j + 1)] = 1;
  return Registry<Prior>::make("huang_wand", Params("huang_wand", numbers));
}

std::unique_ptr<Prior> normal(double variance) {
  return Registry<Prior>::make("normal", Params("normal", {{"variance", variance}}));
}

class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : draws_({seed, 0, 0}, Purpose::rows, 0) {}
  Mat matrix(Index n, Index p) {
    Mat out(n, p);
    for (Index k = 0; k < out.size(); ++k) out.data()[k] = draws_.normal();
    return out;
  }

 private:
  Draws draws_;
};

Mat some_covariance(Index q) {
  Mat out(q, q);
  for (Index i = 0; i < q; ++i)
    for (Index j = 0; j < q; ++j)
      out(i, j) = std::pow(-0.6, std::abs(static_cast<double>(i - j))) *
                  (1 + 0.3 * static_cast<double>(std::min(i, j)));
  return out;
}

ColumnPart part(std::vector<Index> columns, const std::vector<double>& variances) {
  ColumnPart out;
  out.columns = std::move(columns);
  for (double variance : variances) out.priors.push_back(normal(variance));
  return out;
}

// n rows, an intercept and two columns, q responses; `many`: seven more columns, a large block;
// `levels`: so many of a factor with a slope.
Responses simulated(Index n, Index q, bool many, Index levels, bool alike = false) {
  Numbers numbers(7);
  Responses out;
  const Index p = 3 + (many ? 7 : 0);
  out.x = numbers.matrix(n, p);
  out.x.col(0).setOnes();
  out.y = out.x * numbers.matrix(p, q) + numbers.matrix(n, q);
  std::vector<double> first, second, third;
  for (Index j = 0; j < q; ++j) {
    first.push_back(alike ? 3 : 3 + static_cast<double>(j));
    second.push_back(alike ? 0.5 : 0.5 / (1 + static_cast<double>(j)));
    third.push_back(0.2 + 0.1 * static_cast<double>(j));
  }
  out.parts.push_back(part({0}, first));
  out.parts.push_back(part({2, 1}, second));
  if (many) out.parts.push_back(part({3, 4, 5, 6, 7, 8, 9}, third));
  if (levels > 0) {
    LevelPart factor;
    for (Index i = 0; i < n; ++i) factor.code.push_back(static_cast<int>((i * i) % levels));
    factor.levels = levels;
    factor.z = numbers.matrix(n, 2);
    factor.z.col(0).setOnes();
    factor.prior = known_covariance(some_covariance(2 * q));
    out.factors.push_back(std::move(factor));
  }
  out.residual = known_covariance(some_covariance(q));
  return out;
}

// Means and variances of (vec B, effects by level, response and effect), all known but them.
struct Exact {
  Vec mean, variance;
};

Exact exact(const Responses& model) {
  const Index n = model.n(), p = model.p(), q = model.q();
  Index effects = 0;
  for (const LevelPart& factor : model.factors) effects += factor.levels * factor.prior->effects();
  const Index size = p * q + effects;
  const Mat inverse = Factor(some_covariance(q)).inverse();
  Mat precision = Mat::Zero(size, size);
  Vec linear = Vec::Zero(size);
  for (Index i = 0; i < n; ++i) {
    Mat row = Mat::Zero(q, size);  // f_i = row * unknowns
    for (Index j = 0; j < q; ++j) row.block(j, j * p, 1, p) = model.x.row(i);
    Index at = p * q;
    for (const LevelPart& factor : model.factors) {
      const Index d = factor.effects();
      for (Index j = 0; j < q; ++j)
        row.block(j, at + factor.code[static_cast<size_t>(i)] * d * q + j * d, 1, d) =
            factor.z.row(i);
      at += factor.levels * d * q;
    }
    std::vector<Index> seen;
    for (Index j = 0; j < q; ++j)
      if (!std::isnan(model.y(i, j))) seen.push_back(j);
    const Index m = static_cast<Index>(seen.size());
    Mat covariance(m, m), own(m, size);
    Vec y(m);
    for (Index a = 0; a < m; ++a) {
      for (Index b = 0; b < m; ++b) covariance(a, b) = some_covariance(q)(seen[a], seen[b]);
      own.row(a) = row.row(seen[a]);
      y[a] = model.y(i, seen[a]);
    }
    const Mat weight = Factor(covariance).inverse();
    precision += own.transpose() * weight * own;
    linear += own.transpose() * (weight * y);
  }
  for (const ColumnPart& part : model.parts)
    for (Index j = 0; j < q; ++j) {
      Vec prior(static_cast<Index>(part.columns.size()));
      part.priors[static_cast<size_t>(j)]->precision(Vec(), prior);
      for (size_t a = 0; a < part.columns.size(); ++a)
        precision(j * p + part.columns[a], j * p + part.columns[a]) +=
            prior[static_cast<Index>(a)];
    }
  Index at = p * q;
  for (const LevelPart& factor : model.factors) {
    const Index each = factor.prior->effects();
    const Mat prior = Factor(some_covariance(each)).inverse();
    for (Index l = 0; l < factor.levels; ++l, at += each)
      precision.block(at, at, each, each) += prior;
  }
  const Mat covariance = Factor(precision).inverse();
  return {covariance * linear, covariance.diagonal()};
}

// `draws` of a chain beside the exact moments: the largest error of a mean in Monte Carlo standard
// errors (the draws taken as independent), and the largest error of a logarithm of an sd.
void compare(const Responses& model, Index draws, double most_mean, double most_sd) {
  const SharedResponses shared(model);
  const auto chain = make_responses_chain(shared, 5, 0);
  Host host;
  Draw draw;
  const Exact truth = exact(model);
  Vec sum = Vec::Zero(truth.mean.size()), square = sum;
  for (Index k = 0; k < 20; ++k) chain->sweep(host);
  for (Index k = 0; k < draws; ++k) {
    chain->sweep(host);
    chain->read(draw);
    Vec own(truth.mean.size());
    own << draw.coefficients, draw.effects;
    own -= truth.mean;
    sum += own;
    square += own.cwiseAbs2();
  }
  const double count = static_cast<double>(draws);
  const Arr z = (sum / count).array() / (truth.variance / count).array().sqrt();
  const Arr ratio = (square / count).array() / truth.variance.array();
  CHECK(z.abs().maxCoeff() < most_mean);
  CHECK((0.5 * ratio.log()).abs().maxCoeff() < most_sd);
}

}  // namespace

TEST_CASE("responses: small columns, their priors differ by response") {
  compare(simulated(12, 3, false, 0), 6000, 4.2, 0.045);
}

TEST_CASE("responses: small columns under priors that all responses share") {
  compare(simulated(12, 3, false, 0, true), 6000, 4.2, 0.045);
}

TEST_CASE("responses: a large block with the small columns") {
  compare(simulated(14, 3, true, 0), 6000, 4.2, 0.045);
}

TEST_CASE("responses: a factor's effects with the small columns") {
  compare(simulated(15, 2, false, 4), 6000, 4.2, 0.045);
}

// Drawn in turn: draws are no longer independent.
TEST_CASE("responses: a large block and a factor") {
  compare(simulated(16, 2, true, 3), 12000, 8, 0.06);
}

TEST_CASE("responses: more coefficients of small columns than are drawn at once") {
  Responses model = simulated(10, 3, false, 0);
  model.parts.resize(1);
  Numbers numbers(3);
  model.x = numbers.matrix(10, 201);
  model.parts.push_back(ColumnPart());
  for (Index j = 1; j < 201; ++j) {
    ColumnPart one = part({j}, {0.01, 0.02, 0.03});
    model.parts.push_back(std::move(one));
  }
  model.parts.erase(model.parts.begin() + 1);
  compare(model, 1500, 9, 0.12);
}

TEST_CASE("responses: some are missing") {
  Responses model = simulated(12, 3, false, 0);
  const double none = std::numeric_limits<double>::quiet_NaN();
  model.y(2, 1) = model.y(5, 0) = model.y(5, 2) = none;
  model.y.row(7).setConstant(none);
  compare(model, 12000, 8, 0.06);
}

TEST_CASE("responses: a row of weight two is two rows, to rounding") {
  for (const bool many : {false, true}) {
    Responses twice = simulated(10, 2, many, 2), weighted = simulated(10, 2, many, 2);
    twice.residual = half_t(2);
    weighted.residual = half_t(2);
    weighted.weight = Vec::Ones(10);
    weighted.weight[3] = 2;
    const auto repeat = [](Mat& x) {
      Mat out(11, x.cols());
      out << x, x.row(3);
      x = out;
    };
    repeat(twice.x);
    repeat(twice.y);
    repeat(twice.factors[0].z);
    twice.factors[0].code.push_back(twice.factors[0].code[3]);
    const SharedResponses first(twice), second(weighted);
    const auto one = make_responses_chain(first, 1, 0), other = make_responses_chain(second, 1, 0);
    Host host;
    Draw a, b;
    for (int k = 0; k < 5; ++k) {
      one->sweep(host);
      other->sweep(host);
    }
    one->read(a);
    other->read(b);
    // eigenvectors are known up to their signs
    if (!many) CHECK((a.coefficients - b.coefficients).cwiseAbs().maxCoeff() < 1e-9);
    if (!many) CHECK((a.hyper - b.hyper).cwiseAbs().maxCoeff() < 1e-9);
    CHECK(a.coefficients.size() == b.coefficients.size());
  }
}

TEST_CASE("responses: a chain goes on from what was saved, to the bit") {
  Responses model = simulated(40, 2, true, 3);
  model.y(4, 1) = std::numeric_limits<double>::quiet_NaN();
  model.residual = half_t(2);
  model.factors[0].prior = half_t(4);
  const SharedResponses shared(model);
  const auto chain = make_responses_chain(shared, 9, 2), again = make_responses_chain(shared, 9, 2);
  Host host;
  for (int k = 0; k < 4; ++k) chain->sweep(host);
  again->restore(chain->save());
  for (int k = 0; k < 3; ++k) {
    chain->sweep(host);
    again->sweep(host);
  }
  Draw a, b;
  chain->read(a);
  again->read(b);
  CHECK((a.coefficients.array() == b.coefficients.array()).all());
  CHECK((a.effects.array() == b.effects.array()).all());
  CHECK((a.hyper.array() == b.hyper.array()).all());
  CHECK((a.unknowns.array() == b.unknowns.array()).all());
}

// Of R = F W + E, E with the covariance Sigma: a normal of n q numbers.
TEST_CASE("responses: the evidence of a block's variances") {
  const Index n = 9, m = 6, q = 3;
  Numbers numbers(2);
  const Mat f = numbers.matrix(n, m), r = numbers.matrix(n, q), sigma = some_covariance(q);
  const Mat root = Factor(sigma).lower();
  std::vector<Index> columns{0, 1, 2, 3, 4, 5};
  const Spectrum spectrum = make_spectrum(0, columns, f, Vec::Ones(n));
  const Mat hr = spectrum.h.transpose() * r;
  const auto dense = [&](const Vec& variance) {
    Mat covariance(n * q, n * q);
    for (Index j = 0; j < q; ++j)
      for (Index l = 0; l < q; ++l)
        covariance.block(j * n, l * n, n, n) =
            sigma(j, l) * Mat::Identity(n, n) +
            (j == l ? variance[j] : 0.0) * (f * f.transpose());
    const Factor factor(covariance);
    const Vec y = Eigen::Map<const Vec>(r.data(), r.size());
    return -0.5 * (factor.logdet() + y.dot(factor.solve(y)));
  };
  const Vec first = Vec::Constant(q, 0.3), second = (Vec(3) << 0.01, 2, 0.7).finished();
  const double from = log_evidence(spectrum, hr, Together(root, first));
  const double to = log_evidence(spectrum, hr, Together(root, second));
  CHECK(std::abs((to - from) - (dense(second) - dense(first))) < 1e-10);
  for (Index j = 0; j < q; ++j)
    for (const double delta : {-0.29, 0.1, 5.0}) {
      Vec changed = first;
      changed[j] += delta;
      const VarianceChange change(spectrum, hr, Together(root, first), j);
      CHECK(std::abs(change(delta) - (dense(changed) - dense(first))) < 1e-10);
    }
}

TEST_CASE("responses: parts that do not fit together are refused") {
  Responses model = simulated(8, 2, false, 2);
  model.parts[0].priors.pop_back();
  CHECK_THROWS_AS(SharedResponses{model}, InvalidInput);
  model = simulated(8, 2, false, 2);
  model.parts.pop_back();
  CHECK_THROWS_AS(SharedResponses{model}, InvalidInput);
  model = simulated(8, 2, false, 2);
  model.factors[0].code[3] = 2;
  CHECK_THROWS_AS(SharedResponses{model}, InvalidInput);
  model = simulated(8, 2, false, 2);
  model.residual = half_t(3);
  CHECK_THROWS_AS(SharedResponses{model}, InvalidInput);
}
