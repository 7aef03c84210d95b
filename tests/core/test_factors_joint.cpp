// Geweke's (2004) joint test: parameters are drawn from the prior, scores, variables and responses
// from the parameters; then sweeps, given variables and responses, must leave the distribution of
// parameters as it is. Under the pseudo-likelihood, which is no density of y, the prior is tilted
// by the product of Z(f) over rows with a response, and y is drawn from L/Z.
#include <doctest/doctest.h>

#include "factor_data.hpp"
#include "factors/process_links.hpp"
#include "replicates.hpp"

using namespace bsvm_test;

namespace {

constexpr Index kLabelled = 4;

double pseudo(double y, double f) { return std::exp(-2 * std::max(0.0, 1 - y * f)); }

struct Truth {
  FactorModel model;
  Vec b, hyper, theta, psi, phi;  // hyper: of beta's prior as it is kept
  double rate = 1;
  Mat loadings, w;  // (1 + K, p), (N, K)
  Vec process;      // b, theta, log s
  Vec g;            // of an exact process at labelled rows
};

double laplace(double rate, Draws& random) {
  const double size = -std::log(random.uniform()) / rate;
  return random.uniform() < 0.5 ? size : -size;
}

void draw_loadings(const FactorKind& kind, const FactorModel& model, Draws& random, Truth& out) {
  const Index p = kind.variables, k = kind.factors;
  out.rate = kind.fixed_rate ? 1.5 : random.gamma(3) / 2;
  out.phi.resize(k);
  for (Index j = 0; j < k; ++j)
    out.phi[j] = j % 2 == 0 ? random.inverse_gamma(3, 2)
                            : random.inverse_gamma(2, 4 / random.inverse_gamma(0.5, 1 / 0.49));
  out.loadings.resize(1 + k, p);
  for (Index i = 0; i < p; ++i) {
    out.loadings(0, i) = std::sqrt(model.mean_variance) * random.normal();
    for (Index j = 0; j < k; ++j)
      out.loadings(1 + j, i) = kind.local ? laplace(std::sqrt(2 * out.rate), random)
                                          : std::sqrt(out.phi[j]) * random.normal();
  }
  out.psi.resize(kind.each ? p : 1);
  for (Index i = 0; i < out.psi.size(); ++i) out.psi[i] = random.gamma(3) / 2;
}

void draw_coefficients(const FactorKind& kind, Draws& random, Truth& out) {
  const Index k = kind.factors;
  if (kind.likelihood == "normal") out.theta = Vec::Constant(1, std::log(random.gamma(3) / 3));
  out.b.resize(out.model.linear() ? 1 + k : 1);
  out.b[0] = random.normal();
  if (!out.model.linear()) return;
  if (kind.beta == "bridge") {
    out.hyper = Vec::Ones(2 + k);
    out.hyper[0] = 0.8;
    for (Index j = 0; j < k; ++j) {
      const double variance = -2 * 0.64 * std::log(random.uniform());  // b_j ~ Laplace(1/0.8)
      out.b[1 + j] = std::sqrt(variance) * random.normal();
      out.hyper[2 + j] = 1 / variance;
    }
  } else {
    const bool half_t = kind.beta == "half_t";
    const double a = random.inverse_gamma(0.5, 1 / 0.49);
    const double g = half_t ? random.inverse_gamma(2, 4 / a) : random.inverse_gamma(3, 2);
    out.hyper = Vec::Ones(half_t ? 4 : 2);
    out.hyper[1] = g;
    if (half_t) out.hyper[3] = a;
    out.b.tail(k) = std::sqrt(g) * normal_numbers(k, 1, random);
  }
}

// Linear predictors of w, of a process with its numbers from their priors.
Vec draw_links(const FactorKind& kind, const Mat& w, Draws& random, Truth& out) {
  const Vec constant = Vec::Constant(w.rows(), out.b[0]);
  if (out.model.linear()) return constant + w * out.b.tail(kind.factors);
  const ProcessPart& part = out.model.process;
  const Mat points = kind.exact ? Mat(w.topRows(kLabelled).transpose())
                                : score_points(part, kind.factors);
  const Index m = points.cols(), size = part.start.size();
  out.process = normal_numbers(m + size + 1, 1, random);
  out.process.segment(m, size) =
      part.start + kProcessSpread * out.process.segment(m, size);
  out.process[m + size] = 0.5 * std::log(random.inverse_gamma(3, 4));
  Host host;
  const Features features(*part.kernel, points, out.process.segment(m, size), host);
  if (kind.exact) {
    Mat k;
    part.kernel->values(points, points, out.process.segment(m, size), k);
    out.g = std::exp(out.process[m + size]) *
            lower_product(covariance_root(k, host), Vec(out.process.head(m)));
    Vec f = constant;  // of rows without a response it does not matter
    f.head(m) += out.g;
    return f;
  }
  const LinkMoments links = at_scores(
      {features, Vec(out.process.head(m)), std::exp(out.process[m + size])}, w.transpose());
  const Vec e = normal_numbers(w.rows(), 1, random);
  return constant + links.mean + links.variance.cwiseSqrt().cwiseProduct(e);
}

// False if the tilt says to draw again.
bool draw_responses(const FactorKind& kind, const Vec& f, Draws& random, Truth& out) {
  out.model.y = Vec::Constant(kind.rows, kMissing);
  double keep = 1;
  for (Index n = 0; n < kLabelled && n < kind.rows; ++n) {
    if (kind.likelihood == "normal") {
      out.model.y[n] = f[n] + std::exp(out.theta[0]) * random.normal();
      continue;
    }
    const double sum = pseudo(1, f[n]) + pseudo(-1, f[n]);
    if (kind.likelihood == "hinge") keep *= sum / (1 + std::exp(-4.0));
    out.model.y[n] = random.uniform() * sum < pseudo(1, f[n]) ? 1 : -1;
  }
  return random.uniform() < keep;
}

Truth simulate(const FactorKind& kind, std::uint64_t number) {
  Draws random({number, 1, 0}, Purpose::rows, 0);
  Truth out;
  add_parts(kind, out.model);
  out.model.covariates = Mat::Ones(kind.rows, 1);
  for (;;) {
    draw_loadings(kind, out.model, random, out);
    draw_coefficients(kind, random, out);
    const Mat w = out.w = normal_numbers(kind.rows, kind.factors, random);
    const Vec f = draw_links(kind, w, random, out);
    if (!draw_responses(kind, f, random, out)) continue;
    out.model.x = w * out.loadings.bottomRows(kind.factors);
    out.model.x.rowwise() += out.loadings.row(0);
    for (Index i = 0; i < kind.variables; ++i)
      for (Index n = 0; n < kind.rows; ++n)
        out.model.x(n, i) += random.normal() / std::sqrt(out.psi[kind.each ? i : 0]);
    if (kind.missing) {
      out.model.x(1, 0) = out.model.x(3, 2) = out.model.x(3, 1) = kMissing;
      if (kind.rows > 4) out.model.x(4, 0) = kMissing;  // a row without a response
    }
    return out;
  }
}

void append(const Vec& part, std::vector<double>& to) {
  to.insert(to.end(), part.data(), part.data() + part.size());
}

// As a chain saves it.
Vec state_of(const FactorKind& kind, const Truth& truth, const SharedFactors& shared) {
  std::vector<double> out{0};
  const auto flat = [&](const Mat& x) { append(Eigen::Map<const Vec>(x.data(), x.size()), out); };
  append(truth.b, out);
  append(truth.process, out);
  if (!truth.model.linear()) flat(truth.w);
  if (kind.exact) {
    flat(truth.w.topRows(kLabelled).transpose());
    append(truth.g, out);
  }
  append(truth.hyper, out);
  append(truth.theta, out);
  if (kind.turned) {
    const Mat b = truth.loadings.transpose(), v = truth.model.x.transpose() * shared.turned->back;
    const Mat inside = v.transpose() * b, rest = b - v * inside;
    append(truth.psi, out);
    flat(inside);
    flat(Factor(rest.transpose() * rest).lower());
  } else {
    flat(truth.loadings);
    if (kind.each) append(truth.psi, out);
    append(Eigen::Vector2d(kind.each ? 1 : truth.psi[0], truth.rate), out);
  }
  for (Index j = 0; j < kind.factors && !kind.local; ++j) {
    const Vec ridge = Eigen::Vector2d(1, truth.phi[j]);
    Vec half_t(4);
    half_t << 1, truth.phi[j], 1, 1;
    append(j % 2 == 0 ? ridge : half_t, out);
  }
  return Eigen::Map<const Vec>(out.data(), static_cast<Index>(out.size()));
}

// Numbers of a draw; tails are heavy.
Arr seen(const Chain& chain, const FactorKind& kind) {
  Draw draw;
  chain.read(draw);
  Vec whole;
  chain.read_seldom(whole);
  std::vector<double> out;
  append(draw.coefficients, out);
  append(draw.hyper, out);
  append(draw.effects, out);
  out.push_back(draw.effects.squaredNorm());
  if (kind.points > 0) append(whole.segment(whole.size() - 2 - kind.points, kind.points), out);
  if (kind.exact) append(whole.tail(kLabelled * (1 + kind.factors) + 2), out);
  append(whole.head(std::min<Index>(whole.size(), 12)), out);
  out.push_back(whole[whole.size() - 1]);
  append(draw.unknowns.head(2), out);
  const Eigen::Map<const Mat> loadings(whole.data(), kind.variables, 1 + kind.factors);
  append((loadings * loadings.transpose()).row(0), out);
  return Eigen::Map<const Arr>(out.data(), static_cast<Index>(out.size())).atan();
}

// The largest |z| of the changes of means and of mean squares.
double worst(const FactorKind& kind, int most, int sweeps) {
  const int sets = replicates(most);
  Arr sum, square;
  for (int set = 0; set < sets; ++set) {
    const Truth truth = simulate(kind, static_cast<std::uint64_t>(set));
    const SharedFactors shared(truth.model);
    const auto chain = make_factors_chain(shared, 1, static_cast<std::uint64_t>(set), 0);
    chain->restore(state_of(kind, truth, shared));
    Host host;
    const Arr before = seen(*chain, kind);
    for (int k = 0; k < sweeps; ++k) chain->sweep(host);
    const Arr after = seen(*chain, kind);
    Arr change(2 * before.size());
    change << after - before, after.square() - before.square();
    if (set == 0) sum = square = Arr::Zero(change.size());
    sum += change;
    square += change.square();
  }
  const Arr sd = (square - sum.square() / sets).sqrt();
  const Arr z = (sd > 1e-12).select(sum / sd, sum);
  return z.abs().maxCoeff();
}

}  // namespace

