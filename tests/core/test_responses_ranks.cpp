// Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari & Gelman 2018): if parameters
// come from the prior and responses from the parameters, the rank of each parameter among its draws
// is uniform. All that a chain does takes part.
#include <doctest/doctest.h>

#include <cmath>

#include "latent_data.hpp"
#include "replicates.hpp"
#include "responses/responses_chain.hpp"

using namespace bsvm_test;

namespace {

constexpr Index kResponses = 2;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Named = std::map<std::string, double>;

std::unique_ptr<Prior> prior(const std::string& name, const Named& numbers) {
  return Registry<Prior>::make(name, Params(name, numbers));
}

double draw_half_t(Draws& random) {  // variance, half-t(3, 1)
  const double a = random.inverse_gamma(0.5, 1);
  return random.inverse_gamma(1.5, 3 / a);
}

Mat normal(Index n, Index p, Draws& random) {
  Mat out(n, p);
  for (Index k = 0; k < out.size(); ++k) out.data()[k] = random.normal();
  return out;
}

struct Kind {
  Index columns;     // beside the intercept, under one variance, or each its own
  Index levels = 0;  // of a factor
  bool missing = false, tube = false, second = false, relevance = false;
  Index rows = 12;
};

struct Case {
  Responses model;
  std::vector<double> truth;
  Vec state;  // of a chain there, as it is saved, without large blocks and factors
};

Case simulate(const Kind& kind, std::uint64_t number) {
  Draws random({number, 1, 0}, Purpose::rows, 0);
  const Index n = kind.rows;
  Case out;
  Responses& model = out.model;
  model.x = normal(n, 1 + kind.columns, random);
  model.x.col(0).setOnes();
  const Mat root = draw_covariance_root(random), sigma = root * root.transpose();
  Mat b = normal(model.x.cols(), kResponses, random);
  ColumnPart first, second;
  first.columns = {0};
  for (Index k = 0; k < kind.columns; ++k) second.columns.push_back(1 + k);
  for (Index j = 0; j < kResponses; ++j) {
    double s2 = draw_half_t(random);
    if (kind.relevance) {
      s2 = 1;
      for (Index k = 0; k < kind.columns; ++k) {
        const double own = random.inverse_gamma(1.5, 1);
        b(1 + k, j) *= std::sqrt(own);
        s2 *= std::pow(own, 1 / static_cast<double>(kind.columns));
      }
    } else {
      b.col(j).tail(kind.columns) *= std::sqrt(s2);
    }
    first.priors.push_back(prior("normal", {{"variance", 1}}));
    second.priors.push_back(kind.relevance ? prior("relevance", {{"shape", 1.5}, {"scale", 1}})
                                           : prior("half_t", {{"df", 3}, {"scale", 1}}));
    out.truth.push_back(b(0, j));
    out.truth.push_back(b(1, j));
    out.truth.push_back(s2);
  }
  model.parts.push_back(std::move(first));
  model.parts.push_back(std::move(second));
  model.y = model.x * b + normal(n, kResponses, random) * root.transpose();
  if (kind.levels > 0) {
    LevelPart factor;
    const Mat own = draw_covariance_root(random), psi = own * own.transpose();
    const Mat u = normal(kind.levels, kResponses, random) * own.transpose();
    for (Index i = 0; i < n; ++i) {
      factor.code.push_back(static_cast<int>(i % kind.levels));
      model.y.row(i) += u.row(i % kind.levels);
    }
    factor.levels = kind.levels;
    factor.z = Mat::Ones(n, 1);
    factor.prior = huang_wand();
    model.factors.push_back(std::move(factor));
    for (const double value : {psi(0, 0), psi(1, 0), psi(1, 1)}) out.truth.push_back(value);
  }
  model.residual = huang_wand();
  for (const double value : {sigma(0, 0), sigma(1, 0), sigma(1, 1)}) out.truth.push_back(value);
  const Mat latent = model.y;
  std::vector<double> shares;
  for (Index j = 0; j < kResponses && (kind.tube || kind.second); ++j) {
    LossPart loss;
    if (kind.second) {
      const double variance = random.inverse_gamma(2, 1);
      loss.variance = prior("ridge", {{"shape", 2}, {"scale", 1}});
      model.y.col(j) += std::sqrt(variance) * normal(n, 1, random);
      out.truth.push_back(variance);
    } else {
      double scale, nu;
      draw_tube_numbers(sigma(j, j), random, scale, nu);
      loss.a = loss.b = 2;
      for (Index i = 0; i < n; ++i) model.y(i, j) += draw_tube(scale, nu, random);
      out.truth.push_back(scale);
      out.truth.push_back(nu);
      shares.push_back(tube_share(scale, nu, sigma(j, j)));
    }
    model.losses.push_back(std::move(loss));
  }
  if (kind.tube) {
    std::vector<double> state{0};
    const auto add = [&](ConstVecRef x) {
      state.insert(state.end(), x.data(), x.data() + x.size());
    };
    for (Index j = 0; j < kResponses; ++j) {
      Vec hyper(4);
      model.parts[1].priors[static_cast<size_t>(j)]->fix(
          Vec::Constant(1, 0.5 * std::log(out.truth[static_cast<size_t>(3 * j + 2)])), hyper);
      add(hyper);
    }
    Vec hyper(model.residual->hyper_size(n * kResponses));
    model.residual->fix(free_numbers(root), hyper);
    add(hyper);
    add(Eigen::Map<const Vec>(out.truth.data() + out.truth.size() - 4, 4));
    add(Eigen::Map<const Vec>(b.data(), b.size()));
    add(Eigen::Map<const Vec>(latent.data(), latent.size()));
    out.state = Eigen::Map<const Vec>(state.data(), static_cast<Index>(state.size()));
  }
  out.truth.insert(out.truth.end(), shares.begin(), shares.end());
  if (kind.missing) {
    model.y(0, 0) = model.y(5, 1) = kNone;
    model.y.row(3).setConstant(kNone);
  }
  return out;
}

// Of what simulate() has as truth.
std::vector<double> drawn(const Draw& draw, const Kind& kind) {
  const Index p = 1 + kind.columns;
  std::vector<double> out;
  for (Index j = 0; j < kResponses; ++j) {
    out.push_back(draw.coefficients[j * p]);
    out.push_back(draw.coefficients[j * p + 1]);
    out.push_back(draw.hyper[j]);
  }
  for (Index k = kResponses; k < draw.hyper.size(); ++k) out.push_back(draw.hyper[k]);
  const Index last = draw.hyper.size();  // Sigma's three numbers, then scale and nu of each
  for (Index j = 0; j < kResponses && kind.tube; ++j)
    out.push_back(tube_share(draw.hyper[last - 4 + 2 * j], draw.hyper[last - 3 + 2 * j],
                        draw.hyper[last - 7 + 2 * j]));
  return out;
}

// The largest |z| of the ranks' means and of their spread about one half.
double worst(const Kind& kind, int most, int burnin, int thin) {
  const int sets = replicates(most);
  constexpr int kept = 19;
  std::vector<double> mean, spread;
  for (int set = 0; set < sets; ++set) {
    const Case own = simulate(kind, static_cast<std::uint64_t>(set));
    const SharedResponses shared(own.model);
    const auto chain = make_responses_chain(shared, static_cast<std::uint64_t>(set), 0);
    Host host;
    Draw draw;
    std::vector<int> below(own.truth.size(), 0);
    for (int k = 0; k < burnin; ++k) chain->sweep(host);
    for (int k = 0; k < kept; ++k) {
      for (int l = 0; l < thin; ++l) chain->sweep(host);
      chain->read(draw);
      const std::vector<double> values = drawn(draw, kind);
      REQUIRE(values.size() == own.truth.size());
      for (size_t a = 0; a < values.size(); ++a) below[a] += values[a] < own.truth[a];
    }
    mean.resize(below.size());
    spread.resize(below.size());
    for (size_t a = 0; a < below.size(); ++a) {
      const double u = below[a] / static_cast<double>(kept) - 0.5;
      mean[a] += u;
      spread[a] += u * u;
    }
  }
  // uniform on 0, 1/kept, ..., 1
  const double m = kept + 1.0, second = (m * m - 1) / (12.0 * kept * kept);
  const double fourth = (m * m - 1) * (3 * m * m - 7) / (240 * std::pow(kept, 4));
  double out = 0;
  for (size_t a = 0; a < mean.size(); ++a) {
    const double root = std::sqrt(static_cast<double>(sets));
    out = std::max(out, std::abs(mean[a] / root / std::sqrt(second)));
    out = std::max(out, std::abs((spread[a] - sets * second) / root /
                                 std::sqrt(fourth - second * second)));
  }
  return out;
}

}  // namespace

