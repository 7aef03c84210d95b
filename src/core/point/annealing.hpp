#pragma once
#include <cstdint>

#include "normal_equations.hpp"
#include "point_model.hpp"
#include "random/draws.hpp"

namespace bsvm {

// Gibbs sampling of exp(-P(b) / t) at a temperature t > 0 (002, Section 4.1), by the latent scales
// of rows and coefficients. In units of t a sweep is an M-step of EM with noise: with
//
//   W_i = t gamma_i^2 IG(mean 1/(gamma_i |u_i|), shape 1),  gamma_i = cost_i / (2 t),
//   D_j = t tau_j / scale'_j^2,  scale'_j = scale_j t^(1/alpha),  tau_j given |b_j| / scale'_j
//
// and A of the rows, b is drawn from N(M^{-1} {A'(cost/2 + W kink)}, t M^{-1}), M = A'WA + diag(D).
// As t falls W and D tend to EM's own weights.
class HeatedChain {
 public:
  HeatedChain(const Design& design, ConstVecRef start, std::uint64_t seed, int chain);

  // False where the system can't be solved. Throws Interrupted.
  bool sweep(const Penalties& penalties, double temperature, Host& host);
  const Vec& b() const { return b_; }

 private:
  Vec row_weights(double temperature, Draws& random) const;
  Vec precisions(const Penalties& penalties, double temperature, Draws& random) const;

  const Design& design_;
  NormalEquations equations_;
  DrawKey key_;
  Vec b_, image_;  // A b
};

// Simulated annealing: that many sweeps while the temperature falls from one, by equal factors;
// after each the hyper-parameters that are not given go to their mode. Returns the lowest b that
// was seen; `hyper` becomes its own.
Vec anneal(const PointModel& model, HeatedChain chain, int sweeps, PointModel::Hyper& hyper,
           Host& host);

}  // namespace bsvm
