#pragma once
#include "../host.hpp"
#include "../types.hpp"

namespace bsvm {

// Overwrites the lower triangle of a (p, p) with its Cholesky factor and the
// upper with zeros; false if a is not positive definite. Large matrices are
// taken in panels so that the host is asked often; throws Interrupted.
bool cholesky(MatRef a, Host& host);

// x (p, k) <- L^{-1} x, in panels likewise.
void solve_lower(ConstMatRef l, MatRef x, Host& host);

// 2 sum log diag L.
double logdet(ConstMatRef l);

// S = L^{-T} L^{-1}.
Mat inverse_from_factor(ConstMatRef l);

}  // namespace bsvm
