#pragma once
#include "chain/sampler.hpp"
#include "whitening.hpp"

namespace bsvm {

// A chain on (b, theta) with the swept factor's effects, one a level, integrated out in closed
// form; their draw given the rest comes with the density.
std::unique_ptr<Chain> integrated_chain(const Problem& problem, const Whitening& white, int threads,
                                        std::uint64_t seed, int chain, Index burnin);

}  // namespace bsvm
