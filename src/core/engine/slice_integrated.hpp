#pragma once
#include "sampler.hpp"
#include "whitening.hpp"

namespace bsvm {

// A chain on (b, theta) with the swept factor's effects, one a level, integrated out in closed form;
// each sweep draws them given the rest.
std::unique_ptr<Chain> integrated_chain(const Problem& problem, const Whitening& white, int threads,
                                        std::uint64_t seed, int chain, Index burnin);

}  // namespace bsvm
