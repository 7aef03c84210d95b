#include "effect_integral.hpp"

#include "base/error.hpp"

namespace bsvm {

void beyond_numbers() {
  throw NumericalFailure("A linear predictor or a standard deviation of group effects is too large "
                         "for its likelihood to be integrated.");
}

double EffectIntegral::draw(const EffectRows&, double, Draws&, double&) {
  throw InvalidInput("likelihood", "This likelihood has no closed form to draw an effect from.");
}

}  // namespace bsvm