TEST_CASE("factors: joint test, pseudo-likelihood, local shrinkage, noise of each, missing x") {
  FactorKind kind{"hinge"};
  kind.local = kind.each = kind.missing = true;
  kind.beta = "half_t";
  CHECK(worst(kind, 8000, 3) < 4);
}

TEST_CASE("factors: joint test, normalised, one variance a factor, common noise, missing x") {
  FactorKind kind{"hinge_normalized"};
  kind.missing = true;
  CHECK(worst(kind, 8000, 3) < 4);
}

TEST_CASE("factors: joint test, numbers, local shrinkage at a given rate, common noise") {
  FactorKind kind{"normal"};
  kind.local = kind.fixed_rate = true;
  kind.beta = "bridge";
  CHECK(worst(kind, 8000, 3) < 4);
}

TEST_CASE("factors: joint test of the reduced form") {
  for (const char* likelihood : {"hinge", "hinge_normalized", "normal"}) {
    FactorKind kind{likelihood, 5, 9};
    kind.turned = true;
    CHECK(worst(kind, 5000, 3) < 4);
  }
}

TEST_CASE("factors: joint test of a Gaussian process, normalised, missing x") {
  for (const bool ard : {false, true}) {
    FactorKind kind{"hinge_normalized"};
    kind.missing = true;
    kind.points = 6;
    kind.ard = ard;
    CHECK(worst(kind, 6000, 3) < 4);
  }
}

TEST_CASE("factors: joint test of a Gaussian process, pseudo-likelihood and numbers") {
  for (const char* likelihood : {"hinge", "normal"}) {
    FactorKind kind{likelihood};
    kind.each = kind.local = true;
    kind.points = 4;
    CHECK(worst(kind, 4000, 3) < 4);
  }
}

// Latent scales are drawn first in a sweep: scores given those of other responses would be wrong.
TEST_CASE("factors: joint test of an exact Gaussian process") {
  for (const char* likelihood : {"hinge", "normal"}) {
    FactorKind kind{likelihood};
    kind.each = kind.local = true;
    kind.exact = true;
    CHECK(worst(kind, 12000, 3) < 4);
  }
}

TEST_CASE("factors: joint test of an exact Gaussian process, length scales of each, missing x") {
  FactorKind kind{"hinge"};
  kind.missing = kind.ard = kind.exact = true;
  CHECK(worst(kind, 12000, 3) < 4);
}
