#pragma once
#include "chain/sampler.hpp"
#include "whitening.hpp"

namespace bsvm {

// A chain on (b, theta), whose density it asks for at whole points. So effects of the swept factor,
// one a level, can be integrated out in closed form (their draw given the rest comes with the
// density), and the design can move with theta.
std::unique_ptr<Chain> joint_chain(const Problem& problem, const Whitening& white, int threads,
                                   std::uint64_t seed, int chain, Index burnin);

}  // namespace bsvm
