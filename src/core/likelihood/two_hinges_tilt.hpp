#pragma once
#include "likelihood.hpp"

namespace bsvm {

// log E exp{log_c - a (r - e1)_+ - b (-r - e2)_+} under r = y - f ~ N(off, v) as a function of f's
// mean, as Likelihood::averaged() has it; a, b >= 0. And a draw of r under that density times
// N(off, v).
Tilted two_hinges_tilt(const HingePair& of, double off, double v);
double draw_two_hinges(const HingePair& of, double off, double v, Draws& random);

}  // namespace bsvm
