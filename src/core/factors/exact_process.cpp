#include "exact_process.hpp"

#include <cmath>

#include "base/error.hpp"
#include "linalg/cholesky.hpp"
#include "scores.hpp"

namespace bsvm {

namespace {

// c + diag(noise) becomes its root; false if rounding or overflow spoil it, for both are positive.
bool take_root(Mat& c, const Vec& noise, Host& host) {
  c.diagonal() += noise;
  return c.diagonal().allFinite() && cholesky(c, host);
}

double half_logdet(const Mat& root) { return root.diagonal().array().log().sum(); }

}  // namespace

Mat process_covariance(const Kernel& kernel, const Mat& w, ConstVecRef theta, double sd) {
  Mat out;
  kernel.values(w, w, theta, out);
  if (out.size() > 0) out.diagonal().array() += kProcessNugget * out.diagonal().mean();
  return sd * sd * out;
}

// With C = L L', the density of z is N(z; T alpha, C), which is integrated over alpha.
IntegratedRows::IntegratedRows(const PseudoRows& rows, Mat covariance, const Vec& prior,
                               Host& host) {
  if (!take_root(covariance, rows.noise, host)) return;
  const Mat& root = covariance;
  const Vec z = solved_lower(root, rows.z);
  const Mat t = solved_lower(root, rows.covariates);
  precision_ = t.transpose() * t;
  precision_ += prior.asDiagonal();
  linear_ = t.transpose() * z;
  log_density_ = -half_logdet(root) - 0.5 * z.squaredNorm();
  if (linear_.size() == 0) return;
  const Factor factor(precision_);
  if (!factor.positive()) log_density_ = kNothing;
  else log_density_ += 0.5 * (linear_.dot(factor.solve(linear_)) - factor.logdet());
}

Vec IntegratedRows::draw_alpha(Draws& random) const {
  return linear_.size() > 0 ? draw_normal(precision_, linear_, random) : linear_;
}

double log_normal(Mat covariance, const Vec& noise, const Vec& r, Host& host) {
  if (!take_root(covariance, noise, host)) return kNothing;
  return -half_logdet(covariance) - 0.5 * solved_lower(covariance, r).squaredNorm();
}

// By Matheron's rule: a draw from the prior, and what r is off it.
Vec draw_whitened(const Mat& root, double sd, const Vec& noise, const Vec& r, Draws& random,
                  Host& host) {
  Vec x(r.size()), off = r;
  for (Index i = 0; i < x.size(); ++i) x[i] = random.normal();
  for (Index i = 0; i < x.size(); ++i) off[i] -= std::sqrt(noise[i]) * random.normal();
  off -= sd * lower_product(root, x);
  Mat whole = sd * sd * symmetric(lower_gram(root.transpose(), host));
  if (!take_root(whole, noise, host)) refuse_numbers();
  solve_lower(whole, off);
  solve_transposed(whole, off);
  return x + sd * transposed_product(root, off);
}

}  // namespace bsvm
