#pragma once
#include <memory>
#include <vector>

#include "base/types.hpp"
#include "kernel/kernel.hpp"
#include "likelihood/likelihood.hpp"
#include "prior/prior.hpp"

namespace bsvm {

// A response that depends on many variables through few factors (001, section 5, with a mean and an
// intercept that the paper does not have):
//
//   x_n = mu + A w_n + e_n,   e_n ~ N(0, diag(1/psi)),   w_n ~ N(0, I),
//   f_n = offset_n + t_n'alpha + beta'w_n,   y_n | f_n by any likelihood that can be averaged.
//
// Rows without a response inform mu, A and psi alone. What is missing of x is integrated out.

// Of a_ik, variable i and factor k.
struct LoadingsPart {
  // Local shrinkage: a_ik ~ N(0, phi_ik), phi_ik ~ Exp(rate), so that a_ik is Laplace with rate
  // sqrt(2 rate). A rate of 0 is inferred, under Gamma(shape, rate_of_rate).
  bool local = false;
  double rate = 0, shape = 1, rate_of_rate = 1;
  // Else one variance a factor, a_ik ~ N(0, phi_k), with a prior each (K).
  std::vector<std::unique_ptr<Prior>> priors;

  bool infers_rate() const { return local && !(rate > 0); }
  // How many numbers a draw has of it: the rate, none if it is given, or K variances. They depend on how
  // factors are turned.
  Index scales(Index factors) const { return local ? Index{infers_rate()} : factors; }
};

// psi ~ Gamma(shape, rate): one for all variables, or each its own.
struct NoisePart {
  bool each = false;
  double shape = 1, rate = 1;
};

// Coefficients with one prior: places in (alpha, beta), d + K numbers, or in alpha alone.
struct CoefficientPart {
  std::vector<Index> places;
  std::unique_ptr<Prior> prior;
};

// Instead of beta'w_n a function g of the scores, a Gaussian process: its kernel (none: linear)
// times its variance.
struct ProcessPart {
  std::unique_ptr<Kernel> kernel;  // of K variables
  Vec start;                       // of its free numbers, logarithms
  std::vector<std::unique_ptr<Prior>> numbers;  // of each, or null: it stays where it starts
  std::unique_ptr<Prior> variance;
  Index points = 100;              // M inducing points at most
  // Without any: g at the labelled rows is state, and integrated out given latent scales, which the
  // likelihood must have. A sweep costs the cube of their number.
  bool exact = false;
};

struct FactorModel {
  Mat x;           // (N, p) about standardised, NaN where missing
  Mat covariates;  // (N, d), the intercept among them
  Vec y;           // (N), NaN where there is none
  Vec weight;      // (N) > 0, powers of the likelihood, or empty: all one
  Vec offset;      // (N) or empty: all zero
  Index factors = 0;  // K
  double mean_variance = 1;  // mu_i ~ N(0, mean_variance)
  LoadingsPart loadings;
  NoisePart noise;
  std::vector<CoefficientPart> parts;
  ProcessPart process;
  std::unique_ptr<Likelihood> likelihood;
  std::vector<std::unique_ptr<Prior>> parameters;  // of its free numbers, one each
  // Without feedback the response says nothing of scores: mu, A and psi have their posterior given
  // x alone, and for each draw of them f_n = offset_n + t_n'alpha + beta'm_n, m_n the mean score
  // given x_n (a cut; Plummer 2015).
  bool feedback = true;
  // Complete x, one variance a factor and common noise, by as many sums as there are rows
  // (turned_rows.hpp): the same posterior, for many variables.
  bool turned = false;

  Index n() const { return x.rows(); }
  Index p() const { return x.cols(); }
  Index d() const { return covariates.cols(); }
  bool linear() const { return process.kernel == nullptr; }
  Index coefficients() const { return d() + (linear() ? factors : 0); }
};

// Throws InvalidInput unless the parts fit together.
void check(const FactorModel& model);

}  // namespace bsvm
