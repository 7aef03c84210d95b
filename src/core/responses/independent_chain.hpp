#pragma once
#include "chain/sampler.hpp"
#include "evidence_modes.hpp"

namespace bsvm {

// Draws of theta by Metropolis-Hastings steps whose proposals do not depend on where the chain is
// (Tierney 1994), and of the coefficients given theta. The last of a draw's hyper-parameters is the
// log weight of the sweep's proposal: weights are the importance weights of the evidence.
std::unique_ptr<Chain> make_independent_chain(const Evidence& evidence, const EvidenceModes& modes,
                                              std::uint64_t seed, int chain);

}  // namespace bsvm
