#include "dense.hpp"

#include "eigen_modules.hpp"

namespace bsvm {

void solve_lower_vector(ConstMatRef l, VecRef x) {
  l.triangularView<Eigen::Lower>().solveInPlace(x);
}

void solve_lower_matrix(ConstMatRef l, MatRef x) {
  l.triangularView<Eigen::Lower>().solveInPlace(x);
}

void solve_transposed_vector(ConstMatRef l, VecRef x) {
  l.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
}

void solve_transposed_matrix(ConstMatRef l, MatRef x) {
  l.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
}

Vec lower_product_vector(ConstMatRef l, ConstVecRef x) {
  return l.triangularView<Eigen::Lower>() * x;
}

Mat lower_product_matrix(ConstMatRef l, ConstMatRef x) {
  return l.triangularView<Eigen::Lower>() * x;
}

Vec transposed_product(ConstMatRef l, ConstVecRef x) {
  return l.triangularView<Eigen::Lower>().transpose() * x;
}

Mat divided_lower(ConstMatRef x, ConstMatRef l) {
  Mat out = x;
  l.triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(out);
  return out;
}

Mat divided_transposed(ConstMatRef x, ConstMatRef l) {
  Mat out = x;
  l.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(out);
  return out;
}

void add_square(ConstMatRef x, MatRef lower) {
  lower.selfadjointView<Eigen::Lower>().rankUpdate(x);
}

Mat symmetric(ConstMatRef lower) { return lower.selfadjointView<Eigen::Lower>(); }

SymmetricEigen::SymmetricEigen(ConstMatRef a) {
  const Eigen::SelfAdjointEigenSolver<Mat> of(a);
  values = of.eigenvalues();
  vectors = of.eigenvectors();
}

Mat SymmetricEigen::with(ConstVecRef with) const {
  return vectors * with.asDiagonal() * vectors.transpose();
}

Factor::Factor(ConstMatRef a) : lower_(a.rows(), a.cols()) {
  const Eigen::LLT<Mat> of(a);
  lower_ = of.matrixL();
  positive_ = of.info() == Eigen::Success && lower_.diagonal().allFinite();
}

Mat Factor::inverse() const {
  Mat out = Mat::Identity(lower_.rows(), lower_.cols());
  solve_lower_matrix(lower_, out);
  solve_transposed_matrix(lower_, out);
  return out;
}

double Factor::logdet() const { return 2 * lower_.diagonal().array().log().sum(); }

Factor positive_factor(ConstMatRef lower) {
  Factor factor(lower);
  for (double add = 1e-8; !factor.positive() && add < 1e12; add *= 10) {
    Mat raised = lower;
    raised.diagonal().array() += add * (1 + lower.diagonal().array().abs());
    factor = Factor(raised);
  }
  return factor;
}

}  // namespace bsvm
