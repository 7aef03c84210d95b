#pragma once

namespace bsvm {

// How an engine looks at a row whose linear predictor is f ~ N(m, v) under q, and what it asks of
// a prior.
enum class Use {
  augmented,  // latent scales averaged over: the papers' variational Bayes
  expected,   // E log p(y | f): Gaussian variational inference
  point,      // v = 0: the limit of the others, and what point estimates ask of priors
  value,      // log p(y | f) itself, at points and along lines
  drawn,      // latent scales drawn given f = m: Gibbs sampling
  matched,    // E p(y | f): the expected terms, their moments matched (expectation propagation)
  marginal    // what is unknown about the row integrated out of p, not log p
};

}  // namespace bsvm
