#pragma once
#include <cmath>
#include <limits>
#include <map>

#include "base/registry.hpp"
#include "factors/factors_chain.hpp"
#include "linalg/dense.hpp"

namespace bsvm_test {

using namespace bsvm;

// Factor models drawn from their prior, for tests of chains.

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

inline std::unique_ptr<Prior> prior_of(const std::string& name,
                                       const std::map<std::string, double>& numbers) {
  return Registry<Prior>::make(name, Params(name, numbers));
}

inline std::unique_ptr<Likelihood> likelihood_of(const std::string& name) {
  return Registry<Likelihood>::make(name, Params(name, {}));
}

inline Mat normal_numbers(Index n, Index p, Draws& random) {
  Mat out(n, p);
  for (Index k = 0; k < out.size(); ++k) out.data()[k] = random.normal();
  return out;
}

// What a model has beside data.
struct FactorKind {
  std::string likelihood;  // hinge, hinge_normalized, normal, eps_insensitive
  Index rows = 5, variables = 3, factors = 2;
  bool local = false, fixed_rate = false, each = false, turned = false, missing = false;
  std::string beta = "ridge";  // the prior of beta: or bridge, half_t
  Index points = 0;            // of a Gaussian process, or none
  bool exact = false;          // a Gaussian process without points
  bool ard = false;
};

constexpr double kProcessStart = 0.3, kProcessSpread = 0.5;  // of log length scales

inline void add_process(const FactorKind& kind, ProcessPart& process) {
  if (kind.points == 0 && !kind.exact) return;
  const double variables = static_cast<double>(kind.factors);
  process.kernel = Registry<Kernel>::make(
      "se", Params("se", {{"variables", variables}, {"ard", kind.ard ? 1.0 : 0.0}}));
  process.start = Vec::Constant(process.kernel->size(), kProcessStart);
  for (Index k = 0; k < process.start.size(); ++k)
    process.numbers.push_back(prior_of(
        "log_normal", {{"median", std::exp(kProcessStart)}, {"sd", kProcessSpread}}));
  process.variance = prior_of("ridge", {{"shape", 3}, {"scale", 4}});
  process.points = kind.points;
  process.exact = kind.exact;
}

// The parts of a model of this kind: an intercept ~ N(0, 1), beta with an inferred variance.
inline void add_parts(const FactorKind& kind, FactorModel& model) {
  model.factors = kind.factors;
  model.turned = kind.turned;
  model.mean_variance = 0.7;
  model.noise = {kind.each, 3, 2};
  model.loadings.local = kind.local;
  model.loadings.rate = kind.fixed_rate ? 1.5 : 0;
  model.loadings.shape = 3;
  model.loadings.rate_of_rate = 2;
  for (Index k = 0; k < kind.factors && !kind.local; ++k)
    model.loadings.priors.push_back(
        k % 2 == 0 ? prior_of("ridge", {{"shape", 3}, {"scale", 2}})
                   : prior_of("half_t", {{"df", 4}, {"scale", 0.7}}));
  model.parts.emplace_back();
  model.parts.back().places = {0};
  model.parts.back().prior = prior_of("normal", {{"variance", 1}});
  add_process(kind, model.process);
  model.likelihood = likelihood_of(kind.likelihood);
  for (Index k = 0; k < model.likelihood->free_size(); ++k)
    model.parameters.push_back(prior_of("gamma", {{"shape", 3}, {"rate", 3}}));
  if (!model.linear()) return;
  model.parts.emplace_back();
  for (Index k = 0; k < kind.factors; ++k) model.parts.back().places.push_back(1 + k);
  const std::map<std::string, std::map<std::string, double>> numbers{
      {"ridge", {{"shape", 3}, {"scale", 2}}},
      {"half_t", {{"df", 4}, {"scale", 0.7}}},
      {"bridge", {{"alpha", 1}, {"nu", 0.8}, {"shape", 1}, {"rate", 1}}}};
  model.parts.back().prior = prior_of(kind.beta, numbers.at(kind.beta));
}

// Normal numbers as x, classes as y; the first of `labelled` rows have a response.
inline FactorModel plain_factors(const FactorKind& kind, Index labelled, std::uint64_t seed) {
  Draws random({seed, 0, 0}, Purpose::rows, 0);
  FactorModel out;
  const Mat w = normal_numbers(kind.rows, std::max<Index>(kind.factors, 1), random);
  out.x = 0.6 * w * normal_numbers(w.cols(), kind.variables, random) +
          0.8 * normal_numbers(kind.rows, kind.variables, random);
  out.covariates = Mat::Ones(kind.rows, 1);
  out.y = Vec::Constant(kind.rows, kMissing);
  const bool numbers = likelihood_of(kind.likelihood)->free_size() > 0;
  for (Index n = 0; n < labelled; ++n) {
    const double f = w(n, 0) + 0.5 * random.normal();
    out.y[n] = numbers ? f : f > 0 ? 1 : -1;
  }
  if (kind.missing) out.x(0, 0) = out.x(1, 1) = out.x(kind.rows - 1, 0) = kMissing;
  add_parts(kind, out);
  return out;
}

// All that a chain says after so many sweeps.
inline Vec said(Chain& chain, int sweeps) {
  Host host;
  for (int k = 0; k < sweeps; ++k) chain.sweep(host);
  Draw draw;
  chain.read(draw);
  Vec seldom;
  chain.read_seldom(seldom);
  Vec out(draw.coefficients.size() + draw.hyper.size() + draw.effects.size() +
          draw.unknowns.size() + draw.law.size() + seldom.size());
  out << draw.coefficients, draw.hyper, draw.effects, draw.unknowns, draw.law, seldom;
  return out;
}

inline bool same(const Vec& a, const Vec& b) {
  return a.size() == b.size() && (a.array() == b.array()).all();
}

}  // namespace bsvm_test
