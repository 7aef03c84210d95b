#pragma once
#include "chain/sampler.hpp"
#include "whitening.hpp"

namespace bsvm {

// A chain on (b, theta, the latent's global part) with the unknown entries of the design integrated
// out of the likelihood; their draws come with it. Without groups.
std::unique_ptr<Chain> latent_chain(const Problem& problem, const Whitening& white,
                                    std::uint64_t seed, int chain, Index burnin);

}  // namespace bsvm
