#pragma once
#include "base/types.hpp"
#include "likelihood/likelihood.hpp"
#include "linalg/dense.hpp"
#include "random/draws.hpp"

namespace bsvm {

// Rows whose linear predictors are f_n ~ N(offset_n + c_n'x, v_n), with coefficients x that have
// independent normal priors: y_n | f_n by a likelihood that can be averaged.
struct NormalRows {
  Mat design;  // (c, rows) c_n
  Vec offset, variance, y, weight;

  Vec means(const Vec& x) const { return offset + design.transpose() * x; }
  double log_likelihood(const Likelihood& likelihood, const Vec& mean) const;
};

// A normal density N(center, Q^{-1}), Q = L L', near that of x given y. It depends on no draw of x.
class NormalBase {
 public:
  NormalBase() = default;
  // `prior` (c): precisions.
  NormalBase(const NormalRows& rows, const Likelihood& likelihood, const Vec& prior);

  const Mat& root() const { return precision_.lower(); }
  Vec white(const Vec& x) const { return transposed_product(root(), x - center_); }
  Vec from_white(const Vec& z) const;
  double log_density(const Vec& z) const;  // of x, up to a constant

 private:
  Vec center_;
  Factor precision_;
};

// Draws x by elliptical slices, a few whitened coordinates at a time.
void draw_by_ellipses(const NormalRows& rows, const Likelihood& likelihood, const Vec& prior,
                      const NormalBase& base, Vec& x, Draws& random);

}  // namespace bsvm
