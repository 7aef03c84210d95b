#pragma once
#include "chain/sampler.hpp"

namespace bsvm {

// A chain for models with grouping factors; throws where a row has several levels of one, as of
// sparse predictors.
std::unique_ptr<Chain> grouped_chain(const Problem& problem, std::uint64_t seed, int chain,
                                     Index burnin);

}  // namespace bsvm
