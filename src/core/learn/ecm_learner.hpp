#pragma once
#include <string>
#include <vector>

#include "additive.hpp"
#include "ecm.hpp"

namespace bsvm {

// What the scheme is told besides the model: `points`, of each summand its pseudo-inputs (d, m), or
// none for the process in full.
struct EcmScheme {
  SkewedLoss loss;
  std::vector<Mat> points;
  bool move_points = true;
  int rounds = 10, iterations = 20;
};

// How a round went.
struct EcmRound {
  double before, after;  // the log evidence given the latent scales, before and after it was raised
  double gamma, change;  // the largest, of a free number
};

struct EcmLearned {
  Vec theta;                // the numbers of the model
  std::vector<Mat> points;
  double gamma = 1;
  std::vector<EcmRound> rounds;
};

// Kernels as Henao, Yuan & Carin (2014) learn them, corrected (kernels.md, section 3). A round is
// some ECM updates, and about as many steps uphill in the kernels' numbers, amplitudes and pseudo-inputs
// of the evidence of the rows given the latent scales where these updates ended (their equation 9),
//
//   log N(y (1 + lambda); 0, G),   G = K + Lambda / gamma,   K = sum_j s_j^2 K_j + X V X'.
//
// With pseudo-inputs v a summand's K is that of FITC, Q + diag(k(x, x) - Q), Q = K_nm K_mm^{-1}
// K_mn (their equation 10). With P = (alpha alpha' - G^{-1}) / 2, alpha = G^{-1} y (1 + lambda), P0
// the same with zeros on its diagonal, and R = K_mm^{-1} K_mn, the gradient is
//
//   P in K;   2 P0 R' in K_nm,   -R P0 R' in K_mm,   P_ii in k(x_i, x_i).
//
// The two halves of a round do not climb the same function: ECM is for the mode of f, and the
// evidence averages over f given scales that know nothing of its variance. So numbers may drift as
// long as rounds are made. Priors of numbers only say which are free.
class EcmLearner {
 public:
  EcmLearner(AdditiveModel model, EcmScheme scheme, Host& host);

  EcmLearned run();

  // theta, then all pseudo-inputs column by column.
  Vec start() const;
  Ecm& rows() { return ecm_; }

  struct Evidence {
    Vec theta, gradient;  // and pseudo-inputs
    double value = 0;

    double objective() const { return value; }
  };
  // At the latent scales where `rows()` is.
  Evidence evidence(const Vec& x);
  // What f has before the response at x.
  RowPrior prior(const Vec& x);

 private:
  struct Made {
    Mat covariance;       // (n, n) of unit amplitude, in full; or
    Mat cross, root;      // (n, m) K_nm and (m, m) L, L L' = K_mm
    Mat features;         // (n, m) K_nm L^{-T}
    Vec diagonal, own;    // (n) k(x, x), and what features leave of it
  };

  bool in_full(size_t k) const { return scheme_.points[k].size() == 0; }
  Mat points_at(const Vec& x, size_t k) const;
  void make(const Vec& x);
  void pull_full(size_t k, const Vec& x, const Mat& p, Vec& gradient) const;
  void pull_points(size_t k, const Vec& x, const RowGaussian& rows, const Vec& alpha,
                   const Vec& diagonal, Vec& gradient) const;
  Vec uphill(const Evidence& at) const;
  Evidence raised(Evidence from);
  double largest_change(const Vec& from, const Vec& to) const;

  AdditiveModel model_;
  EcmScheme scheme_;
  Host& host_;
  Ecm ecm_;
  std::vector<Index> first_, first_point_;  // where a summand's numbers and points stand in x
  std::vector<Made> made_;
};

}  // namespace bsvm
