#pragma once
#include "linalg/dense.hpp"
#include "model.hpp"
#include "random/draws.hpp"

namespace bsvm {

// A large block of columns F (n, m) under an exchangeable prior, its coefficients W (m, q) with
// w_j ~ N(0, tau_j^2 I). With F'F = V diag(e) V', H = F V, and
//
//   G Sigma G' = I,   G T G' = diag(t),   T = diag(tau^2),
//
// the coefficients V'W G' are independent given R = F W + noise: each sees a_kl = (H'R G')_kl,
// which is N(e_k w, e_k), and w ~ N(0, t_l). A draw, the density of the block's variances and that
// of other coefficients with W integrated out are then sums over k and l, whatever n is.
struct Spectrum {
  Index part = 0;              // of Responses::parts
  std::vector<Index> columns;  // of the design
  Vec e;                       // (m)
  Mat h, v;                    // (n, m), (m, m)
  Mat hs;                      // (m, small) H'S, S the other columns

  // Variances of (V'W G')_kl given R, for t = t_l.
  Vec shrunk(double t) const { return t / (1 + e.array() * t); }
};

// `root` (n): what each row of x is multiplied with.
Spectrum make_spectrum(Index part, std::vector<Index> columns, const Mat& x, const Vec& root);

// G and t.
struct Together {
  Mat g, inverse;  // (q, q): G and its inverse
  Vec t;           // (q)

  // root: lower, Sigma = root root'; variance (q) = tau^2.
  Together(const Mat& root, const Vec& variance) {
    Mat inner = Mat::Identity(root.rows(), root.cols());
    solve_lower(root, inner);
    const SymmetricEigen eigen(inner * variance.asDiagonal() * inner.transpose());
    t = eigen.values.cwiseMax(0);
    g = eigen.vectors.transpose() * inner;
    inverse = root * eigen.vectors;
  }
};

// log p(R | T, Sigma, the rest) up to what does not depend on T: hr (m, q) = H'R.
double log_evidence(const Spectrum& spectrum, const Mat& hr, const Together& both);

// vec(B) of the small columns' coefficients given T and Sigma, W integrated out, is
// Normal(precision^{-1} vec(linear), precision^{-1}) but for its prior: hr = H'R, sr = S'R.
struct SmallSystem {
  Mat precision;  // (small q, small q)
  Mat linear;     // (small, q)
};
SmallSystem small_system(const Spectrum& spectrum, const Mat& ss, const Mat& hr, const Mat& sr,
                         const Together& both);

// A draw of V'W (m, q): left (m, q) = H'(R - S B).
Mat draw_turned(const Spectrum& spectrum, const Mat& left, const Together& both, Draws& random);

// By how much it changes if variance j becomes `delta` more, in m operations: with v the column j
// of G, M = diag(t) and B_k = (I + e_k M)^{-1}, M becomes M + delta v v', so that
//
//   log |I + e_k M| grows by log(1 + delta e_k s_k),  a'M B_k a by delta c_k^2/(1 + delta e_k s_k),
//   s_k = v'B_k v,  c_k = v'B_k a_k.
class VarianceChange {
 public:
  VarianceChange(const Spectrum& spectrum, const Mat& hr, const Together& both, Index j);
  double operator()(double delta) const;

 private:
  const Vec& e_;
  Arr s_, c_;  // (m)
};

}  // namespace bsvm
