#pragma once
#include <cmath>

#include "draws.hpp"

namespace bsvm {

// A point cos(t), sin(t) of an ellipse, drawn so that z cos(t) + nu sin(t) leaves a density that is
// exp(log_density) with respect to N(0, I) invariant, if z is a draw from it and nu from N(0, I)
// (Murray, Adams & MacKay 2010). `here` is log_density(1, 0).
template <class LogDensity>
void ellipse(const LogDensity& log_density, double here, Draws& random, double& c, double& s) {
  constexpr double turn = 6.283185307179586;
  const double level = here + std::log(random.uniform());
  double t = turn * random.uniform(), low = t - turn, high = t;
  for (int k = 0; k < 200; ++k) {
    c = std::cos(t);
    s = std::sin(t);
    if (log_density(c, s) > level) return;
    (t < 0 ? low : high) = t;
    t = low + (high - low) * random.uniform();
  }
  c = 1;  // where rounding leaves nothing, stay
  s = 0;
}

}  // namespace bsvm
