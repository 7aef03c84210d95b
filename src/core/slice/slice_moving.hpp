#pragma once
#include "chain/sampler.hpp"

namespace bsvm {

// A chain where the design of many dense coefficients depends on parameters, as that of a Gaussian
// process on its length scales. No effects.
std::unique_ptr<Chain> moving_chain(const Problem& problem, std::uint64_t seed, int chain,
                                    Index burnin);

}  // namespace bsvm
