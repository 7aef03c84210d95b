#pragma once
#include <memory>
#include <vector>

#include "base/types.hpp"
#include "prior/prior.hpp"
#include "random/draws.hpp"

namespace bsvm {

// A second layer of residuals: y_ij = z_ij + e_ij, z_i with the residual covariance Sigma (004,
// sections 3 and 4). e_ij is normal with variance v_j, or has the epsilon-insensitive density
//
//   p(e) = nu/(2 s) exp(-max(|e| - epsilon, 0)/s),   epsilon = kappa s,   kappa = (1 - nu)/nu.
//
// Where its scale s is inferred, the share w of the loss in the variance of the sum, V(s,
// nu)/(V(s, nu) + Sigma_jj), is uniform on (0, 1): under a prior of s itself the normal layer
// takes it all.
class Loss {
 public:
  virtual ~Loss() = default;

  // z ~ N(mean, variance) given y = z + e.
  virtual double draw_latent(double y, double mean, double variance, Draws& random) const = 0;
  // Its own numbers, given residuals e and the variance of z's.
  virtual void draw_numbers(const std::vector<double>& e, double variance, Draws& random) = 0;
  virtual double log_density(const std::vector<double>& e) const = 0;  // up to a constant

  // Is its scale drawn under a prior of its share of the variance? Then it can be stretched, and
  // its prior, in log s, at t times the scale depends on the variance of z's residual.
  virtual bool has_share() const { return false; }
  virtual double log_prior(double /*variance*/, double /*t*/) const { return 0; }
  virtual void stretch(double /*t*/) {}
  virtual Vec numbers() const = 0;  // what is kept of a draw
  virtual Vec state() const { return numbers(); }  // what the next one needs
  virtual void restore(ConstVecRef state) = 0;
};

std::unique_ptr<Loss> make_normal_loss(const Prior& variance);

// Numbers that are given are not drawn: scale <= 0 and nu <= 0 stand for inferred ones. `a` and
// `b`: nu ~ Beta(a, b).
std::unique_ptr<Loss> make_tube_loss(double scale, double nu, double a, double b);

// log of the normal probabilities below a, and between a and b > a.
double log_below(double a);
double log_between(double a, double b);

}  // namespace bsvm
