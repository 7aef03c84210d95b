#pragma once
#include "approximation.hpp"
#include "coefficients/free_parameters.hpp"
#include "line.hpp"

namespace bsvm {

// One node is all there is.
void keep_only(const Node& top, Approximation& out);

// Nodes around the top and their shares: of one hyper-parameter by equal steps (gaussian/line.hpp);
// of two or three on a lattice; of more by a central composite design (Rue, Martino & Chopin 2009),
// whose second moments are a Gaussian's. `prior`: log p(theta), which looks for what lies far from
// the top.
void explore(Conditional& conditional, const FreeUnits& units, const Node& top,
             Approximation& out, const LogPrior& prior = nullptr);

}  // namespace bsvm
