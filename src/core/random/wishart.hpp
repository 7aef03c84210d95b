#pragma once
#include <algorithm>
#include <cmath>

#include "draws.hpp"
#include "linalg/small.hpp"

namespace bsvm {

// Sigma ~ inverse Wishart(df, L L'), density proportional to
// |Sigma|^{-(df + q + 1)/2} exp(-tr(L L' Sigma^{-1})/2), df > q - 1.
// `l` and `out` (q, q): the lower Cholesky factors of the scale and of Sigma.
//
// Bartlett's decomposition from the last row up: Sigma^{-1} = L^{-T} T'T L^{-1} with T
// lower triangular, so that L T^{-1} is Sigma's own factor and no matrix is inverted.
inline void inverse_wishart(double df, const double* l, Index q, Draws& random, double* out) {
  Mat t = Mat::Zero(q, q);
  for (Index j = 0; j < q; ++j) {
    const double shape = 0.5 * (df - static_cast<double>(q - 1 - j));
    const double root = std::exp(0.5 * (std::log(2.0) + random.log_gamma_draw(shape)));
    t(j, j) = std::max(root, 1e-150);
    for (Index i = j + 1; i < q; ++i) t(i, j) = random.normal();
  }
  std::copy(l, l + q * q, out);
  solve_right(t.data(), q, q, out);
}

}  // namespace bsvm
