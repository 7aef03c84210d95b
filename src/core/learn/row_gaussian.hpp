#pragma once
#include "base/host.hpp"
#include "base/types.hpp"
#include "linalg/dense.hpp"

namespace bsvm {

// What is known of the linear predictors of n rows before the response: they are normal with mean
// zero and covariance C + X V X', where C is K + D, or F F' + D with fewer features than rows.
struct RowPrior {
  Mat covariance;  // (n, n) K, its lower triangle, or
  Mat features;    // (n, m) F
  Vec own;         // (n) the diagonal of D: each row's own
  Mat fixed;       // (n, q) X
  Vec variance;    // (q) the diagonal of V; it may be very large

  bool in_full() const { return covariance.size() > 0; }
  // (C + X V X') a.
  Vec times(const Vec& a) const;
};

// G = C + X V X' + N, N a diagonal noise above zero. With U = (F, X) and P = D + N
//
//   G^{-1} = P^{-1} - H H',   H = P^{-1} U L^{-T},   L L' = diag(I, V^{-1}) + U' P^{-1} U;
//
// in full, with R = C + N, Y = R^{-1} X and E = V^{-1} + X' Y,   G^{-1} = R^{-1} - Y E^{-1} Y'.
// So V may be as large as it likes.
class RowGaussian {
 public:
  RowGaussian(const RowPrior& prior, const Vec& noise, Host& host);

  double log_determinant() const { return log_determinant_; }
  // G^{-1} r of (n, k).
  Mat solve(const Mat& r) const;
  // G^{-1} z, and by it the best linear prediction from z of the coefficients of X (q), or of F and
  // X (m + q); neither suffers from a large V.
  struct Predicted {
    Vec alpha, coefficients;
  };
  Predicted predict(const Vec& z) const;
  // (n) of G^{-1}; and all of it (n, n).
  Vec diagonal(Host& host) const;
  Mat inverse(Host& host) const;

 private:
  void in_full(const RowPrior& prior, const Vec& noise, Host& host);
  void by_features(const RowPrior& prior, const Vec& noise, Host& host);

  Mat columns_;       // X, or U
  Mat lower_;         // of R, in full; L
  Mat across_;        // (n, q) Y, in full; (n, m + q) H
  Factor small_;      // of E
  Vec precision_;     // (n) of P^{-1}
  double log_determinant_ = 0;
  bool full_ = false;
};

}  // namespace bsvm