TEST_CASE("responses: ranks with a large block, its variance and residual covariance") {
  CHECK(worst({8}, 200, 40, 5) < 4);
}

TEST_CASE("responses: ranks with a variance for each coefficient") {
  Kind kind{6};
  kind.relevance = true;
  CHECK(worst(kind, 200, 40, 5) < 4);
}

TEST_CASE("responses: ranks with a factor, and missing responses") {
  Kind kind{2, 4};
  CHECK(worst(kind, 200, 40, 8) < 4);
  kind.missing = true;
  CHECK(worst(kind, 200, 40, 8) < 4);
}

TEST_CASE("responses: ranks with a large block and a factor") {
  CHECK(worst({6, 4}, 200, 40, 8) < 4);
}

TEST_CASE("responses: ranks with a latent response under a loss") {
  Kind kind{2};
  kind.tube = kind.missing = true;
  CHECK(worst(kind, 150, 60, 8) < 4);
  kind.columns = 6;
  CHECK(worst(kind, 100, 60, 8) < 4);
}

// From parameters and latent responses that responses were drawn from, sweeps lead to others with
// the same distribution: with few rows, so that the shares' prior matters.
TEST_CASE("responses: sweeps keep the distribution of what responses were drawn from") {
  Kind kind{2};
  kind.tube = true;
  kind.rows = 3;
  const int sets = replicates(20000);
  Arr sum, square;
  for (int set = 0; set < sets; ++set) {
    const Case own = simulate(kind, static_cast<std::uint64_t>(set));
    const SharedResponses shared(own.model);
    const auto chain = make_responses_chain(shared, static_cast<std::uint64_t>(set), 0);
    chain->restore(own.state);
    Host host;
    Draw draw;
    chain->read(draw);
    const std::vector<double> before = drawn(draw, kind);
    for (int k = 0; k < 6; ++k) chain->sweep(host);
    chain->read(draw);
    const std::vector<double> after = drawn(draw, kind);
    Arr change(static_cast<Index>(2 * before.size()));
    for (size_t a = 0; a < before.size(); ++a) {
      REQUIRE(std::abs(before[a] - own.truth[a]) < 1e-9 * (1 + std::abs(before[a])));
      // tails are heavy
      const double x = std::atan(before[a]), y = std::atan(after[a]);
      change[static_cast<Index>(2 * a)] = y - x;
      change[static_cast<Index>(2 * a + 1)] = y * y - x * x;
    }
    if (set == 0) sum = square = Arr::Zero(change.size());
    sum += change;
    square += change.square();
  }
  CHECK((sum / (square - sum.square() / sets).sqrt()).abs().maxCoeff() < 4);
}

TEST_CASE("responses: ranks with two normal residuals") {
  Kind kind{2};
  kind.second = true;
  CHECK(worst(kind, 150, 60, 12) < 4);
}
