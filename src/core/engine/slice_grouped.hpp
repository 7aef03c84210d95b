#pragma once
#include "sampler.hpp"

namespace bsvm {

// A chain for models with grouping factors, or null where it can't take the model.
std::unique_ptr<Chain> grouped_chain(const Problem& problem, std::uint64_t seed, int chain,
                                     Index burnin);

}  // namespace bsvm
