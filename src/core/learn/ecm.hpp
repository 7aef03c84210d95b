#pragma once
#include "row_gaussian.hpp"

namespace bsvm {

// The skewed hinge loss gamma (c |u| + u) of u = 1 - y f, c = sqrt(1 + 2 gamma0 / gamma); where
// gamma is inferred its density is proportional to gamma^(shape - 1) exp(-rate gamma).
struct SkewedLoss {
  double gamma = 1, gamma0 = 0;
  bool inferred = false;
  double shape = 1, rate = 0;
};

// What is known of n rows, of the caller.
struct EcmRows {
  Index n = 0;
  const double* y = nullptr;       // (n) -1 or +1
  const double* weight = nullptr;  // (n) or null
  const double* offset = nullptr;  // (n) or null
};

// ECM for the mode of the linear predictors f and of gamma (Henao, Yuan & Carin 2014, Section 2,
// with its formulas corrected: kernels.md, section 3). A row has a latent scale lambda,
//
//   exp{-gamma (c |u| + u)} gamma0 / c
//     = int N(u; -lambda, lambda / gamma) gamma0 exp(-gamma0 lambda) dlambda,
//   1 / E(1/lambda) = |u| / c,   E lambda = |u| / c + 1 / (gamma c^2),
//
// so that with tau = 1 / E(1/lambda), and T its diagonal matrix,
//
//   f = K (K + T/gamma)^{-1} y (1 + tau),
//   gamma = (shape + n/2 - 1) / (rate + sum(E(1/lambda) u^2 + 2 u + E lambda) / 2).
//
// The caller sees to it that shape + n/2 > 1: else the density of gamma has no mode above zero.
// Weights of rows count copies. Each update raises objective(); the limit is a quadratic program,
// to which it comes in ever smaller steps.
class Ecm {
 public:
  // f, K^{-1} f and gamma.
  struct Point {
    Vec f, alpha;
    double gamma;
  };

  Ecm(const EcmRows& rows, const SkewedLoss& loss);

  const Point& point() const { return now_; }
  // As RowGaussian predicts them, at the point.
  const Vec& coefficients() const { return coefficients_; }
  // K^{-1} f is then known after the next update.
  void start(const Vec& f) {
    now_.f = f;
    knows_alpha_ = false;
  }
  bool knows_alpha() const { return knows_alpha_; }

  void update(const RowPrior& prior, Host& host);
  // Three updates, of which the last starts where the first two point to, if that is higher
  // (Varadhan & Roland 2008); with K^{-1} f known.
  void leap(const RowPrior& prior, Host& host);

  // The log density of the response, f and gamma, less constants; after an update with this prior.
  double objective() const { return objective(now_); }
  // By how much it may at most be raised at this gamma, and prior: the gap to the dual at the
  // multipliers there are, moved into their box.
  double gap(const RowPrior& prior) const;

  // At the present lambda, of at least `least`: y (1 + lambda) less the offset, and lambda / gamma.
  Vec target(double least) const;
  Vec noise(double least) const;

 private:
  Arr scales(double least) const;
  Arr margins(const Vec& f) const;
  double loss(const Vec& f, double gamma) const;
  double objective(const Point& at) const;
  double best_gamma() const;
  double c(double gamma) const;

  Arr y_, weight_, offset_;
  SkewedLoss loss_;
  Point now_;
  Vec coefficients_;
  bool knows_alpha_ = true;  // of f = 0
};

}  // namespace bsvm
