#pragma once
#include <memory>
#include <string>

#include "variational_posterior.hpp"

namespace bsvm {

// Variational Bayes of discriminative factor models (001, section 5, there VB-EM with scores as
// points): independent q of scores, of each variable's mean and loadings, of noise, of variances of
// loadings, of coefficients, and of their hyper-parameters; numbers of the likelihood are points.
// The bound has all constants. It has many local maxima, so that the best of several starts counts.

struct VariationalOptions {
  // Latent scales averaged over, which is a bound, for likelihoods that have such scales; else
  // E log p(y | f) of a normal f, an approximation (variational_classifier.hpp).
  bool augmented = true;
  // Principal components; then these with the response as the last factor; then about them.
  int starts = 3;
  int most = 2000;          // steps of a start
  double tolerance = 1e-3;  // what the bound may still gain, and linear predictors may still move
                            // in standard deviations; with a process 50 times as much
  std::uint64_t seed = 1;   // of starts
  int threads = 1;
};

struct VariationalFit {
  std::unique_ptr<FactorPosterior> posterior;
  Use use = Use::augmented;
  double bound = 0;             // without feedback that of x
  double classifier_bound = 0;  // without feedback, else zero
  std::vector<double> trace;    // the bound after each step of the best start
  Vec bounds;                   // of each start
  bool converged = false;
  std::string termination;      // converged, limit, interrupted
};

// Interrupted it ends with what it has, if that is at least a step.
VariationalFit fit_variational(const SharedFactors& shared, const VariationalOptions& options,
                               Host& host);

// One of independent draws from q, as make_factors_chain() has it: coefficients (alpha, beta), one
// variance a factor or none; numbers by the names of factor_numbers(), hyper-parameters given the
// draw of what they belong to; implied coefficients (p); means of f_n given x alone (N); mu (p),
// A (p K), psi (p, or 1 if common).
struct VariationalDraw {
  Vec coefficients, hyper, implied, links, whole;
};
VariationalDraw draw_variational(const SharedFactors& shared, const FactorPosterior& posterior,
                                 std::uint64_t seed, std::uint64_t draw);

}  // namespace bsvm
