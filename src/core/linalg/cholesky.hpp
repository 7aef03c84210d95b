#pragma once
#include "../host.hpp"
#include "../types.hpp"

namespace bsvm {

// Overwrites the lower triangle of a (p, p) with its Cholesky factor and the
// upper with zeros; false if a is not positive definite. Large matrices are
// taken in panels so that the host is asked often; throws Interrupted.
bool cholesky(MatRef a, Host& host);

// L^{-1} of lower triangular L (p, p), in panels likewise.
Mat inverse_lower(ConstMatRef l, Host& host);

}  // namespace bsvm
