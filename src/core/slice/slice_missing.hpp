#pragma once
#include "chain/sampler.hpp"
#include "whitening.hpp"

namespace bsvm {

// A chain on (b, theta, imputation model) with missing predictors integrated out of the likelihood;
// their draws come with it. Without groups.
std::unique_ptr<Chain> missing_chain(const Problem& problem, const Whitening& white,
                                     std::uint64_t seed, int chain, Index burnin);

}  // namespace bsvm
