#pragma once
#include "chain/sampler.hpp"
#include "shared.hpp"

namespace bsvm {

// Gibbs sampling: missing or latent responses; of each large block which set of columns it has, and
// its variances, with its coefficients integrated out, then the small columns' coefficients likewise,
// then its own; small columns' and a factor's effects together, or with which set of columns they
// have; the variances; Psi and Sigma.
std::unique_ptr<Chain> make_responses_chain(const SharedResponses& shared, std::uint64_t seed,
                                            int chain);

}  // namespace bsvm
