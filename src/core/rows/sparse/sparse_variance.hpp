#pragma once
#include "base/host.hpp"
#include "model/group_posterior.hpp"
#include "model/problem.hpp"

namespace bsvm {

// Variances (n) of z_i'u + x_i'b for any rows: Z (n, sparse columns) and x (n, p), on the scale of
// the factor; root_inverse is L^{-1} of the root, lower triangular. Throws Interrupted.
Vec linear_variances(const SparseFactor& factor, ConstMatRef root_inverse,
                     const SparseColumns& z, ConstMatRef x, Host& host);

}  // namespace bsvm
