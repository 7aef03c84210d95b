#pragma once
#include "base/host.hpp"
#include "base/types.hpp"

namespace bsvm {

// Large matrices are taken in panels, with the kernels of this processor, and the host
// is asked often: all of these throw Interrupted.

// Overwrites the lower triangle of a (p, p) with its Cholesky factor and the
// upper with zeros; false if a is not positive definite.
bool cholesky(MatRef a, Host& host);

// L^{-1} of lower triangular L (p, p).
Mat inverse_lower(ConstMatRef l, Host& host);
void inverse_lower(ConstMatRef l, Host& host, Mat& out);

// M X and M'X for lower triangular M (p, p), and the lower triangle of X'X; X (p, n).
Mat lower_times(ConstMatRef m, const Mat& x, Host& host);
Mat transposed_times(ConstMatRef m, const Mat& x, Host& host);
Mat lower_gram(const Mat& x, Host& host);

// M'M, both triangles, for lower triangular M (p, p).
Mat squared_transposed(ConstMatRef m, Host& host);
void squared_transposed(ConstMatRef m, Host& host, Mat& out);

// tr(S A) - p - log det(S A) for S = M'M and A = L L', both lower triangular (p, p). It is
// a sum of squares and of numbers x - log(1 + x), so nothing cancels when S A is almost
// the identity; it is then |S^{1/2} A S^{1/2} - I|^2 / 2 (Frobenius).
double divergence(ConstMatRef m, ConstMatRef l, Host& host);

// x^2 - 1 - log x^2 for x > 0.
double log_distance(double x);

}  // namespace bsvm
