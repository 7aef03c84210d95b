#pragma once
#include "approximation.hpp"
#include "free_parameters.hpp"

namespace bsvm {

// One node is all there is.
void keep_only(const Node& top, Approximation& out);

// Nodes around the top and their shares: of one hyper-parameter by equal steps out to where the
// density is a hundredth of the top's; of two or three on a lattice; of more by a central composite
// design (Rue, Martino & Chopin 2009), whose second moments are a Gaussian's.
void explore(Conditional& conditional, const FreeUnits& units, const Node& top,
             Approximation& out);

}  // namespace bsvm
