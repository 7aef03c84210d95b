#include "effect_integral.hpp"

#include "../error.hpp"

namespace bsvm {

double EffectIntegral::draw(const EffectRows&, double, Draws&, double&) {
  throw InvalidInput("likelihood", "This likelihood has no closed form to draw an effect from.");
}

}  // namespace bsvm
