#pragma once
#include <type_traits>

#include "base/types.hpp"

// What the core takes from Eigen for dense matrices of moderate size, compiled once: each file that
// instantiates these of Eigen's templates costs seconds of compilation and megabytes of debugging
// information. Large matrices have kernels of their own (cholesky.hpp).
namespace bsvm {

// x <- L^{-1} x, x <- L^{-T} x and x <- L x for lower triangular L (p, p), whose upper triangle is
// not read; x is a vector (p) or a matrix (p, n).
void solve_lower_vector(ConstMatRef l, VecRef x);
void solve_lower_matrix(ConstMatRef l, MatRef x);
void solve_transposed_vector(ConstMatRef l, VecRef x);
void solve_transposed_matrix(ConstMatRef l, MatRef x);
Vec lower_product_vector(ConstMatRef l, ConstVecRef x);
Mat lower_product_matrix(ConstMatRef l, ConstMatRef x);

template <class X>
constexpr bool is_vector = std::decay_t<X>::ColsAtCompileTime == 1;
template <class X>
using Plain = std::conditional_t<is_vector<X>, Vec, Mat>;

template <class X>
void solve_lower(ConstMatRef l, X&& x) {
  if constexpr (is_vector<X>) solve_lower_vector(l, x);
  else solve_lower_matrix(l, x);
}

template <class X>
void solve_transposed(ConstMatRef l, X&& x) {
  if constexpr (is_vector<X>) solve_transposed_vector(l, x);
  else solve_transposed_matrix(l, x);
}

// L^{-1} x.
template <class X>
Plain<X> solved_lower(ConstMatRef l, const X& x) {
  Plain<X> out = x;
  solve_lower(l, out);
  return out;
}

// L x and L'x.
template <class X>
Plain<X> lower_product(ConstMatRef l, const X& x) {
  if constexpr (is_vector<X>) return lower_product_vector(l, x);
  else return lower_product_matrix(l, x);
}
Vec transposed_product(ConstMatRef l, ConstVecRef x);

// x L^{-1} and x L^{-T}.
Mat divided_lower(ConstMatRef x, ConstMatRef l);
Mat divided_transposed(ConstMatRef x, ConstMatRef l);

// Adds the lower triangle of x x'.
void add_square(ConstMatRef x, MatRef lower);

// The symmetric matrix with this lower triangle.
Mat symmetric(ConstMatRef lower);

// a = V diag(values) V', of the lower triangle of a; values increase.
struct SymmetricEigen {
  Vec values;
  Mat vectors;

  explicit SymmetricEigen(ConstMatRef a);
  // V diag(with) V'.
  Mat with(ConstVecRef with) const;
};

// The Cholesky factor of a symmetric matrix, of its lower triangle.
class Factor {
 public:
  Factor() = default;
  explicit Factor(ConstMatRef a);

  bool positive() const { return positive_; }  // else there is no factor
  const Mat& lower() const { return lower_; }  // L, zero above the diagonal
  double logdet() const;                       // of the matrix

  // a^{-1} x.
  template <class X>
  Plain<X> solve(const X& x) const {
    Plain<X> out = x;
    solve_lower(lower_, out);
    solve_transposed(lower_, out);
    return out;
  }
  Mat inverse() const;

 private:
  Mat lower_;
  bool positive_ = false;
};

// The factor of a symmetric matrix (its lower triangle); of one that is not positive definite,
// after its diagonal is raised until it is. For steps of Newton's method where a density is not
// concave.
Factor positive_factor(ConstMatRef lower);

}  // namespace bsvm
