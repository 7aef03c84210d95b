#pragma once
#include "chain/sampler.hpp"
#include "shared.hpp"

namespace bsvm {

// Gibbs sampling: missing or latent responses; each large block's variances with its coefficients
// integrated out, then the small columns' coefficients likewise, then its own; small columns' and a
// factor's effects together; the variances; Psi and Sigma.
std::unique_ptr<Chain> make_responses_chain(const SharedResponses& shared, std::uint64_t seed,
                                            int chain);

}  // namespace bsvm
