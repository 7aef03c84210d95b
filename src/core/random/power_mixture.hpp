#pragma once
#include <cmath>

#include "draws.hpp"
#include "inverse_gaussian.hpp"
#include "tilted_stable.hpp"

namespace bsvm {

// The law of density proportional to exp(-|z|^alpha), 0 < alpha <= 2, as a mixture of N(0, 1/tau):
// a draw of log tau given log |z|. tau = 2 T, T positive stable of index alpha/2 and tilted by z^2:
// for alpha = 1 that is inverse Gaussian with mean 1/|z|, for alpha = 2 it is 2.
inline double draw_log_mixing(double alpha, double log_z, Draws& random) {
  if (alpha == 2) return std::log(2.0);
  if (alpha != 1) return std::log(2.0) + TiltedStable(alpha / 2, 2 * log_z).draw(random);
  const double normal = random.normal();
  return std::log(inverse_gaussian(std::exp(log_z), normal, random.uniform()));
}

}  // namespace bsvm
