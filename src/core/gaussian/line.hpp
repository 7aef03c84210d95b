#pragma once
#include <functional>

#include "approximation.hpp"

namespace bsvm {

using LogPrior = std::function<double(ConstVecRef)>;

// Nodes of one hyper-parameter, the log of a standard deviation s, by equal steps out to where the
// density is a hundredth of the highest, on the way up also s^2 times it. A Gaussian has three.
//
// Far to the left lie no surprises: as s falls to nothing, its coefficients vanish, and the
// evidence R = log p(y | s) comes to a constant. One look there bounds what is left of the nodes,
//
//   p(y) int_{-inf}^{left end} p(theta) dtheta      with the larger p(y) of both ends,
//
// and steps go on until that is little: the density may have a second mode there, or a long tail
// behind a dip. Where the top itself is hardly above that constant, some looks farther up too.
// Weights are not normalised.
void line(Conditional& conditional, const Node& top, double sd, const LogPrior& prior,
          Approximation& out);

}  // namespace bsvm
