#include "prior.hpp"

#include <algorithm>

namespace bsvm {

double draw_variance(double shape, double scale, Draws& random) {
  double x = 0;
  for (int k = 0; k < 1000 && !possible_variance(x); ++k) x = random.inverse_gamma(shape, scale);
  return std::min(std::max(x, kLeastVariance), kMostVariance);  // all mass beyond: its edge
}

}  // namespace bsvm
