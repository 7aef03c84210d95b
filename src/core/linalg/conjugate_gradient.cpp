#include "conjugate_gradient.hpp"

namespace bsvm {

namespace {

// (k) products of the rows of two (k, d) matrices.
Arr dots(const Mat& x, const Mat& y) {
  Arr out = Arr::Zero(x.rows());
  for (Index j = 0; j < x.cols(); ++j) out += x.col(j).array() * y.col(j).array();
  return out;
}

}  // namespace

// Hestenes & Stiefel (1952), side by side:
//   r   residual b - A x            z   M^{-1} r         p   direction
//   rz  r'z of each side            step, turn   its alpha and beta, 0 once it is done
int conjugate_gradient(const Product& a, const Product& precondition, const Mat& b,
                       double tolerance, int most, const std::function<void()>& checkpoint,
                       Mat& x) {
  const Arr target = tolerance * tolerance * dots(b, precondition(b));
  Mat r = b - a(x);
  Mat z = precondition(r), p = z;
  Arr rz = dots(r, z);
  int products = 1;
  for (; products < most && (rz > target).any(); ++products) {
    checkpoint();
    const Mat ap = a(p);
    const Arr along = dots(p, ap);
    const Eigen::Array<bool, Eigen::Dynamic, 1> active = rz > target && along > 0;
    if (!active.any()) break;
    const Arr step = active.select(rz / along, 0.0);
    for (Index j = 0; j < x.cols(); ++j) {
      x.col(j).array() += step * p.col(j).array();
      r.col(j).array() -= step * ap.col(j).array();
    }
    z = precondition(r);
    const Arr next = dots(r, z);
    const Arr turn = (rz > 0).select(next / rz, 0.0);
    for (Index j = 0; j < x.cols(); ++j)
      p.col(j) = z.col(j).array() + turn * p.col(j).array();
    rz = next;
  }
  return products;
}

}  // namespace bsvm
