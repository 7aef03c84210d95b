#pragma once
#include "base/host.hpp"
#include "kernel/kernel.hpp"
#include "linalg/dense.hpp"
#include "random/draws.hpp"
#include "special/functions.hpp"

namespace bsvm {

// Rows z_n = t_n'alpha + g(w_n) + e_n, e_n ~ N(0, noise_n), whose function g is a Gaussian process
// with this standard deviation.
struct PseudoRows {
  Mat covariates;  // (rows, d)
  Vec z, noise;    // (rows)
};

constexpr double kProcessNugget = 1e-8;  // of the mean variance

// Of the process at its inputs w (K, rows): the kernel's values times the variance, their diagonal
// raised as that of inducing points is.
Mat process_covariance(const Kernel& kernel, const Mat& w, ConstVecRef theta, double sd);

// z given the inputs, g integrated out, and alpha ~ N(0, diag(1/prior)), too.
class IntegratedRows {
 public:
  IntegratedRows() = default;
  // `covariance` of g, of which the lower triangle counts.
  IntegratedRows(const PseudoRows& rows, Mat covariance, const Vec& prior, Host& host);

  // Of z, without terms of the prior alone; kNothing if rounding leaves no density.
  double log_density() const { return log_density_; }
  Vec draw_alpha(Draws& random) const;

 private:
  Mat precision_;  // (d, d) of alpha
  Vec linear_;     // precision times mean
  double log_density_ = kNothing;
};

// log N(r; 0, covariance + diag(noise)), without the constant; or kNothing.
double log_normal(Mat covariance, const Vec& noise, const Vec& r, Host& host);

// x of g = sd L x, x ~ N(0, I), given r = g + e; L L' has a variance of one.
Vec draw_whitened(const Mat& root, double sd, const Vec& noise, const Vec& r, Draws& random,
                  Host& host);

}  // namespace bsvm
