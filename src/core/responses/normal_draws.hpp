#pragma once
#include "linalg/dense.hpp"
#include "random/draws.hpp"

namespace bsvm {

// to += kron(a, b), b (m, k).
template <class To>
void add_kron(const Mat& a, const Mat& b, To& to) {
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j)
      to.block(i * b.rows(), j * b.cols(), b.rows(), b.cols()) += a(i, j) * b;
}

inline Vec as_vector(const Mat& x) { return Eigen::Map<const Vec>(x.data(), x.size()); }

// Normal(precision^{-1} linear, precision^{-1}).
inline Vec draw_normal(const Mat& precision, const Vec& linear, Draws& random) {
  const Factor factor = positive_factor(precision);
  Vec out = solved_lower(factor.lower(), linear);
  for (Index k = 0; k < out.size(); ++k) out[k] += random.normal();
  solve_transposed(factor.lower(), out);
  return out;
}

}  // namespace bsvm
