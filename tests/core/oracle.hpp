#pragma once
#include <vector>

#include "simulate.hpp"

// The core's model once more, slowly and plainly: every group effect is a column
// of one dense design, every matrix is formed and inverted, in long double.
namespace bsvm_test {

using Real = long double;
using VecL = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using MatL = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

// |found - expected| / |expected|, Frobenius; a number that is not one stays so.
template <class A, class B>
double gap(const Eigen::DenseBase<A>& found, const Eigen::DenseBase<B>& expected) {
  const MatL b = expected.derived().template cast<Real>();
  const Real size = b.norm();
  return static_cast<double>((found.derived().template cast<Real>() - b).norm() /
                             (size > 0 ? size : 1));
}
double gap(Real found, Real expected);

template <class A>
MatL lower(const Eigen::MatrixBase<A>& a) {
  return a.template cast<Real>().template triangularView<Eigen::Lower>();
}

// Of positive definite matrices; compiled once, for Eigen's algebra is slow to compile.
MatL inverse(const MatL& a);
MatL lower_factor(const MatL& a);
MatL product(const MatL& a, const MatL& b);

struct TermsL {
  VecL value, slope, weight, curvature;  // (n) times the rows' weights
};

// What RowSums should hold.
struct ReducedSums {
  Real value, logdet, decrement, change;
  VecL linear;
  MatL weight, curvature;
};

struct Oracle {
  Index p, q, groups;
  MatL c;                     // (n, P): dense, then each group's q effects
  VecL y, weight, offset;     // (n)
  MatL prior;                 // (P, P) prior precision
  VecL mean, step;            // (P)
  MatL covariance, previous;  // (P, P), and the precision it is the inverse of
  bool begun = false;

  // c_dense (n, p), z (n, q), in whatever scale.
  Oracle(const Data& data, const Mat& c_dense, const Mat& z);

  Index size() const { return c.cols(); }
  Index at(Index group, Index effect) const { return p + group * q + effect; }
  void set_group_prior(const Mat& precision);  // (q, q) for every group

  TermsL terms() const;
  MatL precision(const VecL& omega) const;  // C' diag(omega) C + prior
  VecL gradient() const;                    // of the bound in the mean
  ReducedSums reduce(Real damping) const;
  Real group_change(const MatL& next) const;
  void advance(Real damping, Real fraction);
  void shorten(Real change) { mean += change * step; }

  MatL inverse_factor() const;  // (p, p) L^{-1}, L L' the inverse of b's covariance

  // What `settle` and `groups` should say.
  MatL group_moments() const;  // (q, q)
  MatL group_mean() const;     // (q, m)
  MatL group_precision() const;   // (q q, m)
  MatL group_regression() const;  // (p q, m) A_dg A_gg^{-1}
};

// A prior of the twin: a fixed variance, or inverse-gamma(shape, scale) on it.
struct TwinPrior {
  std::vector<Index> at;  // coefficients, group effects included
  Real variance = 0;      // > 0: fixed
  Real shape = 0, scale = 0;
  Real q_shape = 1, q_scale = 1;

  Real precision() const { return variance > 0 ? 1 / variance : q_shape / q_scale; }
  void update(Real square);
  Real value(Real square) const;  // E log p(b|s2) + E log p(s2) - E log q(s2)
};

TwinPrior fixed_variance(Real variance, std::vector<Index> at);
TwinPrior inferred_variance(Real shape, Real scale, std::vector<Index> at);

// The papers' algorithm as they print it.
struct Twin {
  Oracle q;
  std::vector<TwinPrior> priors;

  Real square(const TwinPrior& prior) const;  // sum of E b^2
  void set_prior();
  void pass();        // weights, covariance, mean, hyper-parameters
  Real bound() const; // every constant included
  int run(int most, Real tolerance);  // passes until nothing moves
};

// The twin of simulate.hpp's usual_problem, on the outside scale.
Twin usual_twin(const Data& data);

Real digamma_l(Real x);

}  // namespace bsvm_test
